"""Unusual content: whatever text and bytes a site or an author comes up with comes back as it went in."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from gossamer.storage.store import Draft, SourceNote
from gossamer.values import Ending, Fetch, Item, Outcome, Request, RunState
from tests.contract.conftest import Opener
from tests.contract.steps import HOST, A, begin, done, items_of, played, ready, settle

TEXTS = {
    "empty": "",
    "unicode": "Ærøskøbing, Zürich, 北京, القاهرة, ελληνικά",
    "emoji": "🕸️👩‍👩‍👧‍👦🇩🇰",
    "combining": "e\u0301 is not \u00e9",
    "quotes": """it's "quoted" \\ and `ticked`; drop table request; --""",
    "control": "tab\tline\nreturn\r bell\x07 escape\x1b delete\x7f",
    "nul": "before\x00after",
    "only nul": "\x00",
    "noncharacters": "\ufeff\ufffe\uffff\u2028\u2029",
    "json": '{"a": [1, null, "x"]}',
    "json number": "1e400",
    "json null": "null",
    "number": "007",
    "placeholder": ":run ?1 $x @y %s {}",
    "megabyte": "ÿ🕸 " * 180_000,
}


@pytest.fixture(params=TEXTS.values(), ids=TEXTS.keys())
def text(request: Any) -> str:
    return request.param


#: Letters of a name or a reason that every store keeps.
WORD = 300


def kept(text: str) -> str:
    """A text as a column keeps it."""
    return text.replace("\0", "\ufffd")


@played
async def test_any_text_in_an_item(store: Opener, text: str) -> None:
    async with store() as s:
        lease = await begin(s, A)
        record = {"text": text, text: [text]}
        item = Item(kind=f"k{text}", key=text, data=msgspec.json.encode(record).decode())
        await settle(s, lease, done((await ready(s, lease))[0], items=(item, item)))
        (row,) = await items_of(s)
        assert (row["kind"], row["key"], row["data"]) == (f"k{kept(text)}", kept(text), record)
        assert (await s.why(A))[0].items == [(f"k{kept(text)}", kept(text))]


@played
async def test_any_text_in_an_outcome(store: Opener, text: str) -> None:
    async with store() as s:
        lease = await begin(s, A)
        request = (await ready(s, lease))[0]
        attempt = Fetch(A, HOST, 1.0, 0.1, 0, 0, text, request.id, text)
        await settle(s, lease, Outcome(request, Ending.FAILED, text, text), fetches=[attempt])
        (story,) = await s.why(A)
        back = kept(text)
        assert (story.detail, story.fetches) == (back, [(1.0, 0.1, 0, back, back)])
        (page,) = [page async for page in s.pages(lease.run, None)]
        assert page["detail"] == back
        run = await s.run(lease.run)
        assert run is not None
        (counted,) = run.by_reason
        # A reason is a word, by which is looked up and counted: of a huge one its beginning is kept.
        assert {word[:WORD] for word in (story.reason or "", page["reason"], counted)} == {back[:WORD]}
        assert run.by_reason == {counted: 1}


@played
async def test_any_text_in_a_run(store: Opener, text: str) -> None:
    async with store() as s:
        name = text[:WORD]  # by which it is looked up
        made = await s.new_run(Draft(name, text, name, {text: text}, {"x": [text]}))
        assert (kept(made.scraper), kept(made.ref), kept(made.signature)) == (kept(name), kept(text), kept(name))
        assert (made.params, made.options) == ({text: text}, {"x": [text]})
        lease = await s.acquire(made.id, f"owner {name}", 60.0)
        assert kept((await s.end_run(lease, RunState.FAILED, text)).reason) == kept(text)
        assert await s.unfinished(name) is not None


REQUESTS = {
    "get": lambda text: Request(A, headers={"x": text}, carry={"text": text}),
    "json": lambda text: Request(A, json={text: [text, None, 1.5, True]}),
    "form": lambda text: Request(A, data={"a": text, "b": [text, "x"]}),
    "text": lambda text: Request(A, data=text),
    "bytes": lambda text: Request(A, data=text.encode()),
    "revisit": lambda text: Request(A, revisit=True, carry={text: 1}, method="PATCH", priority=-7),
}


@pytest.mark.parametrize("made", REQUESTS.values(), ids=REQUESTS.keys())
@played
async def test_any_request_comes_back_as_it_went_in(store: Opener, text: str, made: Any) -> None:
    async with store() as s:
        sent = made(text).evolve(depth=3, hops=2)
        lease = await begin(s, sent)
        (back,) = await ready(s, lease)
        assert back == sent.evolve(id=back.id)
        assert back.body == sent.body
        assert await s.add(lease, [] if sent.revisit else [sent]) == {}


