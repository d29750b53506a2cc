"""Tasks along a chain of executors, with a status file each: run it twice, and the second time asks for nothing.

python flow.py
gossamer flow status quotes_flow
"""

from pathlib import Path

from gossamer import Page
from gossamer.flow import execute, scrape, taskify

TASKS = {f"page-{n}": {"url": f"https://quotes.toscrape.com/page/{n}/"} for n in (1, 2, 3)}


@taskify
async def parse(context, key, status):
    page = Page.of((context.dir / f"{key}.scrape").read_text(), url=status["params"]["url"])
    return {"quotes": page.css(".quote .text").texts(), "authors": page.css(".quote .author").texts()}


def main():
    done = execute([scrape, parse], Path("quotes_flow"), TASKS, timeout=20, rate="5/s")
    print(f"{len(done)} of {len(TASKS)} pages")


if __name__ == "__main__":
    main()
