"""Proxies: how they are written, where they come from, which one is next, and that no password is ever shown."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.pretty import pretty_repr

from gossamer.errors import ConfigError, ProxyFailed
from gossamer.fetch import proxies, proxy_services
from gossamer.fetch.proxies import (
    Proxy,
    ProxyProvider,
    ProxyProviderFromDict,
    ProxyProviderFromFile,
    ProxyProviderFromList,
    provider_of,
)
from gossamer.fetch.proxy import SCHEMES
from gossamer.fetch.proxy_scores import FAILURES, FIRST_REST, LONGEST_REST, TRIAL
from gossamer.fetch.proxy_services import (
    ProxyProviderFromIPRoyal,
    ProxyProviderFromProxyscrape,
    ProxyProviderFromWebshare,
)

SECRET = "hunter2-s3cret"
TEN = [f"10.0.0.{n}:8080" for n in range(10)]


class Clock:
    """A time that passes when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def listed(*urls: str, clock: Clock | None = None) -> ProxyProviderFromList:
    return ProxyProviderFromList(urls or TEN, seed=1, clock=clock or Clock())


def picked(provider: ProxyProvider, **how: Any) -> Proxy:
    proxy = provider.pick(**how)
    assert proxy is not None
    return proxy


def fail(provider: ProxyProvider, proxy: Proxy, times: int = FAILURES, host: str = "a.org", why: str = "proxy") -> None:
    for _ in range(times):
        provider.report(proxy, host, ok=False, seconds=1.0, why=why)


# -- one proxy


@pytest.mark.parametrize(
    ("text", "url", "login"),
    [
        ("1.2.3.4:8080", "http://1.2.3.4:8080", None),
        ("  proxy.Example.com:3128\r\n", "http://proxy.example.com:3128", None),
        ("http://proxy.example", "http://proxy.example:80", None),
        ("HTTPS://proxy.example/", "https://proxy.example:443", None),
        ("socks5://proxy.example", "socks5://proxy.example:1080", None),
        ("socks5h://ann:pw@[::1]:1080", "socks5h://ann:pw@[::1]:1080", ("ann", "pw")),
        ("http://ann:pw@1.2.3.4:8080", "http://ann:pw@1.2.3.4:8080", ("ann", "pw")),
        ("ann:pw@1.2.3.4:8080", "http://ann:pw@1.2.3.4:8080", ("ann", "pw")),
        ("ann@1.2.3.4:8080", "http://ann:@1.2.3.4:8080", ("ann", "")),
        ("1.2.3.4:8080:ann:pw", "http://ann:pw@1.2.3.4:8080", ("ann", "pw")),
        ("socks5://1.2.3.4:8080:ann:p:w@/x", "socks5://ann:p%3Aw%40%2Fx@1.2.3.4:8080", ("ann", "p:w@/x")),
        ("[2001:db8::1]:80:ann:pw", "http://ann:pw@[2001:db8::1]:80", ("ann", "pw")),
        ("http://a%40b:p%25w%20%C3%A9@h.example:1", "http://a%40b:p%25w%20%C3%A9@h.example:1", ("a@b", "p%w é")),
        ("http://ann:p@ss#?@h.example:1", "http://ann:p%40ss%23%3F@h.example:1", ("ann", "p@ss#?")),
        # The address that will really be connected to, however it is disguised.
        ("0x7f.1:8080", "http://127.0.0.1:8080", None),
        ("ann:12345@h.example:80", "http://ann:12345@h.example:80", ("ann", "12345")),
    ],
)
def test_a_proxy_is_read_in_all_the_ways_people_write_one(text: str, url: str, login: tuple[str, str] | None) -> None:
    proxy = Proxy.of(text)
    assert proxy.url == url
    assert proxy.login == login
    assert proxy.label == f"{proxy.scheme}://{proxy.host}:{proxy.port}"
    assert Proxy(text) == proxy == Proxy.of(proxy) == Proxy(proxy.url)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "hunter2-s3cret",
        "ann:hunter2-s3cret",
        "ann:hunter2-s3cret@",
        "http://ann:hunter2-s3cret@",
        "http://ann:hunter2-s3cret@host:port",
        "http://ann:hunter2-s3cret@host:70000",
        "http://ann:hunter2-s3cret@host:0",
        "http://ann:hunter2-s3cret@ho st:80",
        "http://ann:hunter2-s3cret@host:80/path",
        "http://ann:hunter2-s3cret@host:80?x",
        "http://ann:hunter2-s3cret@[::1:80",
        "http://ann:hunter2-s3cret@a%00b:80",
        "ann:hunter2-s3cret://host:80",
        "hunter2-s3cret://host:80",
        "socks4://ann:hunter2-s3cret@host:80",
        "ftp://ann:hunter2-s3cret@host:80",
        "host:80:ann",
        "host:80:ann:hunter2-s3cret\r\nX-Evil: 1",
        "http://ann:hunter2-s3cret%0d%0a@host:80",
        "http://ann:hunter2-s3cret@" + "a" * 3000,
    ],
)
def test_what_is_no_proxy_is_refused_without_showing_a_password(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Proxy.of(text)
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


@pytest.mark.parametrize("value", [None, 3, b"1.2.3.4:80", ["1.2.3.4:80"]])
def test_a_proxy_is_text(value: object) -> None:
    with pytest.raises(ConfigError, match="a proxy cannot be a"):
        Proxy.of(value)


@given(st.text(max_size=80))
def test_any_text_is_a_proxy_or_refused(text: str) -> None:
    try:
        proxy = Proxy.of(text)
    except ConfigError:
        return
    assert Proxy.of(proxy.url) == proxy
    assert 0 < proxy.port < 65536
    assert proxy.scheme in SCHEMES


printable = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=20)


