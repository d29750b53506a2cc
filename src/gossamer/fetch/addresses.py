"""Which addresses may be connected to. Names are resolved here, checked, and pinned for the connection.

A site can name any address: in a link, a redirect, a DNS answer that is another one a moment later. So a name is
looked up once, all its answers are checked, and whoever connects connects to those answers and looks up nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import threading
import time
from collections.abc import Callable, Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address
from math import inf
from typing import TypeAlias, TypeVar

from gossamer.errors import AddressRefused, ConnectFailed

Address = IPv4Address | IPv6Address
#: Looks a name up, in a thread of its own: its addresses, or an OSError.
Resolver = Callable[[str], Iterable[str]]

#: Seconds that a lookup may take.
DEADLINE = 10.0
#: Seconds that an answer is kept, and a failure.
KEPT = 300.0
FAILURE_KEPT = 5.0
#: Names that are kept, and lookups at the same time.
MOST_NAMES = 10_000
MOST_LOOKUPS = 256
#: Of the answers for one name, so many are tried; all are checked.
MOST_PINNED = 16

#: What every reader of URLs takes for the same host: with other letters in it, wreq might see another one.
_HOST = re.compile(r"(?:[a-z0-9._~!$&'()*+,;=-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?")

V = TypeVar("V")
#: Until when we believe it, and the addresses; none if the name is not known.
_Answer: TypeAlias = tuple[float, tuple[Address, ...]]


class Pinned(tuple[Address, ...]):
    """The checked addresses of one host, in the order to try them."""

    #: The name they were found for; empty where the host is itself an address.
    name: str
    #: All of them in one line.
    text: str
    #: Equal for the same name at the same addresses.
    key: tuple[str, str]

    @classmethod
    def of(cls, addresses: Iterable[Address], name: str = "") -> Pinned:
        """Pin a name to addresses."""
        made = cls(addresses)
        made.name, made.text = name, " ".join(map(str, made))
        made.key = (name, made.text)
        return made


class Addresses:
    """The rules of one run: public addresses, and what its user typed himself."""

    def __init__(self, *, private: bool = False, resolver: Resolver | None = None, deadline: float = DEADLINE) -> None:
        """With `private`, every address may be connected to."""
        self.private = private
        self._resolver = resolver or system_resolver
        self._deadline = deadline
        #: Hosts that were typed, and the addresses, private ones too, of their first answer; None: not asked yet.
        self._typed: dict[str, frozenset[Address] | None] = {}
        #: By host with its port: until when, and what may be connected to.
        self._checked: dict[str, tuple[float, Pinned]] = {}
        self._answers: dict[str, _Answer] = {}
        #: Until when a host counts as one that only proxies know.
        self._elsewhere: dict[str, float] = {}
        self._lookups: dict[str, asyncio.Task[_Answer]] = {}

    def allow(self, host: str) -> None:
        """A host (with its port, if the URL has one) that the user typed: it may be at a private address.

        Its first answer decides: what is private and not in there is refused later, whoever changed the answer.
        """
        if self._typed.setdefault(host, None) is None:
            self._checked.pop(host, None)

    def known(self, host: str) -> Pinned | None:
        """The checked addresses of a host, if no lookup is needed."""
        found = self._checked.get(host)
        return found[1] if found is not None and found[0] > time.monotonic() else None

    def pinned(self, host: str) -> Pinned | None:
        """The same, also if it is no longer quite fresh: for a request that looked it up before it waited its turn.

        An address that was checked is as good as before; were it looked up now, all that wait for it would leave
        together.
        """
        found = self._checked.get(host)
        return found[1] if found is not None and found[0] + KEPT > time.monotonic() else None

    async def resolve(self, host: str) -> Pinned:
        """The checked addresses of a host (with its port, if the URL has one), to connect to and to no other.

        Raises AddressRefused, or ConnectFailed if the name is not known.
        """
        found = self.known(host)
        if found is not None:
            return found
        if not _HOST.fullmatch(host):
            raise AddressRefused(f"{host[:200]!r} is no host that can be connected to")
        name = _name(host)
        literal = _literal(name)
        until, answers = await self._answer(name) if literal is None else (inf, (literal,))
        self._check(host, answers)
        pinned = Pinned.of(answers[:MOST_PINNED], name if literal is None else "")
        before = self._checked.get(host)
        if before is not None and set(before[1]) == set(pinned):
            pinned = before[1]  # the same in another order is no reason for new connections
        _keep(self._checked, host, (until, pinned))
        return pinned

    async def known_here(self, host: str) -> Pinned | None:
        """As `resolve`, for a host that a proxy will connect to: None if only the proxy may know it.

        That is remembered: where no name can be looked up, not every request shall wait for it.
        """
        if self._elsewhere.get(host, 0.0) > time.monotonic():
            return None
        try:
            return await self.resolve(host)
        except ConnectFailed:
            if not self.private and host not in self._typed and _is_inside(_name(host)):
                raise AddressRefused(
                    f"{host} is a name of a network of its own, which a proxy may lead into: "
                    "give --allow-private or set allow_private = True"
                ) from None
            _keep(self._elsewhere, host, time.monotonic() + KEPT)
            return None

    def _check(self, host: str, answers: tuple[Address, ...]) -> None:
        """Raises AddressRefused if any of the answers may not be connected to."""
        if self.private:
            return
        refused = [(address, kind) for address in answers if (kind := forbidden(address))]
        if host in self._typed:
            first = self._typed[host]
            if first is None:
                first = self._typed[host] = frozenset(address for address, _ in refused)
            refused = [each for each in refused if each[0] not in first]
        if refused:
            self._checked.pop(host, None)
            raise AddressRefused(_refusal(host, *refused[0], changed=host in self._typed))

    async def _answer(self, name: str) -> _Answer:
        """What a name stands for, and until when we believe it."""
        kept = self._answers.get(name)
        if kept is None or kept[0] <= time.monotonic():
            try:
                async with asyncio.timeout(self._deadline):
                    kept = await asyncio.shield(self._lookup(name))
            except TimeoutError:
                raise ConnectFailed(
                    f"no connection: the name {name} was not found within {self._deadline:g} s"
                ) from None
        if not kept[1]:
            raise ConnectFailed(f"no connection: the host name {name} is not known")
        return kept

    def _lookup(self, name: str) -> asyncio.Task[_Answer]:
        """The lookup of a name: whoever wants to know it meanwhile waits for the same one."""
        task = self._lookups.get(name)
        if task is None or task.get_loop() is not asyncio.get_running_loop():
            task = self._lookups[name] = asyncio.create_task(self._ask(name), name=f"lookup {name}")
        return task

    async def _ask(self, name: str) -> _Answer:
        try:
            answers = await _in_thread(self._resolver, name)
            kept = time.monotonic() + (KEPT if answers else FAILURE_KEPT), answers
            _keep(self._answers, name, kept)
            return kept
        finally:
            self._lookups.pop(name, None)


def _refusal(host: str, address: Address, kind: str, *, changed: bool) -> str:
    """Why a host may not be connected to, and what to do about it."""
    allow = "give --allow-private or set allow_private = True"
    if changed:
        return f"{host} now leads to {address} ({kind}), and did not when the run began: if that is right, {allow}"
    leads = "is not a public address" if _literal(_name(host)) else f"leads to {address}, which is not a public address"
    return f"{host} {leads} ({kind}): start there, {allow} to fetch it all the same"


def system_resolver(name: str) -> list[str]:
    """What the machine itself would connect to: its hosts file, its DNS servers."""
    try:
        # As bytes: Python's own encoding of names refuses some that exist.
        found = socket.getaddrinfo(name.encode(), None, type=socket.SOCK_STREAM)
    except OSError:
        if name.rstrip(".").rpartition(".")[2] != "localhost":
            raise
        return ["127.0.0.1", "::1"]  # RFC 6761, 6.3: as browsers do, whether or not the machine knows
    return [str(each[4][0]) for each in found]


#: Names that no public DNS knows: whoever answers to them is inside somebody's network.
_INSIDE = (".internal", ".local", ".localdomain", ".localhost", ".lan", ".home", ".corp", ".intranet", ".home.arpa")


def forbidden_host(name: str) -> str | None:
    """The kind of a host that is not public, as far as that can be told without asking anybody."""
    literal = _literal(name)
    if literal is not None:
        kind = forbidden(literal)
        return None if kind is None else f"an address that is not public ({kind})"
    return "a name that only private networks know" if _is_inside(name) else None


def _is_inside(name: str) -> bool:
    bare = name.rstrip(".").lower()
    return "." not in bare or bare.endswith(_INSIDE)


def _name(host: str) -> str:
    """A host without its port."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def _literal(name: str) -> Address | None:
    """The address that a host is, if it is one. All other spellings are brought to this by `urls.resolve`."""
    with contextlib.suppress(ValueError):
        return IPv6Address(name[1:-1]) if name.startswith("[") else IPv4Address(name)
    return None


