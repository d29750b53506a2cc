"""Alerts by webhook: what a real receiver gets, what is refused, and what nobody gets to see."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest

from gossamer.errors import AddressRefused, ConfigError, Undelivered
from gossamer.fetch import addresses
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.client import Client
from gossamer.messages import Message
from gossamer.testing import Answer, Site
from gossamer.webhooks import Webhook, payload
from tests.servers import TlsFront, dead_port

SECRET = "T0K3N-s3cret"
MESSAGE = Message("failure:7:1", "failure", "shop: run 7 failed", "Run 7 ended.", 1_700_000_000.25, "shop", 7)


def tell(url: str, message: Message = MESSAGE, *, rules: Addresses | None = None, deadline: float = 10.0) -> None:
    async def work() -> None:
        async with Client() as client:
            await Webhook(url, client, rules or Addresses(), deadline=deadline).tell(message)

    asyncio.run(work())


def failing(url: str, *, rules: Addresses | None = None, deadline: float = 10.0) -> str:
    with pytest.raises(Undelivered) as told:
        tell(url, rules=rules, deadline=deadline)
    assert SECRET not in str(told.value)
    assert told.value.__cause__ is None
    return str(told.value)


def test_a_receiver_gets_json_that_programs_and_chats_understand(site: Site) -> None:
    site.page(f"/hook/{SECRET}", "ok")
    tell(site.url(f"/hook/{SECRET}?k=v"))
    (hit,) = site.hits
    assert (hit.method, hit.headers["content-type"]) == ("POST", "application/json")
    assert hit.path == f"/hook/{SECRET}?k=v"
    assert hit.headers["idempotency-key"] == MESSAGE.id
    assert json.loads(hit.body) == {
        "text": "shop: run 7 failed\nRun 7 ended.",
        "id": MESSAGE.id,
        "kind": "failure",
        "scraper": "shop",
        "run": 7,
        "at": "2023-11-14T22:13:20.250+00:00",
        "title": "shop: run 7 failed",
        "body": "Run 7 ended.",
    }


def test_a_login_in_the_url_is_sent_as_one(site: Site) -> None:
    site.page("/hook", "ok")
    tell(site.url("/hook").replace("://", f"://ann:{SECRET}@"))
    (hit,) = site.hits
    assert hit.headers["authorization"].startswith("Basic ")
    assert hit.path == "/hook"


def test_nothing_in_a_message_calls_everybody_or_hides_a_link() -> None:
    hostile = "<!channel> <https://evil.example|your bank> [your bank](https://evil.example) @everyone @here"
    text = payload(Message("k", "drift", hostile, hostile, 1.0))["text"]
    assert isinstance(text, str)
    assert not set("<>") & set(text)
    assert "](" not in text
    assert "@everyone" not in text
    assert "@here" not in text


@pytest.mark.parametrize("status", [400, 401, 404, 410, 429, 500, 503])
def test_what_is_not_taken_is_undelivered(site: Site, status: int) -> None:
    site.page("/hook", SECRET, status=status)
    assert failing(site.url("/hook")) == f"it answered with status {status}"


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(site: Site, status: int) -> None:
    with Site() as inside:
        inside.page("/admin", "deleted")
        site.redirect("/hook", inside.url(f"/admin?{SECRET}"), status=status)
        assert "a redirect" in failing(site.url("/hook"))
        assert not inside.hits


def test_nobody_there_is_said_by_its_host_alone() -> None:
    assert "no connection" in failing(f"http://127.0.0.1:{dead_port()}/hook/{SECRET}")
    assert "is not known" in failing(f"https://no-such-host.invalid/hook/{SECRET}")


@pytest.mark.parametrize("fault", ["hang", "reset", "garbage", "slow_head", "slow_body", "drip", "truncate"])
def test_a_receiver_that_misbehaves_costs_a_bounded_time(site: Site, fault: str) -> None:
    getattr(site, fault)(f"/hook/{SECRET}")
    assert failing(site.url(f"/hook/{SECRET}"), deadline=0.4)


def test_an_answer_of_any_length_is_not_read_to_its_end(site: Site) -> None:
    sent = 0

    def endless() -> Iterator[bytes]:
        nonlocal sent
        while True:
            sent += 1 << 16
            yield b"x" * (1 << 16)

    site.handler("/hook", lambda hit: Answer(stream=endless))
    tell(site.url("/hook"))
    assert sent < 32 << 20


def test_the_certificate_is_verified(site: Site) -> None:
    with TlsFront(site.authority) as front:
        assert "no secure connection" in failing(front.url.rstrip("/") + f"/hook/{SECRET}")
    assert not site.hits


# -- addresses ---------------------------------------------------------------------------------------------------


def test_a_host_that_was_typed_may_be_private_and_no_other_port_of_it(site: Site) -> None:
    site.page("/hook", "ok")

    async def work() -> None:
        rules = Addresses()
        async with Client() as client:
            await Webhook(site.url("/hook"), client, rules).tell(MESSAGE)
            with pytest.raises(AddressRefused):
                await rules.resolve(f"127.0.0.1:{dead_port()}")

    asyncio.run(work())
    assert len(site.hits) == 1


def test_a_name_that_turns_to_another_private_address_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "KEPT", 0.0)
    site.page("/hook", "ok")
    answers = iter([["127.0.0.1"], ["127.0.0.2"], ["169.254.169.254"], ["127.0.0.1"]])
    rules = Addresses(resolver=lambda name: next(answers))
    url = f"http://hooks.test:{site.port}/hook/{SECRET}"
    site.page(f"/hook/{SECRET}", "ok")

    async def work() -> None:
        async with Client() as client:
            hook = Webhook(url, client, rules)
            await hook.tell(MESSAGE)
            for _ in range(2):
                with pytest.raises(Undelivered, match="now leads to a private address"):
                    await hook.tell(MESSAGE)
            await hook.tell(MESSAGE)

    asyncio.run(work())
    assert len(site.hits) == 2


# -- names -------------------------------------------------------------------------------------------------------


def test_a_url_is_shown_without_its_secrets() -> None:
    async def work() -> None:
        async with Client() as client:
            one = Webhook(f"https://ann:{SECRET}@hooks.example:8443/services/{SECRET}?t={SECRET}", client, Addresses())
            other = Webhook("https://ann:pw@hooks.example:8443/services/2", client, Addresses())
            assert one.target.startswith("https://hooks.example:8443/… (")
            assert SECRET not in one.target + repr(one)
            assert one.target != other.target

    asyncio.run(work())


@pytest.mark.parametrize("url", [f"ftp://hooks.example/{SECRET}", SECRET, f"file:///{SECRET}"])
def test_what_is_no_url_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(ConfigError, match="alert_webhooks") as told:
        tell(url)
    assert SECRET not in str(told.value)
