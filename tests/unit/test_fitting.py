"""Which parsers fit a page that does not say what it is about."""

from __future__ import annotations

import tomllib

import pytest

from gossamer import Page, draft_text, drafting, plugins
from gossamer.overview import overview, suggestions

JOB = (
    "<title>Bookbinder at Harbour Press</title><main><h1>Bookbinder</h1><p>Harbour Press binds books by hand.</p>"
    "<ul><li>Location: Bristol, UK</li><li>Salary: £28,000 - £32,000 per year</li><li>Employment type: Full-time</li>"
    "</ul><p>Apply by 30 June 2026.</p><a href=/apply>Apply now</a></main>"
)
CALL = (
    "<title>Alder Residency</title><main><h1>Open call: Alder Residency 2026</h1><p>Organised by Alder Arts Trust</p>"
    "<p>Artists are invited to apply for a residency of six weeks. Applications close on 30 June 2026. There is no"
    " application fee.</p><p>Open to artists of any age living in Europe.</p><a href=/apply>Apply</a></main>"
)
EVENT = (
    "<title>Folk songs</title><main><h1>An evening of folk songs</h1><dl><dt>When</dt><dd>12 June 2026, 7:30 pm</dd>"
    "<dt>Where</dt><dd>Alder Hall, Bristol</dd><dt>Tickets</dt><dd>£8</dd></dl><p>Songs of the coast.</p></main>"
)
PRODUCT = (
    "<title>Brass lamp</title><main><h1>Brass reading lamp</h1><p class=price>£49.50</p><p>SKU: BRL-100</p>"
    "<p>In stock</p><button>Add to basket</button></main>"
)
TALK = [
    f"<p>In {1990 + n} the deadline of the council was a Friday, and {n} people who wanted to work had applied for a"
    " job by then.</p>"
    for n in range(12)
]
NEWS = f"<title>News</title><article><h1>Council looks for a clerk</h1>{''.join(TALK)}</article>"
CONTACT = (
    "<title>Contact</title><main><h1>Contact</h1><p>Location: Bristol</p><p>Phone: 0117 000</p>"
    "<p>Opening times: 9 to 5</p><a href=/jobs/>Jobs</a></main>"
)


def _page(html: str) -> Page:
    return Page.of(f"<html lang=en><body>{html}</body></html>", "https://harbour.example/page/7")


def _sketch(html: str) -> drafting.Sketch:
    return drafting.sketch(_page(html), plugins.parsers().values())


@pytest.mark.parametrize(
    ("html", "name"), [(JOB, "job"), (CALL, "opportunity"), (EVENT, "event"), (PRODUCT, "product")]
)
def test_a_page_in_plain_html_gets_the_parser_that_fits_it(html: str, name: str) -> None:
    found = overview(_page(html), plugins.parsers().values())
    assert (found.auto, found.fits[0]) == ("generic", name)
    assert suggestions(found, "page.html")[0] == f"try page.html --parser {name}"
    sketch = _sketch(html)
    assert (sketch.parser, sketch.guessed) == (name, True)
    reason = "# The page does not say what it is: this parser was chosen because"
    assert reason in draft_text.python("x", sketch)
    written = draft_text.toml("x", sketch)
    assert reason in written
    assert tomllib.loads(written)["parser"] == name


@pytest.mark.parametrize(
    ("html", "name"), [(NEWS, "article"), (CONTACT, "generic"), ("<h1>Hm</h1><p>Nothing.</p>", "generic")]
)
def test_other_pages_are_not_taken_for_jobs(html: str, name: str) -> None:
    sketch = _sketch(html)
    assert (sketch.parser, sketch.guessed) == (name, False)
    assert "#" not in draft_text.toml("x", sketch).partition("\n")[2]
    assert not {"job", "event", "opportunity", "product"} & {*overview(_page(html), plugins.parsers().values()).fits}


def test_a_job_is_not_proposed_as_a_call_too() -> None:
    calls = JOB.replace("Bookbinder</h1>", "Job: Bookbinder</h1><p>Application deadline: 30 June 2026</p>")
    found = overview(_page(calls), plugins.parsers().values())
    assert "opportunity" in found.parsers
    assert found.fits == ("job",)


def test_a_listing_is_read_entry_by_entry() -> None:
    entries = "".join(
        f"<li class=lamp><h3><a href=/l/{n}>Lamp of sort {n}</a></h3><p class=price>£{n}.50</p>"
        "<button>Add to basket</button></li>"
        for n in range(1, 9)
    )
    html = f"<title>Lamps</title><main><h1>Lamps</h1><ul>{entries}</ul></main>"
    assert overview(_page(html), plugins.parsers().values()).fits == ()
    assert _sketch(html).block is not None
