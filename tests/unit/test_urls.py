"""URLs: resolved as browsers do, compared by meaning, typed by people."""

from __future__ import annotations

from urllib.parse import unquote_to_bytes

import ada_url
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer import urls
from gossamer.errors import ConfigError

#: What references are made of, so that random ones meet the parser's corners.
PIECES = ["/", "//", "\\", "?", "#", ":", "@", ".", "..", "%", "%2e", "%2F", "&", "=", "+", ";", " ", "\t", "\n", "\r"]
PIECES += ["\0", "\x1f", "\x7f", "\xa0", "a", "b.html", "é", "日本", "http:", "HTTPS:", "https://b.org", "data:", "1"]
references = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=8).map("".join)
hosts = st.sampled_from(["a.org", "a.org:8080", "u:p@a.org", "u@a.org", "[::1]", "[::1]:81", "127.0.0.1", "xn--4ca.de"])


def _normal(text: str) -> str | None:
    try:
        form = ada_url.normalize_url(text)
    except ValueError:
        return None
    return form.partition("#")[0] if form.startswith(("http://", "https://")) else None


absolute_urls = (
    st.builds("{}://{}/{}".format, st.sampled_from(["http", "https"]), hosts, references)
    .map(_normal)
    .filter(lambda url: url is not None)
)


def _joined(base: str, href: str) -> str | None:
    """What resolve must give, without any short cut."""
    try:
        url = ada_url.join_url(base, href)
    except ValueError:
        return None
    return url.partition("#")[0] if url.startswith(("http://", "https://")) else None


@given(references | st.text(max_size=20), absolute_urls)
@example("http:", "http://a.org/x/y?q")
@example("http:?z", "http://a.org/x/y?q")
@example("https:", "http://a.org/x/y?q")
@example(" \x00?\t", "http://a.org/x/y?q")
@example("", "http://a.org/x/y?q/r")
@example("b", "http://a.org/x/y?q/r")
@example("..", "http://a.org/x/y;/z")
def test_resolving_by_folder_gives_what_resolving_by_page_gives(href: str, base: str) -> None:
    joined = _joined(base, href)
    assert urls.resolve(href, base) == (joined and urls.split_login(joined)[0])


@pytest.mark.parametrize(
    "href", ["mailto:me@a.org", "javascript:void(0)", "tel:1", "data:,x", "ftp://a.org/", "http://"]
)
def test_what_is_not_http_resolves_to_nothing(href: str) -> None:
    assert urls.resolve(href, "http://a.org/") is None


def test_a_fragment_is_not_part_of_a_url() -> None:
    assert urls.resolve("#top", "http://a.org/x?y=1") == "http://a.org/x?y=1"
    assert urls.resolve("b#top", "http://a.org/x?y=1") == "http://a.org/b"
    assert urls.absolute("http://a.org/#top") == "http://a.org/"


# --- typed by a person ---