@given(printable, printable)
def test_credentials_survive_however_odd_they_are(user: str, password: str) -> None:
    line = f"10.0.0.1:80:{user.replace(':', '')}x:{password}"
    proxy = Proxy.of(line)
    assert proxy.login == (user.replace(":", "") + "x", password)
    assert Proxy.of(proxy.url).login == proxy.login
    assert proxy.label == "http://10.0.0.1:80"


def test_a_proxy_never_shows_its_password() -> None:
    proxy = Proxy.of(f"http://ann:{SECRET}@1.2.3.4:8080", "DE")
    assert str(proxy) == proxy.label == "http://1.2.3.4:8080"
    assert repr(proxy) == "Proxy(http://1.2.3.4:8080, de)"
    shown = [f"{proxy}", f"{proxy!r}", f"{[proxy]}", pretty_repr(proxy), pretty_repr({"x": [proxy]})]
    assert SECRET not in "".join(shown)


def test_a_country_is_two_letters() -> None:
    assert Proxy("1.2.3.4:80", "DE").country == "de"
    assert Proxy("1.2.3.4:80", "*").country is None
    for wrong in ("Germany", "d1", "d", "дe"):
        with pytest.raises(ConfigError, match="is no country: write two letters"):
            Proxy("1.2.3.4:80", wrong)


# -- picking


def test_instances_share_nothing() -> None:
    one, other = listed(), listed()
    fail(one, picked(one))
    one.replace([])
    assert len(one) == 0
    assert len(other) == 10
    assert all(row.sent == 0 and row.rests == 0 for row in other.standings())
    mutable = [name for name, value in vars(ProxyProvider).items() if isinstance(value, dict | list | set)]
    assert mutable == ["__annotations__"]


def test_the_same_seed_gives_the_same_picks_and_another_one_others() -> None:
    def walk(seed: int) -> list[str]:
        provider = ProxyProviderFromList(TEN, seed=seed, clock=Clock())
        found = []
        for n in range(50):
            proxy = picked(provider, host="a.org")
            provider.report(proxy, "a.org", ok=n % 3 > 0, seconds=0.1 * n, why="timeout")
            found.append(proxy.label)
        return found

    assert walk(1) == walk(1) != walk(2)


def test_all_proxies_get_their_turn_and_good_ones_more_of_them() -> None:
    provider = listed()
    good, slow, *others = provider.proxies
    for _ in range(20):
        provider.report(good, "a.org", ok=True, seconds=0.1)
        provider.report(slow, "a.org", ok=True, seconds=8.0)
    for other in others:
        for ok in (True, False, True, False):
            provider.report(other, "a.org", ok=ok, seconds=0.1, why="timeout")
    counts = Counter(picked(provider, host="a.org") for _ in range(2000))
    assert len(counts) == 10
    assert counts[good] == max(counts.values())
    assert counts[good] > 3 * counts[others[0]]
    assert counts[slow] == min(counts.values())


def test_a_score_is_kept_for_each_host() -> None:
    provider = listed("10.0.0.1:80", "10.0.0.2:80")
    first, second = provider.proxies
    for _ in range(2):
        fail(provider, first, 1, "a.org", "blocked")
        provider.report(second, "a.org", ok=True, seconds=0.2)
        provider.report(first, "b.org", ok=True, seconds=0.2)
        fail(provider, second, 1, "b.org", "blocked")
    for host, better in (("a.org", second), ("b.org", first)):
        counts = Counter(picked(provider, host=host) for _ in range(400))
        assert counts[better] > 280


def test_a_proxy_that_fails_several_times_in_a_row_rests_twice_as_long_each_time() -> None:
    clock = Clock()
    provider = listed("10.0.0.1:80", "10.0.0.2:80", clock=clock)
    bad, good = provider.proxies
    fail(provider, bad, FAILURES - 1)
    assert provider.standings()[0].rests == 0
    expected = FIRST_REST
    fail(provider, bad, 1)
    for _ in range(7):
        resting = next(row for row in provider.standings() if row.label == bad.label)
        assert resting.rests == pytest.approx(expected)
        fail(provider, bad, 5)  # what was under way says nothing new
        assert {picked(provider) for _ in range(50)} == {good}
        clock.now += expected - 0.01
        assert {picked(provider) for _ in range(50)} == {good}
        clock.now += 0.01
        # One request tries it, and no other meanwhile.
        assert Counter(picked(provider) for _ in range(200))[bad] == 1
        fail(provider, bad, 1)
        expected = min(expected * 2, LONGEST_REST)
    assert expected == LONGEST_REST


