"""Which system a company's jobs are in: by the address of its board, or by what its own page shows and loads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from gossamer import Page
from gossamer.packs.jobs.ats.addresses import Address
from gossamer.packs.jobs.ats.amazon import Amazon
from gossamer.packs.jobs.ats.ashby import Ashby
from gossamer.packs.jobs.ats.bamboohr import BambooHR
from gossamer.packs.jobs.ats.base import Board, camel
from gossamer.packs.jobs.ats.eightfold import Eightfold
from gossamer.packs.jobs.ats.greenhouse import Greenhouse
from gossamer.packs.jobs.ats.icims import ICIMS
from gossamer.packs.jobs.ats.jibe import Jibe
from gossamer.packs.jobs.ats.jobvite import Jobvite
from gossamer.packs.jobs.ats.lever import Lever
from gossamer.packs.jobs.ats.neogov import NEOGOV
from gossamer.packs.jobs.ats.oracle import OracleHCM
from gossamer.packs.jobs.ats.peopleclick import PeopleClick
from gossamer.packs.jobs.ats.personio import Personio
from gossamer.packs.jobs.ats.phenom import Phenom
from gossamer.packs.jobs.ats.pinpoint import Pinpoint
from gossamer.packs.jobs.ats.recruitee import Recruitee
from gossamer.packs.jobs.ats.smartrecruiters import SmartRecruiters
from gossamer.packs.jobs.ats.successfactors import SuccessFactors
from gossamer.packs.jobs.ats.teamtailor import Teamtailor
from gossamer.packs.jobs.ats.workable import Workable
from gossamer.packs.jobs.ats.workday import Workday

__all__ = ["ADAPTERS", "Detected", "detect"]

#: Every adapter; of the systems that stand before others, those last.
ADAPTERS: Final[tuple[type[Board], ...]] = (
    Workday,
    Greenhouse,
    Lever,
    Ashby,
    OracleHCM,
    SmartRecruiters,
    Recruitee,
    Workable,
    Teamtailor,
    BambooHR,
    ICIMS,
    Jobvite,
    Personio,
    Pinpoint,
    NEOGOV,
    Amazon,
    PeopleClick,
    SuccessFactors,
    Eightfold,
    Jibe,
    Phenom,
)
#: Letters of a page in which addresses of boards are looked for, and how many are looked at.
_REACH: Final = 1_000_000
_MOST: Final = 3_000
_URLS: Final = re.compile(
    r"(?:https?:)?(?:\\?/){2}([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,6}(?:\\?/[^\s\"'<>)\\]{0,200}){0,8})"
)
#: Parts of a host that name no company.
_COMMON: Final = re.compile(
    r"www|jobs?|careers?|apply|boards|recruiting|hiring|work|com|net|org|co|io|ai|eu|uk|de|fa|ocs|wd\d+|career\d+|[a-z]{2}\d"
)


class Detected(msgspec.Struct, frozen=True):
    """The system that a company's jobs are in, and what its class has to say there."""

    adapter: type[Board]
    #: The attributes of the class: {"board": "acme"}.
    arguments: dict[str, Any]
    #: A name for the class.
    name: str

    @property
    def lines(self) -> str:
        """The class, as it stands in a file."""
        said = [f"    {name} = {_written(value)}" for name, value in self.arguments.items() if value or name != "board"]
        return "\n".join([f"class {self.name}({self.adapter.__name__}):", *(said or ["    pass"])])

    def __str__(self) -> str:
        return self.lines

    def scraper(self) -> type[Board]:
        """The class itself."""
        return type(self.name, (self.adapter,), dict(self.arguments))


def detect(given: str | Page) -> Detected | None:
    """The system that a careers page is in; None if it is none that is known. Nothing is asked of the network.

    >>> print(detect("https://boards.greenhouse.io/acme/jobs/4012"))
    class Acme(Greenhouse):
        board = "acme"
    """
    url = given if isinstance(given, str) else given.url
    found = _by_address(url)
    if found is None and not isinstance(given, str):
        found = _by_links(given) or _by_marks(given)
    return found


def _by_address(url: str) -> Detected | None:
    address = Address.of(url)
    if address is None:
        return None
    for adapter in ADAPTERS:
        said = adapter.known(address)
        if said is not None and _usable(adapter, said):
            return Detected(adapter, said, _named(said, address))
    return None


def _by_links(page: Page) -> Detected | None:
    """By the board that a page leads to most often: in links, frames and scripts."""
    counted: dict[str, tuple[int, Detected]] = {}
    for url in _urls(page):
        found = _by_address(url)
        if found is not None:
            times = counted.get(found.lines, (0, found))[0]
            counted[found.lines] = (times + 1, found)
    return max(counted.values(), key=lambda each: each[0])[1] if counted else None


def _urls(page: Page) -> Iterator[str]:
    for number, found in enumerate(_URLS.finditer(page.text[:_REACH])):
        if number >= _MOST:
            return
        yield "https://" + found[1].replace("\\/", "/")


def _by_marks(page: Page) -> Detected | None:
    address = Address.of(page.url)
    if address is None or not page.is_html:
        return None
    for adapter in ADAPTERS:
        said = adapter.marked(page)
        if said is not None and _usable(adapter, said):
            return Detected(adapter, said, _named(said, address))
    return None


def _usable(adapter: type[Board], said: dict[str, Any]) -> bool:
    """Whether a class of these words would work: pages link to pictures and scripts of the systems, too."""
    if not all(str(value).isprintable() and len(str(value)) <= 200 for value in said.values()):
        return False
    board = str(said.get("board", ""))
    return adapter is Amazon or (board != "" and not board.endswith((".js", ".css", ".png")))


def _named(said: dict[str, Any], address: Address) -> str:
    """A name for the class: of the board, or of the host that it is."""
    told = str(said.get("tenant") or said.get("board") or address.host)
    host, _, rest = told.partition("/")
    if "." not in host:
        return camel(re.sub(r"^(?:careers?|jobs|client)[-_]", "", told))
    words = [word for word in host.split(".") if not _COMMON.fullmatch(word)]
    systems = (
        "successfactors",
        "oraclecloud",
        "myworkdayjobs",
        "myworkdaysite",
        "eightfold",
        "icims",
        "sapsf",
        "personio",
    )
    own = [word for word in words if word not in systems]
    return camel(re.sub(r"^(?:careers?|jobs)-", "", own[0])) if own else camel(rest or host)


def _written(value: Any) -> str:
    return msgspec.json.encode(value).decode() if isinstance(value, str) else repr(value)