@given(st.text(max_size=30) | references)
def test_whatever_is_typed_is_a_url_or_a_config_error(text: str) -> None:
    for read in (urls.typed, urls.absolute):
        try:
            url = read(text)
        except ConfigError:
            continue
        assert url == _normal(url)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("example.org", "https://example.org/"),
        (" example.org/docs ", "https://example.org/docs"),
        ("example.org:8080/x", "https://example.org:8080/x"),
        ("localhost:8000", "http://localhost:8000/"),
        ("localhost", "http://localhost/"),
        ("127.0.0.1:8000/x?y", "http://127.0.0.1:8000/x?y"),
        ("[::1]:8000", "http://[::1]:8000/"),
        ("HTTP://Example.ORG:80/%7ex#y", "http://example.org/%7ex"),
        ("bücher.de", "https://xn--bcher-kva.de/"),
    ],
)
def test_a_person_may_leave_the_scheme_out(text: str, url: str) -> None:
    assert urls.typed(text) == url


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "an empty URL was given: write it like https://example.org/"),
        ("   ", "an empty URL was given: write it like https://example.org/"),
        ("quotes", "'quotes' is not a URL: write it like https://example.org/path"),
        ("http://", "'http://' is not a URL: write it like https://example.org/path"),
        ("ftp://a.org/", "'ftp://a.org/' cannot be fetched: only http and https are, not 'ftp'"),
        ("mailto:me@a.org", "'***@a.org' cannot be fetched: only http and https are, not 'mailto'"),
    ],
)
def test_what_cannot_be_fetched_is_refused_with_an_example(text: str, says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        urls.typed(text)
    assert str(refused.value) == says


# --- parts ---


@given(absolute_urls)
def test_the_parts_of_a_url_are_those_a_parser_finds(url: str) -> None:
    parsed = ada_url.URL(url)
    assert urls.origin(url) == parsed.origin
    assert urls.host(url) == parsed.host
    assert urls.hostname(url) == parsed.hostname


@pytest.mark.parametrize(
    ("name", "domain"),
    [
        ("www.example.co.uk", "example.co.uk"),
        ("a.b.example.org", "example.org"),
        ("example.org", "example.org"),
        ("me.github.io", "me.github.io"),
        ("127.0.0.1", "127.0.0.1"),
        ("[::1]", "[::1]"),
        ("localhost", "localhost"),
        ("co.uk", "co.uk"),
    ],
)
def test_the_registered_domain_is_what_somebody_bought(name: str, domain: str) -> None:
    assert urls.registered_domain(name) == domain


def test_a_host_belongs_to_the_same_shard_for_ever() -> None:
    assert [urls.shard(name) for name in ("a.org", "127.0.0.1:81", "[::1]")] == [639, 670, 959]
    assert urls.shard("127.0.0.1:81") != urls.shard("127.0.0.1:82")


@pytest.mark.parametrize(
    "hosts",
    [
        ("a.org", "www.a.org", "a.org:81", "x.y.a.org:444"),
        ("www.example.co.uk", "example.co.uk", "shop.example.co.uk"),
    ],
)
def test_hosts_of_a_domain_share_a_shard_for_they_may_share_a_pace(hosts: tuple[str, ...]) -> None:
    assert len({urls.shard(host) for host in hosts}) == 1
    assert len({urls.registered_domain(urls.hostname(f"http://{host}")) for host in hosts}) == 1


@given(st.text())
def test_every_host_has_a_shard(name: str) -> None:
    assert 0 <= urls.shard(name.encode("utf-8", "replace").decode()) < urls.SHARDS


# --- comparing ---


@given(absolute_urls)
@example("http://a.org/%%34%31")
@example("http://a.org/%4%31")
@example("http://a.org/?%%34%31&+")
def test_the_comparable_form_is_its_own_comparable_form(url: str) -> None:
    once = urls.comparable(url)
    assert urls.comparable(once) == once


@given(absolute_urls)
def test_the_comparable_form_means_the_same(url: str) -> None:
    path, _, query = url.partition("?")
    same_path, _, same_query = urls.comparable(url).partition("?")
    assert unquote_to_bytes(same_path) == unquote_to_bytes(path)
    assert _arguments(same_query) == _arguments(query)


def _arguments(query: str) -> list[tuple[bytes, ...]]:
    """What a query says: `a` and `a=` the same, and an empty argument nothing."""
    pairs = (argument.replace("+", "%20").partition("=")[::2] for argument in query.split("&"))
    return sorted(tuple(map(unquote_to_bytes, pair)) for pair in pairs if any(pair))


arguments = st.lists(st.tuples(st.text("ab+%26= é", max_size=2), st.text("01&+/ ", max_size=2)), max_size=4)


def _written(args: list[tuple[str, str]]) -> str:
    def escaped(text: str) -> str:
        return "".join(f"%{byte:02X}" if chr(byte) in "&=+% /#" or byte > 127 else chr(byte) for byte in text.encode())

    return "http://a.org/?" + "&".join(f"{escaped(name)}={escaped(value)}" for name, value in args)


@given(arguments, st.randoms())
def test_the_order_of_query_arguments_does_not_matter(args: list[tuple[str, str]], random: object) -> None:
    shuffled = list(args)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert urls.comparable(_written(shuffled)) == urls.comparable(_written(args))


@given(arguments, arguments)
def test_urls_with_different_arguments_stay_different(
    ours: list[tuple[str, str]], theirs: list[tuple[str, str]]
) -> None:
    same = urls.comparable(_written(ours)) == urls.comparable(_written(theirs))
    assert same == (sorted(filter(any, ours)) == sorted(filter(any, theirs)))


def test_urls_of_a_generated_site_stay_different() -> None:
    made = [f"http://a.org/{'s' * s}/{n}.html" for s in range(3) for n in range(300)]
    made += [f"http://a.org/{path}?{q}={n}" for path in ("", "x", "x/") for q in "pq" for n in range(300)]
    made += [f"http://a.org/?{first}={n}&z={last}" for first in "ab" for n in range(30) for last in range(30)]
    assert len({urls.digest(urls.comparable(url)) for url in made}) == len(made)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.org/%7Euser", "http://a.org/~user"),
        ("http://a.org/%e9", "http://a.org/%E9"),
        ("http://a.org/?q=a+b", "http://a.org/?q=a%20b"),
        ("http://a.org/?b=2&a=1", "http://a.org/?a=1&b=2"),
        ("http://a.org/?q=%41", "http://a.org/?q=A"),
        ("http://a.org/?a=", "http://a.org/?a"),
        ("http://a.org/?a&&", "http://a.org/?a"),
        ("http://a.org/?", "http://a.org/"),
    ],
)
def test_two_spellings_of_one_url_are_equal(one: str, other: str) -> None:
    assert urls.comparable(one) == urls.comparable(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://a.org/a%2Fb", "http://a.org/a/b"),
        ("http://a.org/?a=1%26b=2", "http://a.org/?a=1&b=2"),
        ("http://a.org/?a%3D1", "http://a.org/?a=1"),
        ("http://a.org/?q=a%2Bb", "http://a.org/?q=a+b"),
        ("http://a.org/a+b", "http://a.org/a%20b"),
        ("http://a.org/%%34%31", "http://a.org/%41"),
        ("http://a.org/?a=1&a=1", "http://a.org/?a=1"),
        ("http://a.org/", "https://a.org/"),
        ("http://a.org/x", "http://a.org/x/"),
        ("http://a.org/X", "http://a.org/x"),
    ],
)
def test_what_a_site_may_tell_apart_stays_apart(one: str, other: str) -> None:
    assert urls.comparable(one) != urls.comparable(other)


