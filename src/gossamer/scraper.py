"""What an author writes."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import re
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar

from gossamer import declared, timetable
from gossamer.declared import Declared
from gossamer.errors import ConfigError, ReadError
from gossamer.parse.page import Page
from gossamer.pipeline import Pipeline
from gossamer.settings import ALIASES, ScraperConfig
from gossamer.values import PARSE, Request

_KNOBS = {field.name: field for field in dataclasses.fields(ScraperConfig)}
_NO_PARSE = "{} has no parse method: write one that yields items and Requests, or name a parser"


class Scraper:
    """Subclass, name start URLs, and yield items and Requests from `parse`.

    Any field of ScraperConfig may stand as a class attribute: `rate = "2/s"`. Handlers are plain or async
    generators that take a Page; they never touch the network.
    """

    #: How runs and items are filed; the class name in lower case unless given.
    name: ClassVar[str] = ""
    start_urls: ClassVar[Iterable[str]] = ()
    #: Sitemaps (or feeds) whose pages a run starts with; "auto": those of the start URLs' hosts, instead of them.
    start_sitemaps: Iterable[str] = ()
    #: The field, or fields, that tell one item from another. Without it, equal records are one item.
    key: ClassVar[str | tuple[str, ...] | None] = None
    #: The kind of items yielded as dicts.
    kind: ClassVar[str] = "item"
    #: Fields that do not make an item another one when they change, like the time it was fetched.
    volatile: ClassVar[str | tuple[str, ...]] = ()
    #: What records are held against: a msgspec Struct, a dataclass or a pydantic model; or a dict from kinds to those.
    item: ClassVar[Any] = None
    #: What records pass before that: functions from a record to a record. See `gossamer.steps`.
    steps: ClassVar[tuple[Any, ...]] = ()
    #: Knobs in one value, instead of as attributes.
    config: ClassVar[ScraperConfig | None] = None
    #: Walk a host's pages level by level, so that `page.depth` is exact whatever is retried or resumed.
    by_level: ClassVar[bool] = False
    #: What reads a page where there is no `parse`: the name of a parser ("article", "auto" ...), or a Parser.
    parser: ClassVar[Any] = None
    #: Rules to read a page with where there is no `parse`: fields, and where they stand.
    rules: ClassVar[Mapping[str, Any] | None] = None
    #: CSS selectors of the links to follow where there is no `parse`.
    follow: ClassVar[str | tuple[str, ...]] = ()
    #: Regular expressions: `gossamer run URL` runs the registered scraper one of whose patterns matches.
    matches: ClassVar[str | tuple[str, ...]] = ()
    #: The parameters it knows, and what each says: others are refused. Empty: whatever is given.
    takes: ClassVar[Mapping[str, str]] = {}
    #: Those of them that name files of this machine: nobody can give them over the network.
    local: ClassVar[tuple[str, ...]] = ()
    #: Why it should not run before somebody asks for it by name: its schedule begins paused. Empty: it may.
    paused: ClassVar[str] = ""
    #: How much time is between two runs under `gossamer serve`: "6h".
    every: ClassVar[str | float | None] = None
    #: Or when they begin, as crontab writes it: "0 6 * * mon-fri".
    cron: ClassVar[str | None] = None
    #: What the hours of `cron` mean.
    timezone: ClassVar[str] = "UTC"
    #: Each of these runs is put off by up to so long: "10m".
    jitter: ClassVar[str | float] = 0
    #: How long the first of them waits; as long as `every` unless given.
    first_delay: ClassVar[str | float | None] = None
    #: What becomes of those that were missed while no service was there: "coalesce" (one for all), "skip" or "all".
    misfire: ClassVar[str] = "coalesce"
    #: What becomes of one that comes due while the scraper is at work: "skip", or "queue".
    overlap: ClassVar[str] = "skip"
    #: Failed runs in a row after which the scraper backs off; None: never.
    pause_after: ClassVar[int | None] = timetable.PAUSE_AFTER
    #: How long there may be no new items before somebody is told: "2d".
    silence: ClassVar[str | float | None] = None

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        self.check_params(params or {})
        #: What `--param k=v` gave.
        self.params: dict[str, Any] = dict(params or {})
        #: Headers that are sent to the hosts the run starts at, kept in memory only; handlers may change them.
        self.secrets: dict[str, str] = {}
        if type(self).parse is Scraper.parse:
            self._declared  # noqa: B018 - a parser that cannot be loaded is told of now, not page by page

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
        if not re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", cls.name):
            raise ConfigError(
                f"{cls.__name__}.name = {cls.name!r} cannot be used: write small letters, digits, dots and dashes"
            )
        cls._refuse_misspelled()
        if cls.parse is Scraper.parse:
            declared.check(cls)
        Pipeline(cls)
        try:
            ScraperConfig(**cls.knobs())  # refuses a bad value when the class is made, not when it runs
            timetable.declared(cls)
        except ConfigError as why:
            raise ConfigError(f"{cls.__name__}.{why}") from None

    @classmethod
    def _refuse_misspelled(cls) -> None:
        """A knob misspelled by a letter would be ignored in silence, and a site treated as nobody meant."""
        for name, value in vars(cls).items():
            if name.startswith("_") or callable(value) or name in _KNOBS or hasattr(Scraper, name):
                continue
            known = [*_KNOBS, "start_urls", "start_sitemaps", *timetable.ON_SCRAPER]
            near = [ALIASES[name]] if name in ALIASES else difflib.get_close_matches(name, known, n=1, cutoff=0.86)
            if near:
                raise ConfigError(f"{cls.__name__}.{name} is no setting: did you mean {near[0]!r}?")

    @classmethod
    def knobs(cls) -> dict[str, Any]:
        """The knobs this scraper sets itself."""
        own: dict[str, Any] = {}
        if cls.config is not None:
            own = {name: getattr(cls.config, name) for name in _KNOBS if name in cls.config.given}
        own.update({name: getattr(cls, name) for name in _KNOBS if hasattr(cls, name)})
        return own

    @classmethod
    def check_params(cls, params: Mapping[str, Any]) -> None:
        """Raises ConfigError for a parameter that the scraper does not take."""
        for name in params if cls.takes else ():
            if name not in cls.takes:
                near = difflib.get_close_matches(str(name), cls.takes, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(cls.takes)}"
                raise ConfigError(f"{cls.name} has no parameter {str(name)[:80]!r}: {hint}")

    def start(self) -> Iterable[Request | str] | AsyncIterator[Request | str]:
        """What a run begins with: the start URLs, unless overridden. URLs or Requests."""
        if isinstance(self.start_urls, str):
            raise ConfigError(f"{type(self).__name__}.start_urls is one text: write a list of URLs")
        return self.start_urls

    def validate(self, page: Page) -> None:
        """Raise `Blocked` or `Retry` if a page that answered well is not the page: a captcha, a login wall."""

    def parse(self, page: Page) -> Any:
        """Read a page: yield items and Requests. By default as `parser`, `rules` and `follow` say."""
        if self._declared is None:
            raise ReadError(_NO_PARSE.format(type(self).__name__))
        return self._declared.read(page)

    @cached_property
    def _declared(self) -> Declared | None:
        """What reads a page instead of a `parse` method; None where the class names nothing."""
        return declared.of(type(self))

    def handler(self, name: str) -> Any:
        """The method that a Request's `to` names. Raises ReadError if there is none."""
        found = getattr(self, name, None)
        if name == PARSE and type(self).parse is Scraper.parse and self._declared is None:
            raise ReadError(_NO_PARSE.format(type(self).__name__))
        if found is None and type(self).parse is Scraper.parse and self._declared and self._declared.reads(name):
            return self.parse
        if name.startswith("_") or not callable(found):
            raise ReadError(f"{type(self).__name__} has no handler {name!r}")
        return found


async def each(yielded: Any) -> AsyncIterator[Any]:
    """Go through what a handler gave, whichever kind of function it is."""
    if inspect.isawaitable(yielded):
        yielded = await yielded
    if yielded is None:
        return
    if isinstance(yielded, AsyncIterator):
        async for value in yielded:
            yield value
    else:
        for value in as_iterable(yielded):
            yield value


def as_iterable(yielded: Any) -> Iterator[Any]:
    """What a plain handler gave, as an iterator; a single dict or Request counts as one yield."""
    if isinstance(yielded, Mapping | Request | str) or hasattr(yielded, "model_dump"):
        return iter((yielded,))
    try:
        return iter(yielded)
    except TypeError:
        return iter((yielded,))