def test_a_proxy_that_recovers_is_used_as_before() -> None:
    clock = Clock()
    provider = listed("10.0.0.1:80", "10.0.0.2:80", clock=clock)
    bad, _ = provider.proxies
    fail(provider, bad)
    clock.now += FIRST_REST
    assert Counter(picked(provider) for _ in range(200))[bad] == 1
    provider.report(bad, "a.org", ok=True, seconds=0.1)
    assert Counter(picked(provider) for _ in range(200))[bad] > 20
    fail(provider, bad)
    assert max(row.rests for row in provider.standings()) == FIRST_REST


def test_a_trial_that_is_never_heard_of_again_is_followed_by_another() -> None:
    clock = Clock()
    provider = listed("10.0.0.1:80", "10.0.0.2:80", clock=clock)
    bad, _ = provider.proxies
    fail(provider, bad)
    clock.now += FIRST_REST
    assert Counter(picked(provider) for _ in range(200))[bad] == 1
    clock.now += TRIAL
    assert Counter(picked(provider) for _ in range(200))[bad] == 1


def test_when_all_rest_the_one_whose_rest_ends_first_is_used() -> None:
    clock = Clock()
    provider = listed("10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80", clock=clock)
    second = provider.proxies[1]
    fail(provider, second)
    clock.now += 1
    for proxy in provider.proxies:
        fail(provider, proxy)
    assert {picked(provider, host="a.org") for _ in range(20)} == {second}


def test_a_host_that_fails_through_every_proxy_puts_them_aside_for_itself_alone() -> None:
    provider = listed()
    for proxy in provider.proxies:
        fail(provider, proxy, 5, host="dead.org", why="timeout")
    assert all(row.rests == 0 for row in provider.standings())
    assert len({picked(provider, host="fine.org") for _ in range(300)}) == 10
    assert len({picked(provider, host="dead.org") for _ in range(20)}) == 1
    # A second host failing through it: now it is the proxy.
    fail(provider, provider.proxies[0], 1, host="other.org", why="timeout")
    assert [row.label for row in provider.standings() if row.rests] == [provider.proxies[0].label]


def test_a_failure_without_a_reason_is_blamed_on_the_proxy() -> None:
    provider = listed()
    for _ in range(FAILURES):
        provider.report(provider.proxies[0], "a.org", False, 1.0)
    assert provider.standings()[0].rests == FIRST_REST


def test_most_of_a_large_list_may_be_dead() -> None:
    provider = listed(*(f"10.0.{n // 250}.{n % 250}:80" for n in range(2000)))
    alive = provider.proxies[1234]
    for proxy in provider.proxies:
        if proxy is not alive:
            provider.rest(proxy)
    assert {picked(provider) for _ in range(20)} == {alive}


def test_a_session_keeps_its_proxy_while_that_is_fit() -> None:
    clock = Clock()
    provider = listed(clock=clock)
    sticky = picked(provider, session="ann", host="a.org")
    assert {picked(provider, session="ann", host=f"{n}.org") for n in range(50)} == {sticky}
    assert len({picked(provider, session=f"s{n}") for n in range(100)}) > 5
    fail(provider, sticky)
    moved = picked(provider, session="ann", host="a.org")
    assert moved != sticky
    clock.now += 2 * LONGEST_REST
    assert {picked(provider, session="ann") for _ in range(50)} == {moved}
    provider.replace([p for p in provider.proxies if p != moved])
    assert picked(provider, session="ann") != moved


def test_a_forgotten_session_may_get_another_proxy() -> None:
    provider = listed()
    found = set()
    for _ in range(50):
        found.add(picked(provider, session="ann"))
        provider.forget("ann")
    assert len(found) > 5


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxies, "REMEMBERED", 100)
    provider = listed()
    for n in range(500):
        proxy = picked(provider, session=f"s{n}", host=f"{n}.org")
        provider.report(proxy, f"{n}.org", ok=bool(n % 2), seconds=0.1, why="timeout")
    assert len(provider._by_host) == len(provider._sessions) == 100
    assert picked(provider, session="s499") == provider._sessions["s499", None]


def test_reports_on_a_proxy_that_is_gone_do_no_harm() -> None:
    provider = listed()
    gone = provider.proxies[0]
    provider.replace(provider.proxies[1:])
    fail(provider, gone)
    provider.rest(gone)
    assert len(provider.standings()) == 9


