"""The sites that README and docs speak of, played by local ones: same paths, same markup, invented content.

A reader who copies an example reaches the real practice sites; a test reaches these.
"""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from gossamer.testing import Answer, Hit, Site
from tests.docs import moved

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
            text = text.replace(f"forget {name}", f"forget {site.authority}")
        return text

    def stand_ins(self) -> dict[str, str]:
        """What the setting `stand_ins` takes, for a process that is to use the public addresses."""
        return {name: site.url("").rstrip("/") for name, site in self._sites.items()}

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
        "news.example": news,
        "shop.example": shop,
        "files.example": files,
        "busy.example": busy,
        "shut.example": shut,
        "hostile.example": hostile,
        "calls.example": moved.calls,
        "games.example": moved.games,
        "jobs.example": moved.jobs,
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
    # What a script writes into a page of its own, as on the real site.
    written = json.dumps(_quote_page(1).partition("<body>")[2]).replace("</", "<\\/")
    site.page("/js/", _html("Quotes to Scrape", f"<script>document.body.innerHTML += {written}</script>"))
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
    site.robots(f"User-agent: *\nDisallow: /private/\nSitemap: {site.url('/sitemap.xml')}\n")
    rows = "".join(f"<url><loc>/docs/{n}</loc><lastmod>2026-01-{n:02}</lastmod></url>" for n in range(1, 31))
    site.page("/sitemap.xml", f"<urlset>{rows}</urlset>", headers={"Content-Type": "application/xml"})
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


def news(site: Site) -> None:
    """A front page that is another one on each visit, and articles that stay as they are."""
    links = "".join(f'<a class="article" href="/{n}">Article {n}</a>' for n in range(1, 4))
    visits = itertools.count(1)
    site.handler("/", lambda hit: Answer(body=_html("News", f"<p>Visitor {next(visits)}</p>{links}")))
    for n in range(1, 4):
        site.versioned(f"/{n}", [_html(f"Article {n}", f"<h1>Article {n}</h1><p>It was a quiet day.</p>")])
    rows = "".join(f"<item><title>Article {n}</title><link>{site.url(f'/{n}')}</link></item>" for n in range(1, 4))
    feed = f"<rss version='2.0'><channel><title>News</title>{rows}</channel></rss>"
    site.page("/feed.xml", feed, headers={"Content-Type": "application/rss+xml"})


LAMPS = [("Brass reading lamp", "49.50"), ("Paper moon", "120.00"), ("Harbour lantern", "88.00"), ("Tin torch", "9.90")]


def shop(site: Site) -> None:
    """Lamps in a listing, and a page for each, which says for machines what it sells."""
    entries = "".join(
        f'<li class="lamp"><h3><a href="/lamps/{n}">{name}</a></h3> <span class="price">€{price}</span></li>'
        for n, (name, price) in enumerate(LAMPS, 1)
    )
    site.page("/", _html("Lamps", f"<h1>Lamps</h1><ul>{entries}</ul>"))
    for n, (name, price) in enumerate(LAMPS, 1):
        offer = {"@type": "Offer", "price": price, "priceCurrency": "EUR", "availability": "https://schema.org/InStock"}
        thing = {"@context": "https://schema.org", "@type": "Product", "name": name, "sku": f"L-{n}", "offers": offer}
        script = f'<script type="application/ld+json">{json.dumps(thing)}</script>'
        site.page(f"/lamps/{n}", _html(name, f"{script}<h1>{name}</h1><p>It gives a warm light.</p>"))


def files(site: Site) -> None:
    """Reports to download; the way to the second one breaks off, and the next try brings the rest."""
    years, halves = (2024, 2025), [150_000, sys.maxsize] * 20
    site.page("/", _html("Reports", "".join(f'<a class="pdf" href="/reports/{y}.pdf">{y}</a>' for y in years)))
    for year in years:
        report = b"%PDF-1.7\n" + f"The report of {year}.\n".encode() * 20_000
        site.download(f"/reports/{year}.pdf", report, cut=[] if year == 2024 else halves, kind="application/pdf")
    site.handler("/all.csv", lambda hit: Answer(body=b"year,place,number\n" * 600_000))
    site.json("/reports.json", [{"year": year, "url": f"/reports/{year}.pdf"} for year in years])


def busy(site: Site) -> None:
    """A site that wants its time, and for a moment cannot have visitors."""
    site.robots("User-agent: *\nCrawl-delay: 0.3\n")
    site.page("/", _html("Busy", '<a href="/a">A</a> <a href="/b">B</a>'))
    site.flaky("/a", status=429, retry_after="1", then=_html("A", "<h1>A</h1>"))
    site.page("/b", _html("B", "<h1>B</h1>"))


def shut(site: Site) -> None:
    """A site that asks to come again in two hours."""
    site.page("/", _html("Shut", '<a href="/inside">Inside</a>'))
    site.flaky("/inside", times=math.inf, status=503, retry_after="7200")


def hostile(site: Site) -> None:
    """A site that means no good."""
    bad = ("/onward", "/bomb", "/headers", "/round", "/endless", "/shop/list/shop/list/shop/list/")
    links = "".join(f'<a href="{path}">x</a>' for path in ("http://169.254.169.254/latest/meta-data/", *bad))
    site.page("/", _html("Welcome", f"<h1>Welcome</h1>{links}"))
    site.redirect("/onward", "http://10.0.0.1/admin")
    site.bomb("/bomb")
    site.huge_headers("/headers")
    site.redirect_loop("/round")
    site.huge("/endless")


def examples() -> list[Path]:
    """The scrapers of `examples/`: files of code and files of rules."""
    folder = Path(__file__).parents[2] / "examples"
    return [
        path for path in sorted(folder.iterdir()) if path.suffix in (".py", ".toml", ".yaml") and path.stem != "ruff"
    ]


def write_examples(folder: Path) -> None:
    """The files of `examples/`, where commands in the docs look for them."""
    for path in examples():
        (folder / path.name).write_text(path.read_text("utf-8"), "utf-8")
