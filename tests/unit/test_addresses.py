"""Which addresses may be connected to: every known way around the rule, and through a real fetch where one can be."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterable
from ipaddress import ip_address
from typing import Any

import pytest

from gossamer import urls
from gossamer.errors import AddressRefused, ConnectFailed
from gossamer.fetch import addresses
from gossamer.fetch.addresses import Addresses, Pinned, forbidden
from gossamer.fetch.agents import Identity
from gossamer.fetch.client import Client
from gossamer.fetch.lines import Line
from gossamer.fetch.proxies import Proxy
from gossamer.fetch.way import Way
from gossamer.settings import ScraperConfig
from gossamer.testing import Site
from gossamer.values import Request, Response
from tests.servers import HttpProxy, Socks5Proxy

PUBLIC = "93.184.215.14"


def resolve(host: str, *answers: Iterable[str], typed: bool = False, private: bool = False) -> list[str]:
    """Look a host up as often as there are answers, each lookup with the next of them; what came of the last."""
    left = iter(answers)

    async def main() -> list[str]:
        rules = Addresses(private=private, resolver=lambda name: next(left))
        if typed:
            rules.allow(host)
        for _ in answers or ("",):
            found = await rules.resolve(host)
            rules._answers.clear()
            rules._checked.clear()
        return [str(address) for address in found]

    return asyncio.run(main())


# -- kinds of addresses


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("0.0.0.0", "unspecified"),
        ("0.1.2.3", "unspecified"),
        ("10.0.0.1", "private"),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "shared"),
        ("100.127.255.255", "shared"),
        ("169.254.0.1", "link-local"),
        ("169.254.169.254", "cloud metadata"),
        ("169.254.170.2", "cloud metadata"),
        ("100.100.100.200", "cloud metadata"),
        ("168.63.129.16", "cloud metadata"),
        ("192.0.0.8", "reserved"),
        ("192.0.2.1", "documentation"),
        ("198.51.100.1", "documentation"),
        ("203.0.113.1", "documentation"),
        ("198.18.0.1", "benchmarking"),
        ("198.19.255.255", "benchmarking"),
        ("224.0.0.1", "multicast"),
        ("239.255.255.255", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "broadcast"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("fc00::1", "private"),
        ("fdff::1", "private"),
        ("fec0::1", "private"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("ff02::1", "multicast"),
        ("fd00:ec2::254", "cloud metadata"),
        ("2001:db8::1", "documentation"),
        ("3fff::1", "documentation"),
        ("2001:2::1", "benchmarking"),
        ("2001:10::1", "reserved"),
        ("100::1", "reserved"),
        ("4000::1", "reserved"),
    ],
)
def test_kinds_that_are_not_public(address: str, kind: str) -> None:
    assert forbidden(address) == kind
    assert forbidden(ip_address(address)) == kind


@pytest.mark.parametrize(
    ("address", "kind", "form"),
    [
        ("::ffff:127.0.0.1", "loopback", "IPv4-mapped 127.0.0.1"),
        ("::ffff:169.254.169.254", "cloud metadata", "IPv4-mapped 169.254.169.254"),
        ("::ffff:0:10.0.0.1", "private", "IPv4-translated 10.0.0.1"),
        ("::127.0.0.1", "loopback", "IPv4-compatible 127.0.0.1"),
        ("64:ff9b::7f00:1", "loopback", "NAT64 127.0.0.1"),
        ("64:ff9b::a9fe:a9fe", "cloud metadata", "NAT64 169.254.169.254"),
        ("2002:7f00:1::1", "loopback", "6to4 127.0.0.1"),
        ("2002:c0a8:101::", "private", "6to4 192.168.1.1"),
        ("2001:0:808:808::80ff:fffe", "loopback", "Teredo 127.0.0.1"),
        ("2001:0:a00:1::f7f7:f7f7", "private", "Teredo 10.0.0.1"),
        ("2606:4700::5efe:10.0.0.1", "private", "ISATAP 10.0.0.1"),
        ("2606:4700::200:5efe:10.0.0.1", "private", "ISATAP 10.0.0.1"),
    ],
)
def test_an_ipv4_address_is_found_in_whatever_it_is_wrapped(address: str, kind: str, form: str) -> None:
    assert forbidden(address) == f"{kind} ({form})"


def test_the_local_nat64_prefix_is_private_whatever_is_in_it() -> None:
    assert forbidden("64:ff9b:1::808:808") == "private"


@pytest.mark.parametrize(
    "address",
    [PUBLIC, "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"],
)
def test_public_addresses_are_public(address: str) -> None:
    assert forbidden(address) is None


# -- hosts


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "0x7f000001",
        "2130706433",
        "017700000001",
        "0177.0.0.1",
        "127.0.0.1.",
        "127.0.0.1:80",
        "１２７.０.０.１",
        "127。0。0。1",
        "%31%32%37.0.0.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:0:0:1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "me@127.0.0.1",
        "169.254.169.254",
        "0xa9fea9fe",
    ],
)
def test_no_spelling_of_an_address_gets_through(host: str) -> None:
    """All are brought to one spelling before anything is resolved."""
    url = urls.resolve(f"http://{host}/", "http://a.org/")
    assert url is not None
    with pytest.raises(AddressRefused):
        resolve(urls.host(url))


@pytest.mark.parametrize("name", ["localhost", "0x7f.1", "127.1", "2130706433"])
def test_what_the_system_takes_for_an_address_is_judged_by_its_answer(name: str) -> None:
    """Even spellings that nobody brought to one form."""
    with pytest.raises(AddressRefused):
        asyncio.run(Addresses().resolve(name))


def test_a_trailing_dot_hides_nothing() -> None:
    with pytest.raises(AddressRefused):
        resolve("localhost.", ["127.0.0.1"])


@pytest.mark.parametrize(
    "host", ["", "a.test@127.0.0.1", "a.test\\\\127.0.0.1", "a.test#", "a b", "a%00.test", "A.test", "é.test"]
)
def test_what_two_readers_could_take_for_two_hosts_is_none(host: str) -> None:
    with pytest.raises(AddressRefused, match="is no host"):
        resolve(host, [PUBLIC], private=True)


def test_one_private_answer_among_public_ones_is_refused() -> None:
    with pytest.raises(AddressRefused) as caught:
        resolve("mixed.test", [PUBLIC, "1.1.1.1", "10.0.0.7"])
    assert "mixed.test leads to 10.0.0.7" in str(caught.value)
    assert "(private)" in str(caught.value)
    assert "--allow-private" in str(caught.value)
    assert "allow_private = True" in str(caught.value)


def test_the_answer_behind_many_others_is_checked_too() -> None:
    many = [f"93.184.215.{n}" for n in range(1, 100)]
    with pytest.raises(AddressRefused):
        resolve("many.test", [*many, "127.0.0.1"])
    assert len(resolve("many.test", many)) == addresses.MOST_PINNED


def test_everything_is_allowed_where_private_addresses_are() -> None:
    assert resolve("x.test", ["10.0.0.7"], private=True) == ["10.0.0.7"]
    assert resolve("[::1]:80", private=True) == ["::1"]


def test_a_typed_host_is_allowed_on_its_port_only() -> None:
    async def main() -> None:
        rules = Addresses(resolver=lambda name: ["127.0.0.1"])
        rules.allow("127.0.0.1:8000")
        rules.allow("dev.test:8000")
        assert [str(each) for each in await rules.resolve("127.0.0.1:8000")] == ["127.0.0.1"]
        assert [str(each) for each in await rules.resolve("dev.test:8000")] == ["127.0.0.1"]
        for other in ("127.0.0.1:8001", "127.0.0.1", "dev.test:8001", "dev.test", "other.test:8000", "[::1]:8000"):
            with pytest.raises(AddressRefused):
                await rules.resolve(other)

    asyncio.run(main())


def test_a_typed_host_that_was_refused_before_is_allowed_from_then_on() -> None:
    async def main() -> None:
        rules = Addresses()
        with pytest.raises(AddressRefused):
            await rules.resolve("127.0.0.1:1")
        rules.allow("127.0.0.1:1")
        assert await rules.resolve("127.0.0.1:1")

    asyncio.run(main())


def test_the_first_answer_for_a_typed_host_decides() -> None:
    """A name that was public when it was typed may not become private: DNS rebinding."""
    assert resolve("dev.test", ["10.0.0.7"], [PUBLIC], ["10.0.0.7"], typed=True) == ["10.0.0.7"]
    for first, later in ((["93.184.215.14"], ["127.0.0.1"]), (["10.0.0.7"], ["10.0.0.8"]), ([PUBLIC], [PUBLIC, "::1"])):
        with pytest.raises(AddressRefused, match="did not when the run began"):
            resolve("dev.test", first, later, typed=True)


# -- lookups


def counting(answers: Callable[[str], list[str]]) -> tuple[Addresses, list[str]]:
    asked: list[str] = []

    def look(name: str) -> list[str]:
        asked.append(name)
        return answers(name)

    return Addresses(private=True, resolver=look, deadline=0.3), asked


def test_a_name_is_looked_up_once_for_all_who_ask() -> None:
    rules, asked = counting(lambda name: time.sleep(0.05) or ["127.0.0.1"])  # type: ignore[func-returns-value]

    async def main() -> None:
        found = await asyncio.gather(*(rules.resolve(f"a.test:{port}") for port in range(1, 20)))
        assert {each.text for each in found} == {"127.0.0.1"}
        assert rules.known("a.test:1") is await rules.resolve("a.test:1")

    asyncio.run(main())
    assert asked == ["a.test"]


def test_an_answer_is_believed_for_some_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rules, asked = counting(lambda name: ["127.0.0.1"])
    monkeypatch.setattr(addresses, "KEPT", 0.05)

    async def main() -> None:
        first = await rules.resolve("a.test")
        await rules.resolve("a.test")
        assert len(asked) == 1
        await asyncio.sleep(0.06)
        assert rules.known("a.test") is None
        assert await rules.resolve("a.test") is first
        assert len(asked) == 2

    asyncio.run(main())


def test_who_looked_a_name_up_need_not_do_it_again_at_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has waited for its turn meanwhile; another wait would let all leave together."""
    rules, asked = counting(lambda name: ["127.0.0.1"])
    monkeypatch.setattr(addresses, "KEPT", 0.1)
    site.page("/", "hi")

    async def main() -> None:
        host = f"a.test:{site.port}"
        await rules.resolve(host)
        await asyncio.sleep(0.12)
        assert rules.known(host) is None
        async with Client() as client:
            way = Way(Identity("t/1"), rules)
            await client.fetch(Request(f"http://{host}/"), ScraperConfig(), way)
            assert len(asked) == 1
            await asyncio.sleep(0.1)
            await client.fetch(Request(f"http://{host}/"), ScraperConfig(), way)
            assert len(asked) == 2

    asyncio.run(main())