BODIES = {
    "every byte": {"data": bytes(range(256))},
    "no byte": {"data": b""},
    "looks like base64": {"data": b"data64"},
    "megabyte": {"data": b"\x00\xff" * 500_000},
    "no text": {"data": ""},
    "empty form": {"data": {}},
    "form of numbers": {"data": {"n": 1, "many": [1, 2]}},
    "json zero": {"json": 0},
    "json false": {"json": False},
    "json empty": {"json": {}},
    "json list": {"json": [1, [2, {"three": None}]]},
    "json text": {"json": "text"},
    "json big number": {"json": 2**63 - 1},
    "json float": {"json": 0.1},
    "json key data64": {"json": {"data64": "x"}, "carry": {"data64": "y"}},
    "head": {"method": "HEAD"},
    "odd method": {"method": "pRoPFiND"},
    "redirected": {"via": (f"{A}one", f"{A}two"), "hops": 2},
    "empty carry": {"carry": {}, "headers": {}},
    "session": {"session": "login 🕸", "country": "dk"},
    "rendered": {"render": True, "wait_for": "main > .item:not([hidden])"},
    "not rendered": {"render": False, "wait_for": ""},
    "saved": {"save": "reports/2026/ü.pdf", "session": ""},
}


@pytest.mark.parametrize("fields", BODIES.values(), ids=BODIES.keys())
@played
async def test_any_body_comes_back_as_it_went_in(store: Opener, fields: dict[str, Any]) -> None:
    async with store() as s:
        lease = await begin(s, Request(A, **fields))
        (back,) = await ready(s, lease)
        assert back == Request(A, id=back.id, **fields)
        assert (back.verb, back.body) == (Request(A, **fields).verb, Request(A, **fields).body)


URLS = [
    f"{A}%00",
    f"{A}%F0%9F%95%B8?q=%E2%98%83&q=%27%22",
    f'{A}it\'s-"quoted"',
    f"{A}[1,2]",
    f"{A}?{{}}",
    f"{A}" + "x" * 100_000,
    "https://user:pass@a.example/",
    "https://[::1]:8080/",
    "https://xn--fiqs8s.example/",
]


@pytest.mark.parametrize("url", URLS, ids=lambda url: url[:40])
@played
async def test_any_url_is_kept_as_it_is(store: Opener, url: str) -> None:
    async with store() as s:
        lease = await begin(s, url)
        (host,) = await s.hosts(lease.run)
        (request,) = await ready(s, lease, host)
        assert request.url == url
        await settle(s, lease, done(request), sources=[SourceNote(host, 1.0, 2.0)])
        assert [story.url for story in await s.why(url)] == [url]
        assert await s.roots(lease.run, by_host=True) == [url]
        assert await s.source(host) == SourceNote(host, 1.0, 2.0)


@played
async def test_keys_that_differ_after_a_nul_are_two_items(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, A)
        both = tuple(Item("item", f"a\0{end}", '{"a":"\\u0000"}') for end in "bc")
        assert (await settle(s, lease, done((await ready(s, lease))[0], items=both))).items == 2
        assert [row["data"] for row in await items_of(s)] == [{"a": "\0"}] * 2


@played
async def test_half_a_character_fails_nothing(store: Opener) -> None:
    """Lone surrogates are in no encoding; an error message or what a handler carries may hold them all the same."""
    async with store() as s:
        lease = await begin(s, A, f"{A}2")
        first, second = await ready(s, lease)
        link = Request(f"{A}3", carry={"half \ud83d": ["\udd78"]}, headers={"x": "\ud83d"})
        await settle(
            s, lease, Outcome(first, Ending.FAILED, "read", "half of \ud83d, a spider \U0001f577"), done(second, link)
        )
        assert (await s.why(A))[0].detail == "half of \ufffd, a spider \U0001f577"
        (back,) = await ready(s, lease)
        assert (back.carry, back.headers) == ({"half \ufffd": ["\ufffd"]}, {"x": "\ufffd"})


@played
async def test_numbers_come_back(store: Opener) -> None:
    """Counts exactly, times to a ten-thousandth of a second."""
    async with store() as s:
        lease = await begin(s, Request(A, priority=-(2**31), depth=2**31 - 1))
        (request,) = await ready(s, lease)
        assert (request.priority, request.depth) == (-(2**31), 2**31 - 1)
        stamp = 1790000000.1234567
        await settle(s, lease, done(request, size=2**40, started=stamp, elapsed=1e-9))
        (story,) = await s.why(A)
        assert (story.size, story.elapsed) == (2**40, 1e-9)
        assert story.started == pytest.approx(stamp, abs=1e-4, rel=0)
        run = await s.run(lease.run)
        assert run is not None
        assert run.size == 2**40
