"""Who we say we are, in headers and in the TLS handshake: checked by a server that looks at both."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import ssl
import struct
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import wreq

from gossamer.errors import ConfigError
from gossamer.fetch.agents import Identity, Rotation, emulation_name, identities, platform_name
from gossamer.settings import USER_AGENT, ScraperConfig

BROWSERS = ("chrome", "edge", "firefox", "safari")
PLAYED = [each for name in BROWSERS for each in identities(ScraperConfig(identity=name)).choices]
CURRENT = identities(ScraperConfig(identity="random")).choices


# -- choosing ----------------------------------------------------------------------------------------------------


def test_we_are_honest_unless_told_otherwise() -> None:
    rotation = identities(ScraperConfig())
    assert {rotation.pick(None, n, f"h{n}.org") for n in range(9)} == {Identity(USER_AGENT)}
    named = identities(ScraperConfig(user_agent="research/1.0 (+https://example.org)"))
    assert named.pick("s", 0, "a.org") == Identity("research/1.0 (+https://example.org)")


def test_user_agents_take_turns_by_host_and_by_session() -> None:
    agents = tuple(f"agent-{n}" for n in range(10))
    rotation = identities(ScraperConfig(user_agents=agents), seed=7)
    hosts = [f"h{n}.org" for n in range(200)]
    used = {rotation.pick(None, 0, host).user_agent for host in hosts}
    assert used == set(agents)
    assert all(rotation.pick(None, 0, host) == rotation.pick(None, 0, host) for host in hosts)
    assert len({rotation.pick("ann", 0, host) for host in hosts}) == 1
    assert {each.browser for each in rotation.choices} == {None}


def test_after_a_block_another_one_is_used_until_all_were() -> None:
    rotation = Rotation([Identity(str(n)) for n in range(5)], seed=3)
    assert {rotation.pick("ann", n, "a.org").user_agent for n in range(5)} == set("01234")


def test_the_same_seed_gives_the_same_picks() -> None:
    config = ScraperConfig(identity="random")
    hosts = [f"h{n}.org" for n in range(50)]

    def picks(seed: int | None) -> list[Identity]:
        rotation = identities(config, seed)
        return [rotation.pick(None, 0, host) for host in hosts]

    assert picks(1) == picks(1)
    assert picks(1) != picks(2)
    assert picks(None) != picks(None), "without one, runs differ"


@pytest.mark.parametrize("name", BROWSERS)
def test_a_browser_is_the_newest_that_wreq_knows(name: str) -> None:
    rotation = identities(ScraperConfig(identity=name))
    first = rotation.pick(None, 0, "a.org")
    assert first == rotation.pick("ann", 0, "b.org"), "the same one for all"
    assert first.browser is not None
    assert emulation_name(name) == emulation_name(first.browser)
    assert platform_name(name) == platform_name(first.browser)
    versions = [
        tuple(map(int, found[1].split("_")))
        for each in dir(wreq.Profile)
        if (found := re.fullmatch(name.capitalize() + r"(\d+(?:_\d+)*)", each))
    ]
    newest = name.capitalize() + "_".join(map(str, max(versions)))
    assert emulation_name(first.browser) == newest


def test_random_browsers_are_current_ones_on_desktops() -> None:
    names = {emulation_name(each.browser or "") for each in CURRENT}
    assert {name.rstrip("0123456789_").lower() for name in names} == set(BROWSERS)
    assert len(names) == 2 * len(BROWSERS)
    assert {platform_name(each.browser or "") for each in CURRENT} == {"Windows", "MacOS", "Linux"}
    assert not any("Mobile" in each.user_agent for each in CURRENT)


def test_a_browser_with_another_user_agent_is_refused() -> None:
    with pytest.raises(ConfigError, match="leave one of them out"):
        identities(ScraperConfig(identity="chrome", user_agents=("a", "b")))


# -- a server that looks -----------------------------------------------------------------------------------------


@dataclass
class Hello:
    """What the first message of a TLS connection says."""

    ciphers: list[int]
    #: By number, in the order sent.
    extensions: dict[int, bytes]

    @classmethod
    def read(cls, record: bytes) -> Hello:
        """Read a TLS record with a ClientHello (RFC 8446, 4.1.2)."""
        assert record[0] == 22, "no handshake"
        assert record[5] == 1, "no ClientHello"
        at = 9 + 2 + 32
        at += 1 + record[at]
        length = int.from_bytes(record[at : at + 2], "big")
        ciphers = list(struct.unpack(f"!{length // 2}H", record[at + 2 : at + 2 + length]))
        at += 2 + length
        at += 1 + record[at] + 2
        extensions = {}
        while at < len(record):
            kind, size = struct.unpack("!HH", record[at : at + 4])
            extensions[kind] = record[at + 4 : at + 4 + size]
            at += 4 + size
        return cls(ciphers, extensions)

    @property
    def alpn(self) -> list[bytes]:
        """The protocols offered."""
        data, found = self.extensions.get(16, b"\0\0")[2:], []
        while data:
            found.append(data[1 : 1 + data[0]])
            data = data[1 + data[0] :]
        return found

    @property
    def groups(self) -> list[int]:
        """The groups offered for the key exchange."""
        data = self.extensions[10][2:]
        return list(struct.unpack(f"!{len(data) // 2}H", data))

    @property
    def greased(self) -> bool:
        """Whether it offers numbers that mean nothing, as Chrome does (RFC 8701)."""
        return any(map(_grease, self.ciphers)) and any(map(_grease, self.extensions))

    @property
    def print(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[bytes, ...]]:
        """As JA4 does: what is offered, sorted, for browsers shuffle it; without what means nothing."""
        return (
            tuple(sorted(n for n in self.ciphers if not _grease(n))),
            tuple(sorted(n for n in self.extensions if not _grease(n) and n not in (0, 21, 41))),
            tuple(n for n in self.groups if not _grease(n)),
            tuple(self.alpn),
        )


def _grease(number: int) -> bool:
    return number & 0x0F0F == 0x0A0A and number >> 8 == number & 0xFF


@dataclass
class Looker:
    """A local TLS server: what it saw of each connection."""

    port: int
    hellos: list[Hello] = field(default_factory=list)
    heads: list[dict[str, str]] = field(default_factory=list)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 and its key, in one file."""
    path = tmp_path_factory.mktemp("tls") / "both.pem"
    made = f"""openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost
        -addext subjectAltName=IP:127.0.0.1 -keyout {path} -out {path.with_suffix(".crt")}"""
    subprocess.run(made.split(), check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + path.with_suffix(".crt").read_bytes())
    return path


