"""Alerts by webhook: a POST of JSON to a URL that stands in the settings, under the rules that hold for every fetch.

The host and port it names are trusted like a start URL that was typed: they may be private, and are pinned to what
their name led to first. Nothing else is: a redirect is not followed, and not more than a few bytes of the answer are
read. The URL is a secret as often as not, so nothing but its host is ever shown.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib

from gossamer import urls
from gossamer.clock import iso
from gossamer.errors import AddressRefused, ConfigError, FetchError, Undelivered
from gossamer.fetch.addresses import Addresses
from gossamer.fetch.agents import Identity
from gossamer.fetch.client import Client
from gossamer.fetch.way import Way
from gossamer.messages import Message
from gossamer.settings import USER_AGENT, ScraperConfig
from gossamer.values import Request

#: Seconds that a receiver may take, from connect to the end of its answer.
DEADLINE = 15.0
#: Bytes of an answer that are read: what it says is of no use to us.
ENOUGH = 4 << 10

#: What chats would take for a command, a link with another name, or a call to everybody.
_HARMLESS = str.maketrans({"<": "‹", ">": "›", "@": "@\u2060"})


class Webhook:
    """A receiver at a URL. The Client is its owner's, who closes it."""

    def __init__(self, url: str, client: Client, addresses: Addresses, *, deadline: float = DEADLINE) -> None:
        """Raises ConfigError if the URL is none."""
        self._url, login = _read(url)
        self._headers = {"authorization": _basic(*login)} if login else {}
        self._client = client
        self._addresses = addresses
        self._deadline = deadline
        addresses.allow(urls.host(self._url))
        digest = hashlib.sha256(url.encode()).hexdigest()[:8]
        self._target = f"{urls.origin(self._url)}/… ({digest})"

    @property
    def target(self) -> str:
        """As in `Receiver`: scheme and host, and a digest that tells URLs of one host apart."""
        return self._target

    def __repr__(self) -> str:
        return f"Webhook({self._target})"

    async def tell(self, message: Message) -> None:
        """As in `Receiver`."""
        headers = {"idempotency-key": message.id, **self._headers}
        request = Request(self._url, method="POST", json=payload(message), headers=headers)
        config = ScraperConfig(timeout=self._deadline, first_byte=self._deadline, max_body=ENOUGH)
        way = Way(Identity(USER_AGENT), self._addresses, part=True)
        try:
            # Looking a name up takes time too.
            async with asyncio.timeout(self._deadline + 1):
                status = (await self._client.fetch(request, config, way)).status
        except TimeoutError:
            raise Undelivered(f"no complete answer within {self._deadline:g} s") from None
        except AddressRefused:
            raise Undelivered(
                "its name now leads to a private address, and did not when the service began: "
                "if that is right, start the service anew"
            ) from None
        except FetchError as error:
            # Not chained: what lies beneath may name the URL.
            raise Undelivered(self._without_secrets(str(error))) from None
        if not 200 <= status < 300:
            raise Undelivered(_refusal(status))

    def _without_secrets(self, sentence: str) -> str:
        path = self._url[len(urls.origin(self._url)) :]
        hidden = any(part and part != "/" and part in sentence for part in (self._url, path))
        return "the request could not be sent" if hidden else sentence


def payload(message: Message) -> dict[str, object]:
    """What is posted: `text` is what Slack and its kin show, the rest is for programs."""
    text = f"{message.title}\n{message.body}".strip().translate(_HARMLESS).replace("](", "] (")
    return {
        "text": text,
        "id": message.id,
        "kind": message.kind,
        "scraper": message.scraper,
        "run": message.run,
        "at": iso(message.at),
        "title": message.title,
        "body": message.body,
    }


def _read(url: str) -> tuple[str, tuple[str, str] | None]:
    try:
        return urls.with_login(url)
    except ConfigError:
        # The sentence of that one would show the URL.
        raise ConfigError("alert_webhooks has a text that is no URL: write it like https://hooks.example/x") from None


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _refusal(status: int) -> str:
    if 300 <= status < 400:
        return f"it answered with a redirect (status {status}), and none is followed: set the URL that it leads to"
    return f"it answered with status {status}"
