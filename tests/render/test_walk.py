"""Rendered pages in a whole run: one gate, one log, one audit."""

from __future__ import annotations

import asyncio
from typing import Any

from gossamer import Scraper, runs
from gossamer.cli_audit import of_store
from gossamer.testing import Answer, Site
from tests.walk import run, why

PAGE = """<!doctype html><title>app</title><div id=out></div>
<script src=/a.js></script><script src=/b.js></script><script src=/c.js></script><script src=/d.js></script>
<script>fetch('/private/x').catch(() => 0); fetch('/busy').catch(() => 0)</script>"""


def test_a_rendered_run_audits_clean_and_obeys_robots_txt_in_what_it_loads(site: Site) -> None:
    site.robots("User-agent: *\nDisallow: /private/")
    site.page("/", PAGE)
    site.page("/*", "document.title", headers={"Content-Type": "text/javascript"})
    site.handler("/busy", lambda hit: Answer(status=429, headers={"Retry-After": "2"}, body="busy"))

    class App(Scraper):
        start_urls = (site.url("/"),)
        render = True
        rate = "1/s"

        def parse(self, page: Any) -> Any:
            yield {"title": page.title}

    async def audited() -> Any:
        async with runs.open_store("gossamer.db") as opened:
            return await of_store(opened, None), await opened.source(site.authority)

    report = run(App, rate="1/s")
    assert report.pages == 1
    found, source = asyncio.run(audited())
    assert found.clean
    assert found.hosts[0].loaded >= 4
    assert site.paths()["/private/x"] == 0
    assert source.why.startswith("Retry-After: 2 s")
    assert "attempt" not in why(site.url("/"))
