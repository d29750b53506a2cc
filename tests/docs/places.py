"""The sites that README and docs speak of, played by local ones: same paths, same markup, invented content.

A reader who copies an example reaches the real practice sites; a test reaches these.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from gossamer.testing import Answer, Hit, Site

QUOTES = [
    ("The thread that is pulled slowly does not break.", "Ada Weaver", ["thread", "patience"]),
    ("Nobody counts the knots until one comes loose.", "Bo Spindle", ["knots"]),
    ("A map is a promise that somebody walked there.", "Ada Weaver", ["maps", "walking"]),
    ("Write it down, then you may sleep.", "Cleo Inkwell", ["memory"]),
    ("He who asks twice politely is asked in.", "Bo Spindle", ["politeness"]),
    ("The second copy is the one that gets read.", "Cleo Inkwell", ["memory", "copies"]),
]
PER_PAGE = 2
LAST = len(QUOTES) // PER_PAGE
BOOKS = [("A Light in the Loft", "a897fe39b1053632", "£51.77"), ("Tipping the Scales", "90fa61229261140a", "£53.74")]


class Places:
    """Public addresses and the local sites behind them."""

    def __init__(self, sites: dict[str, Site]) -> None:
        self._sites = sites

    def local(self, text: str) -> str:
        """A text with every public address replaced by its local one."""
        for name, site in self._sites.items():
            text = text.replace(f"https://{name}", site.url("").rstrip("/"))
        return text

    def public(self, text: str) -> str:
        """A text with every local address replaced by the public one."""
        for name, site in self._sites.items():
            text = text.replace(f"http://{site.authority}", f"https://{name}").replace(site.authority, name)
        return text


@contextmanager
def places() -> Iterator[Places]:
    """All sites of the documentation, served on loopback."""
    makers = {
        "quotes.toscrape.com": quotes,
        "books.toscrape.com": books,
        "api.example": api,
        "example.org": example,
    }
    with ExitStack() as stack:
        sites = {}
        for name, make in makers.items():
            sites[name] = stack.enter_context(Site())
            make(sites[name])
        yield Places(sites)


def _html(title: str, body: str) -> str:
    return f'<!doctype html>\n<html lang="en"><head><title>{title}</title></head><body>{body}</body></html>'


def _slug(name: str) -> str:
    return name.replace(" ", "-")


def quotes(site: Site) -> None:
    """Quotes in pages, a page for each author, and the same as a JSON API."""
    for number in range(1, LAST + 1):
        page = _quote_page(number)
        site.page(f"/page/{number}/", page)
        if number == 1:
            site.page("/", page)
    for name in {author for _, author, _ in QUOTES}:
        site.page(
            f"/author/{_slug(name)}",
            _html(
                name,
                f'<h3 class="author-title">{name}</h3>'
                '<span class="author-born-date">March 14, 1879</span> '
                '<span class="author-born-location">in a small town</span>',
            ),
        )
    site.page("/tag/*", _html("Quotes to Scrape", "<h3>Viewing tag</h3>"))
    for number in range(1, LAST + 1):
        site.json(f"/api/quotes?page={number}", _quote_answer(number))


def _some(number: int) -> list[tuple[str, str, list[str]]]:
    return QUOTES[(number - 1) * PER_PAGE : number * PER_PAGE]


def _quote_page(number: int) -> str:
    shown = "".join(
        f'<div class="quote"><span class="text">“{text}”</span>'
        f'<span>by <small class="author">{author}</small> <a href="/author/{_slug(author)}">(about)</a></span>'
        f'<div class="tags">Tags: {"".join(f"<a class=tag href=/tag/{tag}/>{tag}</a>" for tag in tags)}</div></div>'
        for text, author, tags in _some(number)
    )
    after = f'<li class="next"><a href="/page/{number + 1}/">Next</a></li>' if number < LAST else ""
    return _html("Quotes to Scrape", f'<h1>Quotes to Scrape</h1>{shown}<ul class="pager">{after}</ul>')


def _quote_answer(number: int) -> dict[str, object]:
    return {
        "page": number,
        "has_next": number < LAST,
        "quotes": [
            {"text": text, "author": {"name": author, "slug": _slug(author)}, "tags": tags}
            for text, author, tags in _some(number)
        ],
    }


def books(site: Site) -> None:
    """A listing with detail pages, in two pages of one book each."""
    for number, (title, upc, price) in enumerate(BOOKS, 1):
        path = f"/catalogue/{_slug(title.lower())}_{number}/index.html"
        after = '<li class="next"><a href="page-2.html">next</a></li>' if number == 1 else ""
        listing = f'<article class="product_pod"><h3><a href="{path}">{title}</a></h3></article>{after}'
        site.page(f"/catalogue/page-{number}.html", _html("All products", listing))
        site.page(
            path,
            _html(
                title,
                f'<div class="product_main"><h1>{title}</h1><p class="price_color">{price}</p>'
                f'<p class="instock availability">\n  In stock ({number} available)\n</p></div>'
                f"<table><tr><th>UPC</th><td>{upc}</td></tr></table>",
            ),
        )


def api(site: Site) -> None:
    """A search that is asked by POST, and a feed that is asked again."""

    def search(hit: Hit) -> Answer:
        asked = json.loads(hit.body or b"{}")
        found = [{"id": n, "text": text} for n, (text, _, _) in enumerate(QUOTES) if asked.get("q", "") in text]
        return Answer(body=json.dumps({"results": found}), headers={"Content-Type": "application/json"})

    site.handler("/search", search)


def example(site: Site) -> None:
    """A small site with every kind of ending: read, forbidden, gone, elsewhere."""
    site.robots("User-agent: *\nDisallow: /private/\n")
    site.page(
        "/",
        _html(
            "Example",
            '<h1>Welcome</h1><a href="/docs/">Docs</a> <a href="/private/">Staff</a> <a href="/gone">Old</a>'
            '<a href="https://elsewhere.example/">Friends</a>',
        ),
    )
    chapters = "".join(f'<a href="/docs/{n}">Chapter {n}</a>' for n in range(1, 31))
    site.page("/docs/", _html("Docs", f"<h1>Docs</h1>{chapters}"))
    for n in range(1, 31):
        site.page(f"/docs/{n}", _html(f"Chapter {n}", f"<h1>Chapter {n}</h1><p>About as long as it must be.</p>"))


def write_examples(folder: Path) -> None:
    """The files of `examples/`, where commands in the docs look for them."""
    for path in (Path(__file__).parents[2] / "examples").glob("*.py"):
        (folder / path.name).write_text(path.read_text("utf-8"), "utf-8")
