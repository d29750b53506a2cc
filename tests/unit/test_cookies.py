"""Which cookies are kept, and where they go."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import clock, urls
from gossamer.fetch import cookies
from gossamer.fetch.cookies import MOST_AT_ONCE, Jar, read_date

HOME = "https://www.shop.org/a/page.html"


def sent(*set_cookies: str, at: str = HOME, to: str | None = None) -> str:
    """What goes out to a URL after an answer with these headers."""
    jar = Jar()
    jar.take(set_cookies, at)
    return jar.header(to or at)


# -- an empty jar ------------------------------------------------------------------------------------------------


def test_an_empty_jar_is_false_and_sends_nothing() -> None:
    jar = Jar()
    assert not jar
    assert jar.header("http://a.org/") == ""


def test_an_emptied_jar_is_false_again() -> None:
    jar = Jar()
    jar.take(["a=1"], HOME)
    assert jar
    jar.take(["a=1; Max-Age=0"], HOME)
    assert not jar
    assert jar.weight == 0


# -- reading -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "header_sent"),
    [
        ("a=1", "a=1"),
        ("  a\t=  1 2  ; HttpOnly; SameSite=Strict", "a=1 2"),
        ("a=", "a="),
        ('a="x=y"', 'a="x=y"'),
        ("a=ü", "a=ü"),
        # nothing that has no name
        ("a", ""),
        ("=1", ""),
        ("", ""),
        ("; a=1", ""),
        # it ends where a line would
        ("a=1\r\nSet-Cookie: b=2", "a=1"),
        ("a=1\x00; Secure", "a=1"),
        # control characters
        ("a=1\x01", ""),
        ("a\x7f=1", ""),
        ("a=1; Path=/\x1b", ""),
        # half a character cannot be sent
        ("a=\ud800", ""),
    ],
)
def test_a_header_is_read(header: str, header_sent: str) -> None:
    assert sent(header) == header_sent


def test_a_cookie_has_a_largest_size() -> None:
    assert sent("n=" + "x" * 4095) == "n=" + "x" * 4095
    assert sent("n=" + "x" * 4096) == ""
    assert sent("n=" + "ü" * 2048) == "", "bytes count, not characters"


def test_attributes_too_long_to_be_meant_are_as_good_as_not_written() -> None:
    assert sent("a=1; Path=/" + "x" * 2000) == "a=1"
    assert sent("a=1" + "; x=y" * 5000) == "", "and a whole header is no cookie"


# -- domains -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("domain", "to", "goes"),
    [
        ("", "https://www.shop.org/a/", True),
        ("", "https://x.www.shop.org/a/", False),
        ("; Domain=", "https://x.www.shop.org/a/", False),
        ("; Domain=www.shop.org", "https://x.www.shop.org/a/", True),
        ("; Domain=.SHOP.org", "https://shop.org/a/", True),
        ("; Domain=shop.org", "https://img.shop.org/a/", True),
        ("; Domain=shop.org", "https://myshop.org/a/", False),
        ("; Domain=shop.org", "https://shop.org.evil.org/a/", False),
        ("; Domain=other.org", "https://other.org/a/", False),
        ("; Domain=x.www.shop.org", "https://x.www.shop.org/a/", False),
        ("; Domain=other.org; Domain=shop.org", "https://shop.org/a/", True),
    ],
)
def test_a_cookie_goes_to_its_host_or_its_domain(domain: str, to: str, goes: bool) -> None:
    assert bool(sent(f"a=1{domain}", to=to)) is goes


@pytest.mark.parametrize("suffix", ["org", "co.uk", "github.io", "org."])
def test_nobody_sets_cookies_for_a_public_suffix(suffix: str) -> None:
    assert sent(f"a=1; Domain={suffix}", at=f"https://evil.{suffix}/") == ""


def test_a_public_suffix_that_is_a_host_keeps_its_cookies_to_itself() -> None:
    assert sent("a=1; Domain=github.io", at="https://github.io/", to="https://github.io/") == "a=1"
    assert sent("a=1; Domain=github.io", at="https://github.io/", to="https://you.github.io/") == ""


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_an_address_has_no_domain_above_it(host: str) -> None:
    assert sent(f"a=1; Domain={host}", at=f"http://{host}:8000/") == "a=1"
    assert sent("a=1; Domain=0.0.1", at="http://127.0.0.1/") == ""


def test_ports_share_cookies() -> None:
    assert sent("a=1", at="http://localhost:1/", to="http://localhost:2/") == "a=1"


# -- paths -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "to", "goes"),
    [
        ("", "/a/other.html", True),
        ("", "/a", True),
        ("", "/ab", False),
        ("", "/", False),
        ("; Path=/", "/", True),
        ("; Path=/b", "/b/c?d", True),
        ("; Path=/b/", "/b", False),
        ("; Path=b", "/a/", True),
        ("; Path=/b; Path=", "/a/", True),
        ("; Path=/b%6F", "/bo", True),
        ("; Path=/b%2Fc", "/b/c", False),
    ],
)
def test_a_cookie_goes_to_its_folder(path: str, to: str, goes: bool) -> None:
    assert bool(sent(f"a=1{path}", to=f"https://www.shop.org{to}")) is goes


def test_longer_paths_go_first_then_older_cookies() -> None:
    jar = Jar()
    jar.take(["late=1; Path=/", "deep=2; Path=/a", "later=3; Path=/"], HOME)
    jar.take(["late=4; Path=/"], HOME)
    assert jar.header(HOME) == "deep=2; late=4; later=3", "a new value does not make a cookie younger"


# -- secure ------------------------------------------------------------------------------------------------------


def test_secure_cookies_never_go_over_http() -> None:
    assert sent("a=1; Secure", at="https://a.org/", to="http://a.org/") == ""
    assert sent("a=1; Secure", at="https://127.0.0.1/", to="http://127.0.0.1/") == ""
    assert sent("a=1; Secure=no", at="https://a.org/", to="https://a.org/") == "a=1"


def test_http_sets_no_secure_cookie_and_hides_none() -> None:
    assert sent("a=1; Secure", at="http://a.org/", to="https://a.org/") == ""
    jar = Jar()
    jar.take(["id=good; Secure; Domain=a.org; Path=/"], "https://a.org/")
    jar.take(["id=evil; Path=/", "id=evil; Path=/x"], "http://www.a.org/")
    jar.take(["other=1; Path=/"], "http://www.a.org/")
    assert jar.header("https://www.a.org/x") == "id=good; other=1"


@pytest.mark.parametrize(
    ("header", "kept"),
    [
        ("__Secure-a=1; Secure", True),
        ("__Secure-a=1", False),
        ("__Host-a=1; Secure; Path=/", True),
        ("__host-a=1; Secure; Path=/", True),
        ("__Host-a=1; Secure; Path=/; Domain=a.org", False),
        ("__Host-a=1; Secure; Path=/x", False),
        ("__Host-a=1; Secure", False),
        ("__Host-a=1; Path=/", False),
    ],
)
def test_names_that_promise_something_are_held_to_it(header: str, kept: bool) -> None:
    assert bool(sent(header, at="https://a.org/", to="https://a.org/x")) is kept


# -- time --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("attributes", "kept"),
    [
        ("Max-Age=60", True),
        ("Max-Age=0", False),
        ("Max-Age=-1", False),
        ("Max-Age=00", False),
        ("Max-Age=1.5", True),
        ("Max-Age=", True),
        ("Max-Age=" + "9" * 1000, True),
        ("Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", True),
        ("Max-Age=0; Expires=Thu, 01 Jan 2099 00:00:00 GMT", False),
        ("Expires=Thu, 01 Jan 1970 00:00:00 GMT", False),
        ("Expires=Thu, 01 Jan 1970 00:00:00 GMT; Expires=never", False),
        ("Expires=Thu, 01 Jan 2099 00:00:00 GMT", True),
        ("Expires=soon", True),
    ],
)
def test_max_age_wins_over_expires(attributes: str, kept: bool) -> None:
    assert bool(sent(f"a=1; {attributes}")) is kept


def test_a_cookie_ends_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    jar = Jar()
    jar.take(["a=1; Max-Age=60", "b=2"], HOME)
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + 59)
    assert jar.header(HOME) == "a=1; b=2"
    monkeypatch.setattr(clock, "now", lambda: now + 61)
    assert jar.header(HOME) == "b=2"
    assert len(jar) == 1


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Sun, 06 Nov 1994 08:49:37 GMT", 784111777),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 784111777),
        ("Sun Nov  6 08:49:37 1994", 784111777),
        ("6 94 november 8:49:37", 784111777),
        ("8:49:37z 6th Nov 1994", 784111777),
        ("1 Jan 70 0:0:0", 0),
        ("1 Jan 69 0:0:0", 3124224000),
        ("1 Jan 1601 0:0:0", -11644473600),
        ("1 Jan 1600 0:0:0", None),
        ("30 Feb 2030 0:0:0", None),
        ("32 Jan 2030 0:0:0", None),
        ("1 Jan 2030 24:0:0", None),
        ("1 Jan 2030 0:60:0", None),
        ("1 Jan 2030 0:0", None),
        ("1 Jan 2030", None),
        ("1 Jan 0:0:0", None),
        ("1 2030 0:0:0", None),
        ("Jan 2030 0:0:0", None),
        ("1 Jan 20300 0:0:0", None),
        ("١ Jan 2030 0:0:0", None),
        ("", None),
    ],
)
def test_dates_are_read_in_any_style(text: str, seconds: int | None) -> None:
    assert read_date(text) == seconds


# -- bounds ------------------------------------------------------------------------------------------------------


def test_a_domain_keeps_its_newest_50() -> None:
    jar = Jar()
    jar.take((f"n{n}={n}" for n in range(50)), HOME)
    jar.take(["n0=again", "n50=50"], HOME)
    kept = jar.header(HOME)
    assert len(jar) == 50
    assert "n0=again" in kept, "set again is new again"
    assert "n1=1;" not in kept
    assert "n50=50" in kept


def test_of_a_full_domain_what_has_ended_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    jar = Jar()
    jar.take((f"n{n}={n}{'; Max-Age=1' if n == 30 else ''}" for n in range(50)), HOME)
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + 5)
    jar.take(["new=1"], HOME)
    assert "n0=0" in jar.header(HOME)


def test_a_jar_keeps_its_newest_3000() -> None:
    jar = Jar()
    for n in range(3010):
        jar.take([f"a={n}"], f"http://h{n}.test/")
    assert len(jar) == 3000
    assert jar.header("http://h9.test/") == ""
    assert jar.header("http://h10.test/") == "a=10"


def test_a_jar_has_a_largest_weight() -> None:
    jar = Jar()
    for n in range(2000):
        jar.take(["a=" + "x" * 4000], f"http://h{n}.test/")
    assert jar.weight <= cookies.HEAVIEST
    assert jar.header("http://h1999.test/")


def test_an_answer_with_endless_cookies_costs_little() -> None:
    jar = Jar()
    jar.take((f"n{n}={n}; Secure" for n in range(50)), HOME)
    flood = iter([f"n{n}=" + "; Path=/" * 1500 for n in range(100_000)])
    began = time.monotonic()
    jar.take(flood, HOME.replace("https", "http"))
    assert time.monotonic() - began < 20
    assert next(flood).startswith(f"n{MOST_AT_ONCE}=")  # the rest was never looked at
    assert len(jar) <= 100


def test_cookies_are_never_shown() -> None:
    jar = Jar()
    jar.take(["token=hush"], HOME)
    assert "hush" not in f"{jar!r} {jar} {list(jar._all.values())}"


def test_a_host_is_forgotten_and_others_are_not() -> None:
    jar = Jar()
    jar.take(["a=1; Path=/", "b=2; Domain=shop.org; Path=/"], HOME)
    jar.take(["c=3"], "https://other.org/")
    jar.take(["d=4; Path=/"], "https://img.shop.org/")
    jar.forget("www.shop.org:8443")
    assert jar.header(HOME) == ""
    assert jar.header("https://other.org/") == "c=3"
    assert jar.header("https://img.shop.org/") == "d=4"


# -- whatever comes ----------------------------------------------------------------------------------------------

_PIECES = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["a=1", "=", ";", "Domain=", "Path=", "Max-Age=", "Expires=", "Secure", "__Host-", "-9", ".org", "\0", "31 Feb"]
    ),
)


@given(st.lists(st.lists(_PIECES, max_size=12).map("".join), max_size=5), st.sampled_from(["http", "https"]))
def test_no_header_raises_and_what_is_sent_can_be(headers: list[str], scheme: str) -> None:
    jar = Jar()
    url = f"{scheme}://a.b.org/x/y?z"
    jar.take(headers, url)
    cookie = jar.header(url)
    cookie.encode()
    assert not set(cookie) & set("\r\n\0")
    assert jar.weight == sum(each.weight for each in jar._all.values())


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_url_of_ours_raises(host: str, rest: str) -> None:
    url = urls.resolve(f"http://{host}/{rest}", "http://a.org/")
    jar = Jar()
    if url is not None:
        jar.take(["a=1", f"b=2; Domain={host}; Path={rest}"], url)
        assert "a=1" in jar.header(url)
        jar.forget(urls.host(url))
        assert not jar


@given(st.text(max_size=80))
def test_no_date_raises(text: str) -> None:
    read_date(text)