def test_an_address_that_was_refused_later_is_not_used_any_longer() -> None:
    answers = iter([[PUBLIC], ["10.0.0.7"]])

    async def main() -> None:
        rules = Addresses(resolver=lambda name: next(answers))
        await rules.resolve("a.test")
        rules._answers.clear()
        rules._checked["a.test"] = (0.0, rules._checked["a.test"][1])
        with pytest.raises(AddressRefused):
            await rules.resolve("a.test")
        assert rules.pinned("a.test") is None

    asyncio.run(main())


def test_a_name_that_is_not_known_is_not_asked_for_at_once_again() -> None:
    rules, asked = counting(lambda name: [])

    async def main() -> None:
        for _ in range(3):
            with pytest.raises(ConnectFailed, match=r"the host name gone\.test is not known"):
                await rules.resolve("gone.test")

    asyncio.run(main())
    assert len(asked) == 1


def test_a_slow_name_has_a_deadline_and_holds_up_no_other() -> None:
    stop = threading.Event()

    def look(name: str) -> list[str]:
        if name.startswith("slow"):
            stop.wait(5)
        return ["127.0.0.1"]

    rules, asked = counting(look)

    async def main() -> None:
        began = time.monotonic()
        slow = [asyncio.create_task(rules.resolve(f"slow{n}.test")) for n in range(40)]
        await asyncio.sleep(0.05)
        assert (await rules.resolve("quick.test")).text == "127.0.0.1"
        assert time.monotonic() - began < 2
        for each in await asyncio.gather(*slow, return_exceptions=True):
            assert isinstance(each, ConnectFailed)
        assert time.monotonic() - began < 4
        assert "0.3 s" in str(each)

    asyncio.run(main())
    stop.set()
    assert len(asked) == 41