def test_what_is_known_of_a_proxy_outlives_a_new_list() -> None:
    provider = listed()
    bad = provider.proxies[3]
    fail(provider, bad)
    provider.replace([*provider.proxies, Proxy("10.9.9.9:80")])
    assert [row.label for row in provider.standings() if row.rests] == [bad.label]


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.sampled_from(["", "timeout", "proxy"])), max_size=60))
def test_a_provider_with_proxies_always_has_one(story: list[tuple[int, bool, str]]) -> None:
    clock = Clock()
    provider = listed(*TEN[:5], clock=clock)
    for which, ok, why in story:
        provider.report(provider.proxies[which], f"{which % 2}.org", ok, 0.1, why)
        assert picked(provider, host="0.org") in provider.proxies
        assert picked(provider, host="1.org", session="s") in provider.proxies
        clock.now += which * 20
    assert all(0 <= row.success <= 1 for row in provider.standings())


def test_an_empty_list_has_no_proxy_and_is_still_a_provider() -> None:
    provider = ProxyProviderFromList([])
    assert provider.pick() is None
    assert provider.get_one_proxy() is None
    assert bool(provider)


def test_a_bad_entry_of_a_list_is_named_by_its_number() -> None:
    with pytest.raises(ConfigError, match=r"^proxy 2: a proxy cannot be used") as caught:
        ProxyProviderFromList(["1.2.3.4:80", f"http://ann:{SECRET}@"])
    assert SECRET not in str(caught.value)
    with pytest.raises(ConfigError, match="write a list"):
        ProxyProviderFromList("http://1.2.3.4:80")


# -- by country


def test_a_dict_serves_by_country() -> None:
    provider = ProxyProviderFromDict(
        {"US": ["10.0.0.1:80", "10.0.0.2:80"], "de": ["10.0.0.3:80"], "*": ["10.0.0.4:80"]}, seed=1
    )
    assert {picked(provider, country="us").host for _ in range(50)} == {"10.0.0.1", "10.0.0.2"}
    assert picked(provider, country="DE") == Proxy("10.0.0.3:80", "de")
    assert {picked(provider).host for _ in range(50)} == {"10.0.0.4"}
    assert provider.pick("fr") is None
    assert provider.get_one_proxy("fr") is None
    assert provider.get_one_proxy("DE") == "http://10.0.0.3:80"


def test_a_dict_without_a_star_serves_any_to_who_asks_for_no_country() -> None:
    provider = ProxyProviderFromDict({"US": ["10.0.0.1:80"], "DE": ["10.0.0.3:80"]}, seed=1)
    assert {picked(provider).host for _ in range(50)} == {"10.0.0.1", "10.0.0.3"}


def test_a_session_has_a_proxy_in_each_country_it_asks_for() -> None:
    provider = ProxyProviderFromDict({"US": TEN[:5], "DE": TEN[5:]}, seed=1)
    american, german = picked(provider, country="us", session="s"), picked(provider, country="de", session="s")
    assert (american.country, german.country) == ("us", "de")
    assert all(picked(provider, country="US", session="s") == american for _ in range(20))
    assert all(picked(provider, country="DE", session="s") == german for _ in range(20))


def test_a_bad_dict_is_refused_in_a_sentence() -> None:
    with pytest.raises(ConfigError, match="proxy 1 of 'US': "):
        ProxyProviderFromDict({"US": ["nonsense"]})
    with pytest.raises(ConfigError, match="'Narnia' is no country"):
        ProxyProviderFromDict({"Narnia": ["1.2.3.4:80"]})
    with pytest.raises(ConfigError, match="write a list"):
        ProxyProviderFromDict({"US": "1.2.3.4:80"})  # type: ignore[dict-item]
    with pytest.raises(ConfigError, match="lists by country"):
        ProxyProviderFromDict(["1.2.3.4:80"])  # type: ignore[arg-type]


# -- from a file


