"""One name for each company: a table from the ways it is written to the name it is filed by.

A small table ships with the pack. Yours, `companies.toml` in the folder you work in, goes over it:

    [[company]]
    name = "Signature Aviation"
    also = ["Signature Flight Support LLC"]
    operation = "business"
    country = "US"
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec

from gossamer import ConfigError, Item, Scraper
from gossamer.packs.jobs.company_table import Entry, load
from gossamer.packs.jobs.model import Company, Job
from gossamer.packs.jobs.operations import operation_type
from gossamer.packs.jobs.places import named

__all__ = ["BUILT_IN", "DEFAULT", "Book", "book_of", "key_of", "proposed", "to_review"]

#: The table of one's own, where no other is named.
DEFAULT: Final = "companies.toml"
#: Letters of a name.
_LONGEST: Final = 200

#: Words after a name that say only in which form of law a company is kept.
_LEGAL: Final = re.compile(
    r"[\s,]+(?:(?:private|pvt|pte|pty|public|co|holding|holdings|group|international)\.?[\s,]+){0,2}"
    r"(?:llc|l\.l\.c|llp|lp|inc|incorporated|ltd|limited|corp|corporation|company|co|plc|gmbh(?:\s?&\s?co\.?\s?kg(?:aa)?)?|mbh"
    r"|ag|kg|se|s\.?a\.?s\.?u?|s\.?a|s\.?à?\.?r\.?l|sàrl|s\.?r\.?l|s\.?p\.?a|b\.?v|n\.?v|a\.?b|a\.?s|a/s|aps|oyj?|asa"
    r"|sdn\.?\s?bhd|bhd|k\.?k|kft|zrt|d\.?o\.?o|sp\.?\s?z\s?o\.?\s?o|s\.?r\.?o|a\.?d|jsc|pjsc|ojsc|w\.?l\.?l|fz-?llc|fze"
    r"|fzco|dmcc|l\.?t\.?d\.?a|ltda|s\.?l|s\.?l\.?u|eireli|pte|pty|pvt)\.?$",
    re.IGNORECASE,
)
_BRACKETS: Final = re.compile(r"\s*[(\[][^()\[\]]{0,60}[)\]]\s*$")
_WORDS: Final = re.compile(r"[^\W_]+")
#: Short words that stand in the names of airlines: no short names themselves.
_SHORT_WORDS: Final = frozenset(
    ("air", "jet", "sky", "fly", "sun", "sea", "bay", "new", "big", "one", "the", "and", "for", "of", "in", "to", "go")
)
_UNKNOWN: Final = frozenset(
    {
        "unknown",
        "confidential",
        "n a",
        "na",
        "none",
        "not specified",
        "various",
        "undisclosed",
        "company",
        "hidden",
        "private",
    }
)


class Book:
    """What is known of companies, by every way their names are written."""

    def __init__(self, entries: Iterable[Entry] = ()) -> None:
        self._known: dict[str, Entry] = {}
        for entry in entries:
            self._add(entry)

    def _add(self, entry: Entry) -> None:
        before = self._known.get(key_of(entry.name) or "")
        if before is not None and before.name == entry.name:  # told in two places: the later one says more
            operation, country = entry.operation or before.operation, entry.country or before.country
            also = tuple(dict.fromkeys((*before.also, *entry.also)))
            entry = Entry(entry.name, also, operation, country)
        for written in (*entry.also, entry.name):
            if key := key_of(written):
                self._known[key] = entry

    def find(self, written: Any) -> Entry | None:
        """The company that is written so; None if nobody has said which it is."""
        key = key_of(written)
        return self._known.get(key) if key else None

    def entries(self) -> list[Entry]:
        """The companies, each once, by name."""
        return sorted({id(entry): entry for entry in self._known.values()}.values(), key=lambda entry: entry.name)


# -- names -------------------------------------------------------------------------------------------------------


def key_of(written: Any) -> str | None:
    """What two spellings of one company have in common: small letters, no legal form, no punctuation.

    >>> key_of("Skyharbour  Jets, L.L.C."), key_of("SKYHARBOUR JETS")
    ('skyharbour jets', 'skyharbour jets')
    """
    name = _bare(written)
    if name is None:
        return None
    plain = unicodedata.normalize("NFKD", name.casefold().replace("&", " and ").replace("ß", "ss"))
    words = _WORDS.findall("".join(letter for letter in plain if not unicodedata.combining(letter)))
    words = words[1:] if len(words) > 1 and words[0] == "the" else words
    key = " ".join(words)
    return None if not key or key in _UNKNOWN else key


def proposed(written: Any) -> str | None:
    """The name to file a company by, as long as nobody has said another: tidy, and not shouting.

    >>> proposed("  NORDLICHT AIR CARGO GMBH "), proposed("KLM")
    ('Nordlicht Air Cargo', 'KLM')
    """
    name = _bare(written)
    if name is None or key_of(name) is None:
        return None
    if not (name.isupper() or name.islower()) or len(name) <= 4:
        return name
    return " ".join(word if _is_short_name(word) else word[:1].upper() + word[1:].lower() for word in name.split())


def _is_short_name(word: str) -> bool:
    """Whether capitals are no shouting: DHL, KLM."""
    return word.isupper() and len(word) <= 3 and word.lower() not in _SHORT_WORDS


def _bare(written: Any) -> str | None:
    """A name without white space around it, remarks behind it, and its legal form."""
    if not isinstance(written, str):
        return None
    name = " ".join(written[: 2 * _LONGEST].split())[:_LONGEST].strip(" ,;-–|*")
    name = _BRACKETS.sub("", name) or name
    for _ in range(2):  # "... Co., Ltd."
        shorter = _LEGAL.sub("", name).strip(" ,;-–")
        name = shorter or name
    return name or None


# -- tables ------------------------------------------------------------------------------------------------------


#: What ships with the pack: the companies whose boards it reads, and a few that others' boards write in many ways.
BUILT_IN: Final = (
    Entry(
        "Signature Aviation",
        ("Signature Flight Support", "Signature Flight Support Corporation", "Signature FBO"),
        "business",
        "US",
    ),
    Entry("IndiGo", ("InterGlobe Aviation", "IndiGo Airlines"), "low_cost", "IN"),
    Entry("Air India", ("Air India Limited", "AirIndia", "Tata Air India"), "passenger", "IN"),
    Entry("Cargolux", ("Cargolux Airlines International", "Cargolux Airlines"), "cargo", "LU"),
    Entry("AAP Aviation", ("AAP Aviation Group", "AAP Aviation AS"), None, "NO"),
    Entry("Air India Express", ("Air India Express Limited", "AIX Connect"), "low_cost", "IN"),
    Entry("DHL Aviation", ("DHL Air", "DHL Air UK", "European Air Transport Leipzig"), "cargo", None),
    Entry("FedEx Express", ("Federal Express", "FedEx"), "cargo", "US"),
    Entry("UPS Airlines", ("United Parcel Service Airlines", "UPS Air"), "cargo", "US"),
    Entry("NetJets", ("NetJets Aviation", "NetJets Europe", "NetJets Transportes Aereos"), "business", None),
    Entry("VistaJet", ("Vista Jet", "VistaJet Malta"), "business", "MT"),
    Entry("Emirates", ("Emirates Airline", "The Emirates Group"), "passenger", "AE"),
    Entry("Etihad Airways", ("Etihad", "Etihad Aviation Group"), "passenger", "AE"),
    Entry("Qatar Airways", ("Qatar Airways Group",), "passenger", "QA"),
    Entry("Lufthansa", ("Deutsche Lufthansa", "Lufthansa Group"), "scheduled", "DE"),
    Entry("British Airways", ("BA CityFlyer", "British Airways plc"), "scheduled", "GB"),
    Entry("easyJet", ("easyJet Airline Company", "easyJet UK", "easyJet Europe"), "low_cost", "GB"),
    Entry("Ryanair", ("Ryanair DAC", "Ryanair Holdings"), "low_cost", "IE"),
    Entry("Swissport", ("Swissport International", "Swissport UK", "Swissport GB"), "ground_ops", "CH"),
    Entry("Menzies Aviation", ("John Menzies", "Menzies Aviation UK"), "ground_ops", "GB"),
)  # fmt: skip


def book_of(params: Mapping[str, Any]) -> Book:
    """The companies that a run goes by: the built-in table, and over it the file that the parameters name.

    Raises ConfigError if that file cannot be used. A default file that is not there is none.
    """
    given = params.get("companies")
    path = Path(str(given) if given else DEFAULT)
    if not given and not path.is_file():
        return _built_in()
    try:
        stamp = path.stat()
    except (OSError, ValueError):
        raise ConfigError(f"companies={str(path)[:200]!r}: there is no such file") from None
    return _read(str(path.absolute()), stamp.st_mtime_ns, stamp.st_size)


@lru_cache(maxsize=1)
def _built_in() -> Book:
    return Book(BUILT_IN)


@lru_cache(maxsize=8)
def _read(path: str, changed: int, size: int) -> Book:
    return Book((*BUILT_IN, *load(Path(path))))


# -- review ------------------------------------------------------------------------------------------------------


def to_review(job: Job, scraper: Scraper) -> Item | None:
    """The company of a job, as an item for a person to look at; None if the table, or the scraper, knows it.

    What it says follows from the name alone, so that it is the same whichever job brought it.
    """
    key, name = key_of(job.company), proposed(job.company)
    if key is None or name is None or key_of(getattr(scraper, "company", None)) == key:
        return None
    if book_of(scraper.params).find(job.company) is not None:
        return None
    company = Company(
        company_name=name,
        normalized_name=key,
        written=str(job.company)[:_LONGEST],
        operation_type=operation_type(job.company),
        country_code=named(job.company),
    )
    return Item.of(msgspec.to_builtins(company), key=key, kind="company")