def test_lookups_wait_where_too_many_are_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "_free", threading.BoundedSemaphore(2))
    running: list[int] = [0, 0]

    def look(name: str) -> list[str]:
        running[0] += 1
        running[1] = max(running)
        time.sleep(0.02)
        running[0] -= 1
        return ["127.0.0.1"]

    async def main() -> None:
        rules = Addresses(private=True, resolver=look)
        await asyncio.gather(*(rules.resolve(f"n{n}.test") for n in range(10)))

    asyncio.run(main())
    assert running[1] == 2


def test_who_gives_up_waiting_does_not_end_the_lookup_of_others() -> None:
    rules, asked = counting(lambda name: time.sleep(0.1) or ["127.0.0.1"])  # type: ignore[func-returns-value]

    async def main() -> None:
        first = asyncio.create_task(rules.resolve("a.test"))
        other = asyncio.create_task(rules.resolve("a.test"))
        await asyncio.sleep(0.02)
        first.cancel()
        assert (await other).text == "127.0.0.1"

    asyncio.run(main())
    assert len(asked) == 1


def test_few_names_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "MOST_NAMES", 5)
    rules, _ = counting(lambda name: ["127.0.0.1"])

    async def main() -> None:
        for n in range(20):
            await rules.resolve(f"n{n}.test")
            await rules.resolve(f"127.0.0.{n + 1}")

    asyncio.run(main())
    assert len(rules._checked) == len(rules._answers) == 5