def test_a_file_has_one_proxy_a_line(tmp_path: Path) -> None:
    path = tmp_path / "proxies.txt"
    path.write_bytes(
        "\ufeff# ours\r\n\r\n1.2.3.4:8080\r\n  socks5://ann:p#w@1.2.3.5:1080   DE  # the new one\r\n"
        "1.2.3.6:80:ann:pw#x\n#1.2.3.7:80\n1.2.3.4:8080\n".encode()
    )
    provider = ProxyProviderFromFile(path)
    assert [proxy.url for proxy in provider.proxies] == [
        "http://1.2.3.4:8080",
        "socks5://ann:p%23w@1.2.3.5:1080",
        "http://ann:pw%23x@1.2.3.6:80",
    ]
    assert picked(provider, country="de").login == ("ann", "p#w")


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    path = tmp_path / "proxies.txt"
    path.write_text("1.2.3.4:80\n")
    provider = ProxyProviderFromFile(path, clock=clock)
    path.write_text("1.2.3.5:80\n1.2.3.6:80\n")
    assert picked(provider).host == "1.2.3.4"
    clock.now += proxies.LOOK_AGAIN
    assert picked(provider).host in ("1.2.3.5", "1.2.3.6")
    # Broken, gone or emptied: they stay as they were, and the log says so.
    path.write_text(f"http://ann:{SECRET}@:::\n")
    clock.now += proxies.LOOK_AGAIN
    assert picked(provider).host in ("1.2.3.5", "1.2.3.6")
    path.unlink()
    clock.now += proxies.LOOK_AGAIN
    assert picked(provider).host in ("1.2.3.5", "1.2.3.6")
    path.write_text("1.2.3.7:80\n")
    clock.now += proxies.LOOK_AGAIN
    assert picked(provider).host == "1.2.3.7"
    told = "".join(capsys.readouterr())
    assert "line 1" in told
    assert "is not there" in told
    assert SECRET not in told


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"1.2.3.4:80\nhttp://ann:hunter2-s3cret@:1\n", r"line 2: a proxy cannot be used"),
        (b"# nothing\n", "holds no proxy"),
        (b"1.2.3.4:80 DE soon\n", "line 1: a line with 3 words"),
        (b"1.2.3.4:80 Germany\n", "line 1: 'Germany' is no country"),
        (b"\xff\xfe\x00", "no text in UTF-8"),
    ],
)
def test_a_bad_file_is_refused_in_a_sentence(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "proxies.txt"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=told) as caught:
        ProxyProviderFromFile(path)
    assert SECRET not in str(caught.value)


def test_a_huge_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxies, "LARGEST", 100)
    (tmp_path / "proxies.txt").write_text("# x\n" * 100)
    with pytest.raises(ConfigError, match="too large"):
        ProxyProviderFromFile(tmp_path / "proxies.txt")


# -- the setting


def test_the_setting_means_what_it_looks_like(tmp_path: Path) -> None:
    (tmp_path / "proxies.txt").write_text("1.2.3.4:80\n")
    own = ProxyProviderFromList([])
    assert provider_of(own) is own
    for nothing in (None, (), [], "", "none", {}):
        assert provider_of(nothing) is None
    several: tuple[tuple[Any, type[ProxyProvider]], ...] = (
        (["1.2.3.4:80", "1.2.3.5:80"], ProxyProviderFromList),
        ("http://ann:pw@1.2.3.4:80", ProxyProviderFromList),
        ("1.2.3.4:80 1.2.3.5:80:ann:pw", ProxyProviderFromList),
        (("proxy.example:80",), ProxyProviderFromList),
        ({"US": ["1.2.3.4:80"]}, ProxyProviderFromDict),
        ("proxies.txt", ProxyProviderFromFile),
        (("proxies.txt",), ProxyProviderFromFile),
        (str(tmp_path / "proxies.txt"), ProxyProviderFromFile),
        (tmp_path / "proxies.txt", ProxyProviderFromFile),
        ("proxyscrape", ProxyProviderFromProxyscrape),
        (("webshare",), ProxyProviderFromWebshare),
        ("IPRoyal", ProxyProviderFromIPRoyal),
    )
    for value, kind in several:
        assert type(provider_of(value)) is kind, value


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("no-such-file.txt", "there is no such file, and the services known are proxyscrape, webshare, iproyal"),
        (Path("no-such-file.txt"), "is not there"),
        (ProxyProviderFromProxyscrape, r"is a class: write ProxyProviderFromProxyscrape\(\)"),
        (7, "proxies cannot be a int: give URLs"),
        (["1.2.3.4:80", "proxies.txt"], "proxy 2: "),
        (f"socks4://ann:{SECRET}@1.2.3.4:80", "of kind 'socks4' cannot be used"),
    ],
)
def test_a_setting_that_means_nothing_is_refused_in_a_sentence(value: Any, told: str) -> None:
    with pytest.raises(ConfigError, match=told) as caught:
        provider_of(value)
    assert SECRET not in str(caught.value)


# -- a provider of one's own


def test_an_own_provider_only_brings_its_list() -> None:
    class Mine(ProxyProvider):
        refresh = 60.0

        async def load(self, get: proxies.Get) -> None:
            _, body = await get("https://proxies.example/", {})
            self.replace(Proxy.of(line) for line in body.decode().split())

    async def get(url: str, headers: dict[str, str]) -> tuple[int, bytes]:
        return 200, b"1.2.3.4:80 1.2.3.5:80"

    provider = provider_of(Mine())
    assert provider is not None
    asyncio.run(provider.load(get))
    assert len(provider) == 2
    assert picked(provider).host in ("1.2.3.4", "1.2.3.5")


# -- services: their answers as documented, given by a double, since nobody may be asked from a test

Answer = tuple[int, bytes]


class Service:
    """Answers as told, and remembers what it was asked."""

    def __init__(self, answer: Callable[[str], Answer] | Answer) -> None:
        self._answer = answer
        self.asked: list[tuple[str, dict[str, str]]] = []

    async def __call__(self, url: str, headers: dict[str, str]) -> Answer:
        self.asked.append((url, headers))
        return self._answer(url) if callable(self._answer) else self._answer