def _keep(kept: dict[str, V], key: str, value: V) -> None:
    """Remember, and forget the oldest where it is too many."""
    kept.pop(key, None)
    kept[key] = value
    if len(kept) > MOST_NAMES:
        del kept[next(iter(kept))]


_free = threading.BoundedSemaphore(MOST_LOOKUPS)


async def _in_thread(resolver: Resolver, name: str) -> tuple[Address, ...]:
    """All answers for a name; none if it is not known.

    Each lookup has a thread of its own: a pool of them would stand still with its slowest names, and the end of
    the program would wait for those.
    """
    while not _free.acquire(blocking=False):  # noqa: ASYNC110 - threads let go of it
        await asyncio.sleep(0.02)
    loop = asyncio.get_running_loop()
    told: asyncio.Future[tuple[Address, ...]] = loop.create_future()

    def tell(answers: tuple[Address, ...]) -> None:
        if not told.done():
            told.set_result(answers)

    def work() -> None:
        answers: tuple[Address, ...] = ()
        try:
            with contextlib.suppress(OSError, ValueError):
                answers = tuple(dict.fromkeys(ip_address(text) for text in resolver(name)))
        finally:
            _free.release()
            with contextlib.suppress(RuntimeError):  # nobody waits any longer
                loop.call_soon_threadsafe(tell, answers)

    threading.Thread(target=work, name=f"lookup {name}", daemon=True).start()
    return await told