def test_a_digest_is_the_same_for_ever() -> None:
    assert urls.digest("http://a.org/") == "WWjGQ8JWZ88MdjdPMD8QcQ"
    assert urls.digest("http://a.org/", "POST", "parse", b"x") == urls.digest("http://a.org/", b"POST", "parse", "x")


@given(st.lists(st.text(), unique=True, max_size=20))
def test_digests_tell_texts_apart(texts: list[str]) -> None:
    made = [urls.digest(text) for text in texts]
    assert len(set(made)) == len(texts)
    assert all(len(each) == 22 for each in made)
    assert urls.digest("a", "b") != urls.digest("ab")


@pytest.mark.parametrize(
    ("text", "url", "login"),
    [
        ("https://me:pw@a.org/x", "https://a.org/x", ("me", "pw")),
        ("https://me@a.org", "https://a.org/", ("me", "")),
        ("http://me:p%40w@127.0.0.1:80/?q=@", "http://127.0.0.1/?q=@", ("me", "p@w")),
        ("https://a.org/@me", "https://a.org/@me", None),
    ],
)
def test_a_login_is_taken_out_of_a_url(text: str, url: str, login: tuple[str, str] | None) -> None:
    assert urls.typed_with_login(text) == (url, login)
    assert urls.typed(text) == urls.absolute(text) == url


def test_a_link_with_a_login_is_followed_without_it() -> None:
    assert urls.resolve("//me:pw@a.org/x", "https://b.org/") == "https://a.org/x"


def test_a_bad_url_is_refused_without_showing_its_password() -> None:
    with pytest.raises(ConfigError) as refused:
        urls.typed("ftp://me:hunter2@a.org/")
    assert "hunter2" not in str(refused.value)