def loaded(provider: ProxyProvider, service: Service) -> list[str]:
    asyncio.run(provider.load(service))
    return [proxy.url for proxy in provider.proxies]


def test_proxyscrape_gives_lines() -> None:
    service = Service((200, b"1.2.3.4:8080\r\n1.2.3.5:3128\r\nnonsense\r\n\r\n"))
    provider = ProxyProviderFromProxyscrape()
    assert provider.stale
    assert loaded(provider, service) == ["http://1.2.3.4:8080", "http://1.2.3.5:3128"]
    assert not provider.stale
    ((url, headers),) = service.asked
    assert url == (
        "https://api.proxyscrape.com/v2/?request=displayproxies&protocol=http&timeout=10000"
        "&country=all&ssl=all&anonymity=all"
    )
    assert headers == {}
    assert picked(provider).country is None


def test_proxyscrape_can_be_asked_for_a_country_and_for_socks() -> None:
    service = Service((200, b"1.2.3.4:1080\n"))
    provider = ProxyProviderFromProxyscrape(protocol="socks5", country="DE", base="http://127.0.0.1:1/")
    assert loaded(provider, service) == ["socks5://1.2.3.4:1080"]
    assert "protocol=socks5" in service.asked[0][0]
    assert "country=DE" in service.asked[0][0]
    assert picked(provider, country="de")


def test_an_old_list_is_stale() -> None:
    clock = Clock()
    provider = ProxyProviderFromProxyscrape(clock=clock)
    loaded(provider, Service((200, b"1.2.3.4:80")))
    clock.now += 899
    assert not provider.stale
    clock.now += 2
    assert provider.stale


@pytest.mark.parametrize(
    ("answer", "kind", "told"),
    [
        ((200, b""), ProxyFailed, "Proxyscrape gave no proxies"),
        ((200, b"<html>captcha</html>"), ProxyFailed, "gave no proxies"),
        ((503, b"1.2.3.4:80"), ProxyFailed, "status 503: try again later"),
        ((302, b""), ProxyFailed, "status 302"),
        ((403, b""), ConfigError, "refused us with status 403"),
    ],
)
def test_a_service_that_fails_is_told_of_and_the_old_list_stays(
    answer: Answer, kind: type[Exception], told: str
) -> None:
    provider = ProxyProviderFromProxyscrape()
    loaded(provider, Service((200, b"1.2.3.4:80")))
    with pytest.raises(kind, match=told):
        loaded(provider, Service(answer))
    assert picked(provider).host == "1.2.3.4"


def webshare_row(n: int, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"d-{n}",
        "username": "ann",
        "password": SECRET,
        "proxy_address": f"1.2.3.{n}",
        "port": 8168,
        "valid": True,
        "last_verification": "2026-06-09T23:34:00-07:00",
        "country_code": "US",
        "city_name": "New York",
        "created_at": "2026-06-09T23:34:00-07:00",
    } | changes


def webshare_page(rows: list[dict[str, Any]], after: str | None = None) -> Answer:
    return 200, json.dumps({"count": 9, "next": after, "previous": None, "results": rows}).encode()


def test_webshare_gives_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBSHARE_API_KEY", f"key-{SECRET}")
    base = "https://proxy.webshare.io/api/v2/proxy/list/"
    pages = {
        "1": webshare_page([webshare_row(1), webshare_row(2, valid=False)], f"{base}?mode=direct&page=2&page_size=100"),
        "2": webshare_page(
            [webshare_row(3, country_code="DE"), webshare_row(4, port=None), {}, webshare_row(5, country_code=None)],
            "/api/v2/proxy/list/?page=3",
        ),
        "3": webshare_page([webshare_row(6, password="p:w@/ é")]),
    }
    service = Service(lambda url: pages[parse_qs(urlsplit(url).query)["page"][0]])
    provider = ProxyProviderFromWebshare()
    assert loaded(provider, service) == [
        f"http://ann:{SECRET}@1.2.3.1:8168",
        f"http://ann:{SECRET}@1.2.3.3:8168",
        f"http://ann:{SECRET}@1.2.3.5:8168",
        "http://ann:p%3Aw%40%2F%20%C3%A9@1.2.3.6:8168",
    ]
    assert [url for url, _ in service.asked] == [
        f"{base}?mode=direct&page=1&page_size=100",
        f"{base}?mode=direct&page=2&page_size=100",
        f"{base}?page=3",
    ]
    assert {tuple(headers.items()) for _, headers in service.asked} == {(("Authorization", f"Token key-{SECRET}"),)}
    assert picked(provider, country="de").host == "1.2.3.3"
    assert provider.pick("fr") is None
    assert SECRET not in repr(provider) + repr(vars(provider)["_all"]) + repr(provider.standings())
    assert all(SECRET not in url for url, _ in service.asked)


