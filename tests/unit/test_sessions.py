"""What belongs together: cookies, identity, proxy."""

from __future__ import annotations

import pytest

from gossamer.errors import ProxyFailed
from gossamer.fetch import sessions as module
from gossamer.fetch.agents import Identity, Rotation, identities
from gossamer.fetch.proxies import Proxy, ProxyProvider, ProxyProviderFromDict, ProxyProviderFromList
from gossamer.fetch.sessions import Session, Sessions
from gossamer.settings import ScraperConfig
from gossamer.values import Request

PAGE = Request("http://a.org/")
ANN = PAGE.evolve(session="ann")
BOB = PAGE.evolve(session="bob")
PROXIES = [f"http://10.0.0.{n}:8080" for n in range(1, 9)]
AGENTS = Rotation([Identity(f"agent-{n}") for n in range(8)], seed=1)


def made(cookies: str = "run", provider: ProxyProvider | None = None, rotation: Rotation = AGENTS) -> Sessions:
    return Sessions(ScraperConfig(cookies=cookies), rotation, provider)


def log_in(session: Session, text: str = "id=1") -> None:
    assert session.jar is not None
    session.jar.take([f"{text}; Path=/"], f"http://{session.host}/")


def cookie(session: Session) -> str:
    assert session.jar is not None
    return session.jar.header(f"http://{session.host}/")


# -- jars --------------------------------------------------------------------------------------------------------


def test_off_there_is_no_jar() -> None:
    sessions = made("off")
    assert sessions.of(PAGE, "a.org").jar is None
    assert sessions.of(ANN, "a.org").jar is None


def test_a_run_has_one_jar() -> None:
    sessions = made("run")
    jars = {id(sessions.of(request, host).jar) for request in (PAGE, ANN) for host in ("a.org", "b.org")}
    assert len(jars) == 1


def test_a_host_has_a_jar_whoever_asks() -> None:
    sessions = made("host")
    log_in(sessions.of(PAGE, "a.org"))
    assert cookie(sessions.of(ANN, "a.org")) == "id=1"
    assert sessions.of(PAGE, "a.org").jar is not sessions.of(PAGE, "www.a.org").jar


def test_a_named_session_has_a_jar_on_all_hosts() -> None:
    sessions = made("session")
    log_in(sessions.of(ANN, "a.org"))
    assert sessions.of(ANN, "a.org").jar is sessions.of(ANN, "b.org").jar
    assert cookie(sessions.of(BOB, "a.org")) == ""


def test_who_names_no_session_is_in_the_default_one() -> None:
    sessions = made("session")
    log_in(sessions.of(PAGE, "a.org"))
    assert sessions.of(PAGE, "b.org").name == "default"
    assert cookie(sessions.of(PAGE.evolve(session="default"), "a.org")) == "id=1"


def test_two_runs_share_nothing() -> None:
    one, two = made(), made()
    log_in(one.of(PAGE, "a.org"))
    assert not two.of(PAGE, "a.org").jar


# -- identity and proxy ------------------------------------------------------------------------------------------


def test_a_named_session_keeps_its_identity_and_proxy_on_all_hosts() -> None:
    sessions = made(provider=ProxyProviderFromList(PROXIES))
    used = [sessions.of(ANN, host) for host in ("a.org", "b.org", "c.org") * 10]
    assert len({each.identity for each in used}) == 1
    assert len({each.proxy for each in used}) == 1
    assert [each.uses for each in used[:3]] == [1, 2, 3]


def test_without_a_name_a_host_keeps_its_identity_and_proxies_change() -> None:
    sessions = made(provider=ProxyProviderFromList(PROXIES, seed=1))
    used = [sessions.of(PAGE, "a.org") for _ in range(30)]
    assert len({each.identity for each in used}) == 1
    assert len({each.proxy for each in used}) > 1


def test_a_session_called_as_a_host_is_not_that_host() -> None:
    sessions = made("session")
    log_in(sessions.of(PAGE.evolve(session="a.org"), "a.org"))
    sessions = made("host")
    one, two = sessions.of(PAGE, "a.org"), sessions.of(PAGE.evolve(session="a.org"), "a.org")
    sessions.retire(one, "blocked")
    assert sessions.of(PAGE, "a.org").blocks == 1
    assert sessions.of(PAGE.evolve(session="a.org"), "a.org").blocks == two.blocks == 0


def test_a_session_stays_in_the_country_it_asked_for() -> None:
    provider = ProxyProviderFromDict({"de": PROXIES[:4], "us": PROXIES[4:]})
    sessions = made(provider=provider)
    first = sessions.of(ANN.evolve(country="de"), "a.org").proxy
    assert first is not None
    assert first.country == "de"
    assert sessions.of(ANN, "a.org").proxy == first