@pytest.fixture
def looker(certificate: Path) -> Iterator[Looker]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.set_alpn_protocols(["http/1.1"])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        seen = Looker(listener.getsockname()[1])
        thread = threading.Thread(target=_look, args=(listener, context, seen))
        thread.start()
        yield seen
        # Closing alone would leave a thread that waits in accept() waiting.
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def _look(listener: socket.socket, context: ssl.SSLContext, seen: Looker) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection, contextlib.suppress(OSError):
            connection.settimeout(5)
            record = b""
            while len(record) < 5 or len(record) < 5 + int.from_bytes(record[3:5], "big"):
                record = connection.recv(1 << 16, socket.MSG_PEEK)
            seen.hellos.append(Hello.read(record[: 5 + int.from_bytes(record[3:5], "big")]))
            with context.wrap_socket(connection, server_side=True) as stream:
                head = b""
                while b"\r\n\r\n" not in head:
                    head += stream.recv(1 << 16)
                lines = head.decode("latin-1").split("\r\n")[1:-2]
                seen.heads.append(dict(line.split(": ", 1) for line in lines))
                stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")


def ask(looker: Looker, identity: Identity) -> tuple[Hello, dict[str, str]]:
    """One request as the client sends it: what the server saw."""
    how = {}
    headers = {}
    if identity.browser is None:
        headers["user-agent"] = identity.user_agent
    else:
        how["emulation"] = wreq.Emulation(
            profile=getattr(wreq.Profile, emulation_name(identity.browser)),
            platform=getattr(wreq.Platform, platform_name(identity.browser)),
        )

    async def go() -> None:
        client = wreq.Client(tls_verify=False, no_proxy=True, **how)
        answer = await client.get(f"https://127.0.0.1:{looker.port}/", headers=headers)
        assert bytes(await answer.bytes()) == b"ok"
        client.close()

    asyncio.run(go())
    return looker.hellos[-1], looker.heads[-1]


@pytest.mark.parametrize("identity", CURRENT, ids=lambda each: each.browser)
def test_the_user_agent_is_the_one_that_wreq_sends(looker: Looker, identity: Identity) -> None:
    _, head = ask(looker, identity)
    assert head["user-agent"] == identity.user_agent


@pytest.mark.parametrize("identity", PLAYED, ids=lambda each: each.browser)
def test_headers_and_profile_say_the_same_browser_version_and_system(looker: Looker, identity: Identity) -> None:
    hello, head = ask(looker, identity)
    assert identity.browser is not None
    name = emulation_name(identity.browser)
    browser, version = name.rstrip("0123456789_"), re.sub("^[A-Za-z]+", "", name)
    word = {"Chrome": "Chrome", "Edge": "Edg", "Firefox": "Firefox", "Safari": "Version"}[browser]
    assert f"{word}/{version.replace('_', '.')}" in head["user-agent"]
    assert hello.alpn == [b"h2", b"http/1.1"]
    if browser in ("Chrome", "Edge"):
        brand = {"Chrome": "Google Chrome", "Edge": "Microsoft Edge"}[browser]
        assert f'"{brand}";v="{version}"' in head["sec-ch-ua"]
        assert f'"Chromium";v="{version}"' in head["sec-ch-ua"]
        system = platform_name(identity.browser)
        assert head["sec-ch-ua-platform"] == f'"{system.replace("MacOS", "macOS")}"'
        assert head["sec-ch-ua-mobile"] == "?0"
    else:
        assert "sec-ch-ua" not in head, "only Chromium sends it"


def test_each_browser_shakes_hands_in_its_own_way_and_none_in_ours(looker: Looker) -> None:
    ours, head = ask(looker, Identity(USER_AGENT))
    assert head["user-agent"] == USER_AGENT
    assert "sec-ch-ua" not in head
    prints = {"ours": ours.print}
    hellos = {}
    for name in BROWSERS:
        hellos[name], _ = ask(looker, identities(ScraperConfig(identity=name)).pick(None, 0, "a.org"))
        prints[name] = hellos[name].print
    assert len({prints[name] for name in ("ours", "chrome", "firefox", "safari")}) == 4
    assert prints["edge"] != prints["ours"]
    assert hellos["chrome"].greased
    assert hellos["safari"].greased
    assert not hellos["firefox"].greased
    assert not ours.greased


def test_chrome_shuffles_its_extensions_and_stays_the_same(looker: Looker) -> None:
    chrome = identities(ScraperConfig(identity="chrome")).pick(None, 0, "a.org")
    hellos = [ask(looker, chrome)[0] for _ in range(4)]
    assert len({hello.print for hello in hellos}) == 1
    assert len({tuple(hello.extensions) for hello in hellos}) > 1