@pytest.mark.parametrize(
    "after",
    [
        "https://evil.example/api/v2/proxy/list/?page=2",
        "http://proxy.webshare.io/api/v2/proxy/list/?page=2",
        "https://proxy.webshare.io:444/api/v2/proxy/list/?page=2",
        "https://proxy.webshare.io.evil.example/?page=2",
        "//evil.example/?page=2",
        "file:///etc/passwd",
    ],
)
def test_the_key_follows_no_link_to_anybody_else(after: str) -> None:
    service = Service(webshare_page([webshare_row(1)], after))
    with pytest.raises(ProxyFailed, match="points to another host"):
        loaded(ProxyProviderFromWebshare(SECRET), service)
    assert len(service.asked) == 1


def test_pages_that_lead_in_a_circle_end() -> None:
    service = Service(webshare_page([webshare_row(1)], "?page=2"))
    assert len(loaded(ProxyProviderFromWebshare(SECRET), service)) == 1
    assert len(service.asked) == 2


def test_pages_without_end_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy_services, "MOST_PAGES", 7)
    numbers = iter(range(1000))
    service = Service(lambda url: webshare_page([webshare_row(1)], f"?page={next(numbers)}"))
    loaded(ProxyProviderFromWebshare(SECRET), service)
    assert len(service.asked) == 7


def test_webshare_backbone_has_one_address_for_all() -> None:
    rows = [webshare_row(1, proxy_address=None, username="ann-us-1", port=80)]
    service = Service(webshare_page(rows))
    provider = ProxyProviderFromWebshare(SECRET, mode="backbone", protocol="socks5", countries=["us", "DE"])
    assert loaded(provider, service) == [f"socks5://ann-us-1:{SECRET}@p.webshare.io:80"]
    asked = parse_qs(urlsplit(service.asked[0][0]).query)
    assert asked["mode"] == ["backbone"]
    assert asked["country_code__in"] == ["US,DE"]


def test_webshare_has_a_link_to_download_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    link = f"https://proxy.webshare.io/api/v2/proxy/list/download/{SECRET}/-/any/username/direct/-/"
    service = Service((200, b"1.2.3.4:8168:ann:pw\r\n1.2.3.5:8168:ann:pw\r\n"))
    expected = ["http://ann:pw@1.2.3.4:8168", "http://ann:pw@1.2.3.5:8168"]
    assert loaded(ProxyProviderFromWebshare(download=link), service) == expected
    monkeypatch.setenv("WEBSHARE_DOWNLOAD_URL", link)
    assert loaded(ProxyProviderFromWebshare(), service) == expected
    assert service.asked == [(link, {})] * 2
    with pytest.raises(ProxyFailed) as caught:
        loaded(ProxyProviderFromWebshare(download=link), Service((404, b"")))
    assert SECRET not in str(caught.value)
    with pytest.raises(ConfigError, match="is not a URL") as refused:
        loaded(ProxyProviderFromWebshare(download=f"not a url {SECRET}"), service)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"results": 3}', b'{"detail": "x"}', b"null"])
def test_an_answer_of_another_shape_is_told_of(body: bytes) -> None:
    with pytest.raises(ProxyFailed, match="has its API changed"):
        loaded(ProxyProviderFromWebshare(SECRET), Service((200, body)))
    with pytest.raises(ProxyFailed, match=r"has its API changed|gave no proxies"):
        loaded(ProxyProviderFromIPRoyal(420, SECRET), Service((200, body)))


def test_a_key_that_is_missing_or_wrong_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WEBSHARE_API_KEY", "WEBSHARE_DOWNLOAD_URL", "IPROYAL_API_KEY", "IPROYAL_ORDER_ID"):
        monkeypatch.delenv(name, raising=False)
    service = Service((401, b'{"detail": "Invalid token."}'))
    cases: list[tuple[ProxyProvider, str]] = [
        (ProxyProviderFromWebshare(), "set WEBSHARE_API_KEY in the environment"),
        (ProxyProviderFromWebshare(f"{SECRET}\n\x00x"), "characters that no key has"),
        (ProxyProviderFromWebshare(SECRET), "refused us with status 401: check WEBSHARE_API_KEY"),
        (ProxyProviderFromIPRoyal(420), "set IPROYAL_API_KEY in the environment"),
        (ProxyProviderFromIPRoyal(None, SECRET), "set IPROYAL_ORDER_ID"),
        (ProxyProviderFromIPRoyal("../balance", SECRET), "set IPROYAL_ORDER_ID"),
        (ProxyProviderFromIPRoyal(420, SECRET), "refused us with status 401: check IPROYAL_API_KEY"),
    ]
    for provider, told in cases:
        with pytest.raises(ConfigError, match=told) as caught:
            loaded(provider, service)
        assert SECRET not in str(caught.value) + repr(provider)


def test_services_refuse_options_they_do_not_know() -> None:
    for make in (
        lambda: ProxyProviderFromWebshare(mode="magic"),
        lambda: ProxyProviderFromWebshare(protocol="ftp"),
        lambda: ProxyProviderFromProxyscrape(protocol="socks4"),
        lambda: ProxyProviderFromIPRoyal(protocol="https"),
    ):
        with pytest.raises(ConfigError, match="cannot be used: write"):
            make()


