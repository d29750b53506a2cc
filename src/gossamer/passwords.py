"""Passwords: which are taken, and how they are kept, which is as argon2id hashes that are slow to make on purpose."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from gossamer.errors import ConfigError, TooManyTries

if TYPE_CHECKING:
    from argon2 import PasswordHasher

T = TypeVar("T")

#: Letters of the shortest and the longest password.
SHORTEST = 10
LONGEST = 1_000
#: Different letters at least: "aaaaaaaaaa" is not a password.
VARIETY = 4
#: Hashes made at the same time: each takes 64 MB and a tenth of a second of every core.
AT_ONCE = 2
#: How many may wait for their turn before the next one is told to come back.
QUEUE = 20


def check(password: str, name: str) -> None:
    """Raises ConfigError, saying what a better password of this person would be like."""
    plain = unicodedata.normalize("NFC", password)
    if len(plain) < SHORTEST:
        raise ConfigError(f"the password is too short: take at least {SHORTEST} characters, a few words for example")
    if len(plain) > LONGEST:
        raise ConfigError(f"the password is too long: take at most {LONGEST:,} characters")
    if plain.casefold() == name.casefold():
        raise ConfigError("the password is the name: take another one")
    if len(set(plain)) < VARIETY:
        raise ConfigError("the password repeats the same characters: take a few words for example")


class Hasher:
    """Makes and compares hashes on threads, a few at a time, whoever asks for more."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0
        self._decoy: str | None = None

    async def hash(self, password: str) -> str:
        """What is kept of a password."""
        return await self._work(lambda: _argon().hash(_plain(password)))

    async def matches(self, hashed: str | None, password: str) -> bool:
        """Whether a hash was made from a password. Without a hash: no, which takes as long to say."""
        if self._decoy is None:
            # Made before anything is compared, so that the first stranger does not wait longer than a friend.
            self._decoy = await self.hash("nobody has this password")
        compared = self._decoy if hashed is None else hashed
        plain = _plain(password[: LONGEST + 1])  # longer ones match nothing
        same = await self._work(lambda: _same(compared, plain))
        return same and hashed is not None

    def outdated(self, hashed: str) -> bool:
        """Whether today a hash would be made in a slower way."""
        return _argon().check_needs_rehash(hashed)

    async def _work(self, do: Callable[[], T]) -> T:
        if self._waiting >= QUEUE:
            raise TooManyTries("many people log in at the moment", 2.0)
        self._waiting += 1
        try:
            async with self._turns:
                return await asyncio.to_thread(do)
        finally:
            self._waiting -= 1


def _same(hashed: str, plain: bytes) -> bool:
    from argon2.exceptions import InvalidHashError, VerificationError

    try:
        return _argon().verify(hashed, plain)
    except (VerificationError, InvalidHashError):
        return False


@cache
def _argon() -> PasswordHasher:
    try:
        from argon2 import PasswordHasher
    except ModuleNotFoundError:
        raise ConfigError("passwords need a library that is not there: pip install 'gossamer[service]'") from None
    return PasswordHasher()


def _plain(password: str) -> bytes:
    """The same bytes however a keyboard composes the letters."""
    return unicodedata.normalize("NFC", password).encode("utf-8", "surrogatepass")