def test_one_set_of_rules_serves_two_event_loops() -> None:
    rules, asked = counting(lambda name: ["127.0.0.1"])
    rules._lookups["stale.test"] = asyncio.new_event_loop().create_future()  # type: ignore[assignment]
    rules._lookups["stale.test"].get_loop().close()
    assert asyncio.run(rules.resolve("stale.test")).text == "127.0.0.1"
    assert asked == ["stale.test"]


# -- through a real fetch


def fetch(url: str, rules: Addresses, **how: Any) -> Response:
    async def main() -> Response:
        async with Client() as client:
            return await client.fetch(Request(url), ScraperConfig(timeout=5), Way(Identity("t/1"), rules, **how))

    return asyncio.run(main())


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "evil.test"])
def test_a_private_site_gets_no_request(site: Site, host: str) -> None:
    site.page("/", "secret")
    rules = Addresses(resolver=lambda name: ["127.0.0.1"])
    with pytest.raises(AddressRefused):
        fetch(f"http://{host}:{site.port}/", rules)
    assert site.hits == []


def test_a_typed_site_is_fetched_and_its_neighbour_is_not(site: Site) -> None:
    site.page("/", "hi")
    rules = Addresses()
    rules.allow(site.authority)
    assert fetch(site.url("/"), rules).remote == "127.0.0.1"
    with Site() as other, pytest.raises(AddressRefused):
        fetch(other.url("/"), rules)


def test_the_connection_goes_to_the_address_that_was_checked(site: Site) -> None:
    """A name nobody else knows: whoever looked it up again would not find it."""
    site.page("/", "hi")
    rules = Addresses(private=True, resolver=lambda name: ["127.0.0.1"])
    for host in ("pinned.test", "pinned.test.", "localhost"):
        response = fetch(f"http://{host}:{site.port}/", rules)
        assert (response.body, response.remote) == (b"hi", "127.0.0.1")
        assert site.hits[-1].headers["host"] == f"{host}:{site.port}"


def test_a_name_that_changes_its_address_does_not_get_through(site: Site) -> None:
    """First to an allowed address, then to a private one: the second answer is never connected to."""
    site.page("/", "secret")
    answers = iter([[PUBLIC], ["127.0.0.1"], ["127.0.0.1"]])
    rules = Addresses(resolver=lambda name: next(answers))
    host = f"rebind.test:{site.port}"

    async def main() -> None:
        async with Client() as client:
            way = Way(Identity("t/1"), rules)
            assert (await rules.resolve(host)).text == PUBLIC
            line, pinned = await client._lines.to(f"http://{host}/", ScraperConfig(), way)
            assert pinned.text == PUBLIC
            rules._checked.clear()
            rules._answers.clear()
            with pytest.raises(AddressRefused):
                await client.fetch(Request(f"http://{host}/"), ScraperConfig(), way)
            # What was opened for the first answer still leads there, not to the second.
            again, _ = await client._lines.to(f"http://{host}/", ScraperConfig(), Way(Identity("t/1"), pin(PUBLIC)))
            assert again is line

    asyncio.run(main())
    assert site.hits == []


def pin(*answers: str) -> Addresses:
    return Addresses(resolver=lambda name: answers)


def test_a_typed_name_leads_to_its_first_address_or_nowhere(site: Site) -> None:
    """It was at one private address when it was typed: another one, behind the same name and port, is not meant."""
    site.page("/", "hi")
    with Site("127.0.0.2", site.port) as other:
        other.page("/", "secret")
        answers = iter([["127.0.0.1"], ["127.0.0.2"]])
        rules = Addresses(resolver=lambda name: next(answers))
        rules.allow(f"dev.test:{site.port}")
        assert fetch(f"http://dev.test:{site.port}/", rules).body == b"hi"
        rules._checked.clear()
        rules._answers.clear()
        with pytest.raises(AddressRefused):
            fetch(f"http://dev.test:{site.port}/", rules)
        assert other.hits == []