# -- what is not public ----------------------------------------------------------------------------------------


def _table(*rows: tuple[str, str]) -> tuple[tuple[int, int, str], ...]:
    """Networks as (first address, bits that differ, kind)."""
    read = []
    for kind, networks in rows:
        for network in networks.split():
            first, _, length = network.partition("/")
            address = ip_address(first)
            read.append((int(address), address.max_prefixlen - int(length or address.max_prefixlen), kind))
    return tuple((first >> free, free, kind) for first, free, kind in read)


# The special-purpose registries of IANA, and where clouds tell machines their secrets.
_V4 = _table(
    ("cloud metadata", "169.254.169.254 169.254.170.2 169.254.170.23 100.100.100.200 192.0.0.192 168.63.129.16"),
    ("broadcast", "255.255.255.255"),
    ("unspecified", "0.0.0.0/8"),
    ("loopback", "127.0.0.0/8"),
    ("private", "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16"),
    ("link-local", "169.254.0.0/16"),
    ("shared", "100.64.0.0/10"),
    ("benchmarking", "198.18.0.0/15"),
    ("documentation", "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24"),
    ("multicast", "224.0.0.0/4"),
    ("reserved", "192.0.0.0/24 192.88.99.0/24 240.0.0.0/4"),
)
_V6 = _table(
    ("cloud metadata", "fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fe80::a9fe:a9fe"),
    ("unspecified", "::"),
    ("loopback", "::1"),
    ("private", "fc00::/7 fec0::/10 64:ff9b:1::/48"),
    ("link-local", "fe80::/10"),
    ("multicast", "ff00::/8"),
    ("benchmarking", "2001:2::/48"),
    ("documentation", "2001:db8::/32 3fff::/20"),
)
# Of 2001::/23, which is reserved, Teredo is judged by the addresses inside.
_V6_RESERVED = _table(("reserved", "2001::/23"))
_WORD = 0xFFFFFFFF


def forbidden(address: Address | str) -> str | None:
    """The kind of an address that is not public: "loopback", "private" ...; None for a public one.

    An IPv6 address that stands for an IPv4 one is judged by that, whichever way it is written into it.

    >>> forbidden("::ffff:10.0.0.1")
    'private (IPv4-mapped 10.0.0.1)'
    >>> forbidden("8.8.8.8") is None
    True
    """
    address = ip_address(address) if isinstance(address, str) else address
    number = int(address)
    if address.version == 4:
        return _kind(number, _V4)
    found = _kind(number, _V6)
    if found is not None:
        return found
    inside = list(_inside(number))
    for form, part in inside:
        kind = _kind(part, _V4)
        if kind is not None:
            return f"{kind} ({form} {IPv4Address(part)})"
    if any(form in ("IPv4-mapped", "NAT64", "Teredo") for form, _ in inside):
        return None
    return _kind(number, _V6_RESERVED) or (None if number >> 125 == 1 else "reserved")


def _kind(number: int, table: tuple[tuple[int, int, str], ...]) -> str | None:
    for first, free, kind in table:
        if number >> free == first:
            return kind
    return None


def _inside(number: int) -> Iterable[tuple[str, int]]:
    """The IPv4 addresses written into an IPv6 address, and how."""
    top, low = number >> 32, number & _WORD
    if top == 0xFFFF:
        yield "IPv4-mapped", low
    elif top == 0xFFFF << 16:
        yield "IPv4-translated", low
    elif top == 0:
        yield "IPv4-compatible", low
    elif top == 0x64FF9B << 64:
        yield "NAT64", low
    elif number >> 112 == 0x2002:
        yield "6to4", number >> 80 & _WORD
    elif number >> 96 == 0x20010000:
        yield "Teredo", low ^ _WORD
        yield "Teredo", number >> 64 & _WORD
    if top & _WORD in (0x5EFE, 0x02005EFE):
        yield "ISATAP", low