ROW = {"username": "ann", "password": SECRET, "ip": "1.2.3.4"}
PORTS = {"socks5": 22324, "http|https": 22323}


@pytest.mark.parametrize(
    ("told", "http", "socks5"),
    [
        ({"id": 420, "status": "confirmed", "proxy_data": {"ports": PORTS, "proxies": [ROW]}}, 22323, 22324),
        ({"data": {"id": 420, "proxy_data": {"ports": PORTS, "proxies": [ROW]}}}, 22323, 22324),
        ({"data": {"proxies": [ROW]}}, 12323, 12324),
        ({"data": [ROW]}, 12323, 12324),
        ({"data": [ROW | {"port": 7000}]}, 7000, 7000),
        ([ROW, 3, {}], 12323, 12324),
        ({"proxy_data": {"ports": None, "proxies": [f"1.2.3.4:7000:ann:{SECRET}"]}}, 7000, 7000),
    ],
)
def test_iproyal_gives_the_proxies_of_an_order_in_several_shapes(told: Any, http: int, socks5: int) -> None:
    for protocol, port in (("http", http), ("socks5", socks5)):
        service = Service((200, json.dumps(told).encode()))
        provider = ProxyProviderFromIPRoyal(420, f"key-{SECRET}", protocol=protocol, country="US")
        assert loaded(provider, service) == [f"{protocol}://ann:{SECRET}@1.2.3.4:{port}"]
        assert service.asked == [
            ("https://apid.iproyal.com/v1/reseller/orders/420", {"X-Access-Token": f"key-{SECRET}"})
        ]
        assert picked(provider, country="us")


def test_iproyal_takes_key_and_order_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPROYAL_API_KEY", SECRET)
    monkeypatch.setenv("IPROYAL_ORDER_ID", "77")
    service = Service((200, json.dumps([ROW]).encode()))
    loaded(ProxyProviderFromIPRoyal(), service)
    assert service.asked[0][0].endswith("/orders/77")


def test_an_order_that_has_expired_is_told_of() -> None:
    told = {"id": 420, "status": "expired", "proxy_data": {"ports": PORTS, "proxies": []}}
    with pytest.raises(ProxyFailed, match="order 420 has no proxies, its status is 'expired'"):
        loaded(ProxyProviderFromIPRoyal(420, SECRET), Service((200, json.dumps(told).encode())))


def test_the_address_of_a_service_can_be_another() -> None:
    service = Service((200, b"1.2.3.4:80"))
    loaded(ProxyProviderFromProxyscrape(base="http://127.0.0.1:4000"), service)
    assert service.asked[0][0].startswith("http://127.0.0.1:4000/v2/?")


@given(st.binary(max_size=300), st.sampled_from(["proxyscrape", "webshare", "iproyal", "download"]))
def test_no_answer_of_a_service_breaks_anything(body: bytes, which: str) -> None:
    made: dict[str, ProxyProvider] = {
        "proxyscrape": ProxyProviderFromProxyscrape(),
        "webshare": ProxyProviderFromWebshare(SECRET),
        "iproyal": ProxyProviderFromIPRoyal(420, SECRET),
        "download": ProxyProviderFromWebshare(download="https://proxy.webshare.io/x"),
    }
    with contextlib.suppress(ProxyFailed):
        loaded(made[which], Service((200, body)))


NAMES = "data proxy_data proxies ports ip port username password results next proxy_address country_code valid status"
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.just("1.2.3.4"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES.split()), inner, max_size=5),
    max_leaves=20,
)


@given(json_values)
def test_no_json_of_a_service_breaks_anything(value: Any) -> None:
    body = msgspec.json.encode(value) if _small(value) else b"{}"
    for provider in (ProxyProviderFromWebshare(SECRET), ProxyProviderFromIPRoyal(420, SECRET)):
        with contextlib.suppress(ProxyFailed):
            loaded(provider, Service((200, body)))


def _small(value: Any) -> bool:
    """Integers that JSON libraries can carry."""
    if isinstance(value, dict):
        return all(map(_small, value.values()))
    if isinstance(value, list):
        return all(map(_small, value))
    return not isinstance(value, int) or abs(value) < 1 << 60


def test_picking_is_quick() -> None:
    """A pick is a small part of a request, whatever the list's size."""
    provider = ProxyProviderFromList([f"10.{n >> 16}.{n >> 8 & 255}.{n & 255}:80" for n in range(20_000)], seed=1)
    rng = random.Random(1)
    began = time.process_time()
    for n in range(2000):
        proxy = picked(provider, host=f"{n % 50}.org")
        provider.report(proxy, f"{n % 50}.org", ok=rng.random() < 0.5, seconds=0.1, why="timeout")
    assert (time.process_time() - began) / 2000 < 0.002