def test_an_address_that_was_not_checked_may_not_answer(site: Site) -> None:
    """The second lock: should a connection ever go elsewhere, its answer is thrown away."""
    site.page("/", "secret")

    class Elsewhere(Addresses):
        async def resolve(self, host: str) -> Pinned:
            return Pinned.of([ip_address(PUBLIC)])

        def pinned(self, host: str) -> Pinned | None:
            return None

    with pytest.raises(AddressRefused, match=r"127\.0\.0\.1 answered, which is not the address that was checked"):
        fetch(site.url("/"), Elsewhere())


def test_who_answered_is_remembered_within_bounds(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.fetch.lines.MOST_AGREED", 2)

    class Answer:
        def __init__(self, text: str) -> None:
            self.remote_addr = self
            self._text = text

        def ip(self) -> Any:
            return ip_address(self._text)

        def __str__(self) -> str:
            return f"{self._text}:80"

    line = Line(None)
    for n in range(1, 20):
        text = f"127.0.0.{n}"
        assert line.remote(Answer(text), Pinned.of([ip_address(text)])) == text
    assert len(line._agreed) <= 2


# -- through proxies


def test_a_proxy_is_not_asked_for_a_private_address(site: Site) -> None:
    site.page("/", "secret")
    with HttpProxy() as proxy:
        rules = Addresses(resolver=lambda name: ["10.0.0.7"])
        rules.allow(f"127.0.0.1:{proxy.port}")
        for host in (f"127.0.0.1:{site.port}", "[::1]", "intranet.test"):
            with pytest.raises(AddressRefused):
                fetch(f"http://{host}/", rules, proxy=Proxy(proxy.url))
        assert proxy.through == []


def test_a_proxy_at_a_private_address_must_be_allowed(site: Site) -> None:
    site.page("/", "hi")
    with HttpProxy(names={"shop.test:80": site.authority}) as proxy:
        rules = Addresses(resolver=lambda name: [PUBLIC])
        with pytest.raises(AddressRefused, match="the proxy 127"):
            fetch("http://shop.test/", rules, proxy=Proxy(proxy.url))
        rules.allow(f"127.0.0.1:{proxy.port}")
        response = fetch("http://shop.test/", rules, proxy=Proxy(proxy.url))
        assert (response.body, response.remote) == (b"hi", None)
        assert proxy.targets() == ["shop.test:80"]


@pytest.mark.parametrize("scheme", ["http", "socks5h"])
def test_a_name_that_only_the_proxy_knows_is_left_to_it(site: Site, scheme: str) -> None:
    site.page("/", "hi")
    names = {f"far.test:{site.port}": site.authority}
    with HttpProxy(names=names) if scheme == "http" else Socks5Proxy(names=names) as proxy:
        rules = Addresses(resolver=lambda name: [])
        rules.allow(f"127.0.0.1:{proxy.port}")
        way = Proxy(f"{scheme}://127.0.0.1:{proxy.port}")
        assert fetch(f"http://far.test:{site.port}/", rules, proxy=way).body == b"hi"
        assert proxy.through[0].by_name


def test_a_socks5_proxy_is_given_the_address_that_was_checked(site: Site) -> None:
    with Socks5Proxy(names={f"{PUBLIC}:{site.port}": site.authority}) as proxy:
        site.page("/", "hi")
        rules = Addresses(resolver=lambda name: [PUBLIC] if name == "shop.test" else [])
        rules.allow(f"127.0.0.1:{proxy.port}")
        assert fetch(f"http://shop.test:{site.port}/", rules, proxy=Proxy(proxy.url)).body == b"hi"
        assert proxy.targets() == [f"{PUBLIC}:{site.port}"]
        with pytest.raises(ConnectFailed, match="wants an address"):
            fetch(f"http://gone.test:{site.port}/", rules, proxy=Proxy(proxy.url))


def test_a_name_unknown_here_is_not_looked_up_for_every_request() -> None:
    rules, asked = counting(lambda name: [])

    async def main() -> None:
        for _ in range(3):
            assert await rules.known_here("far.test") is None
            rules._answers.clear()

    asyncio.run(main())
    assert asked == ["far.test"]


@pytest.mark.parametrize(
    "host", ["intranet", "metadata.google.internal", "printer.local", "a.localdomain:8080", "x.lan."]
)
def test_a_name_of_a_network_of_its_own_is_refused_though_only_a_proxy_knows_it(host: str) -> None:
    async def look(rules: Addresses) -> Pinned | None:
        return await rules.known_here(host)

    nobody = Addresses(resolver=lambda name: [])
    with pytest.raises(AddressRefused, match="a network of its own"):
        asyncio.run(look(nobody))
    assert asyncio.run(look(Addresses(private=True, resolver=lambda name: []))) is None