def test_nothing_goes_out_without_the_proxy_that_was_asked_for() -> None:
    provider = ProxyProviderFromDict({"de": PROXIES})
    with pytest.raises(ProxyFailed, match="no proxy in FR"):
        made(provider=provider).of(PAGE.evolve(country="fr"), "a.org")
    with pytest.raises(ProxyFailed, match="no proxy to go through"):
        made(provider=ProxyProvider()).of(PAGE, "a.org")


def test_a_session_whose_proxy_dies_gets_another_and_keeps_its_cookies() -> None:
    provider = ProxyProviderFromList(PROXIES)
    sessions = made("session", provider)
    first = sessions.of(ANN, "a.org")
    log_in(first)
    assert first.proxy is not None
    for _ in range(5):
        provider.report(first.proxy, "a.org", ok=False, seconds=1.0, why="proxy")
    second = sessions.of(ANN, "a.org")
    assert second.proxy != first.proxy
    assert second.jar is first.jar
    assert second.identity == first.identity


# -- retiring ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_a_blocked_session_is_replaced_by_a_fresh_one(seed: int) -> None:
    sessions = made("session", ProxyProviderFromList(PROXIES[:2], seed=seed))
    old = sessions.of(ANN, "a.org")
    log_in(old)
    log_in(sessions.of(BOB, "a.org"), "bob=1")
    sessions.retire(old, "captcha")
    new = sessions.of(ANN, "a.org")
    assert (new.name, new.uses, new.blocks) == ("ann", 1, 1)
    assert not new.jar
    assert new.identity != old.identity
    assert new.proxy != old.proxy
    assert sessions.of(ANN, "b.org").proxy == new.proxy, "the new one is as sticky"
    assert sessions.retired == 1
    assert cookie(sessions.of(BOB, "a.org")) == "bob=1"


def test_attempts_blocked_together_retire_their_session_once() -> None:
    sessions = made("session")
    together = [sessions.of(ANN, "a.org") for _ in range(5)]
    for each in together:
        sessions.retire(each, "blocked")
    assert sessions.retired == 1
    assert sessions.of(ANN, "a.org").blocks == 1


def test_what_still_arrives_for_a_retired_session_is_not_mixed_in() -> None:
    for mode in ("session", "host"):
        sessions = made(mode)
        old = sessions.of(ANN, "a.org")
        sessions.retire(old, "blocked")
        new = sessions.of(ANN, "a.org")
        log_in(old)
        assert not new.jar


def test_a_blocked_host_costs_the_other_hosts_of_a_run_nothing() -> None:
    sessions = made("run")
    one, two = sessions.of(PAGE, "a.org:8080"), sessions.of(PAGE, "b.org")
    log_in(one)
    log_in(two)
    sessions.retire(one, "blocked")
    assert cookie(sessions.of(PAGE, "a.org:8080")) == ""
    assert cookie(sessions.of(PAGE, "b.org")) == "id=1"
    assert sessions.of(PAGE, "a.org:8080").identity != one.identity
    assert sessions.of(PAGE, "b.org").identity == two.identity


def test_cookies_off_a_block_still_changes_the_identity() -> None:
    sessions = made("off")
    old = sessions.of(PAGE, "a.org")
    sessions.retire(old, "blocked")
    assert sessions.of(PAGE, "a.org").identity != old.identity


def test_where_there_is_one_identity_and_one_proxy_a_fresh_session_has_them_too() -> None:
    config = ScraperConfig(cookies="session")
    sessions = Sessions(config, identities(config), ProxyProviderFromList(PROXIES[:1]))
    old = sessions.of(ANN, "a.org")
    sessions.retire(old, "blocked")
    new = sessions.of(ANN, "a.org")
    assert (new.identity, new.proxy) == (old.identity, old.proxy)
    assert new.blocks == 1


# -- bounds ------------------------------------------------------------------------------------------------------


def test_sessions_are_bounded_and_the_least_lately_used_go(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 100)
    sessions = made("session")
    log_in(sessions.of(ANN, "a.org"))
    log_in(sessions.of(BOB, "a.org"))
    for n in range(150):
        sessions.of(PAGE.evolve(session=f"s{n}"), "a.org")
        sessions.of(ANN, "a.org")
    assert len(sessions) == len(sessions._jars) == 100
    assert cookie(sessions.of(ANN, "a.org")) == "id=1"
    assert cookie(sessions.of(BOB, "a.org")) == ""


def test_jars_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "HEAVIEST", 1 << 20)
    sessions = made("host")
    for n in range(1000):
        log_in(sessions.of(PAGE, f"h{n}.test"), "id=" + "x" * 4000)
    weight = sum(jar.weight for jar in sessions._jars.values())
    assert weight < (1 << 20) + module.LOOK_EVERY * 8192
    assert cookie(sessions.of(PAGE, "h999.test"))


def test_no_secret_is_shown() -> None:
    sessions = made("session", ProxyProviderFromList(["http://user:hush@10.0.0.1:80"]))
    session = sessions.of(ANN, "a.org")
    log_in(session, "token=hush")
    assert session.proxy == Proxy.of("http://user:hush@10.0.0.1:80")
    assert "hush" not in repr(session)
