"""Invented jobs, and how answers are made of them: for the boards of applicant tracking systems."""

from __future__ import annotations

import json
from html import escape
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, urlsplit

from gossamer.testing import Answer, Hit

__all__ = [
    "Opening",
    "as_html",
    "as_json",
    "as_xml",
    "asked",
    "found_in",
    "last",
    "matching",
    "number",
    "openings",
    "sent",
    "structured",
]


class Opening(NamedTuple):
    """One invented job, from which every system makes its own sort of posting."""

    number: int
    title: str
    city: str
    region: str
    country: str
    code: str
    department: str
    posted: str

    @property
    def place(self) -> str:
        return f"{self.city}, {self.region}, {self.country}"

    @property
    def text(self) -> str:
        """A description as HTML."""
        return f"<p>We look for a <b>{self.title}</b> in {self.city}.</p><ul><li>Shifts &amp; weekends</li></ul>"


_TITLES: Final = (
    ("Flight Dispatcher", "Operations Control"),
    ("Senior Crew Controller", "Crew Control"),
    ("Load Control Agent", "Ground Operations"),
    ("Operations Duty Manager", "Operations Control"),
    ("Payroll Clerk", "Finance"),
    ("Navigation Data Specialist", "Flight Support"),
    ("Ramp Supervisor", "Ground Operations"),
)
_PLACES: Final = (
    ("Skagen", "North Jutland", "Denmark", "DK"),
    ("Galway", "Connacht", "Ireland", "IE"),
    ("Trieste", "Friuli", "Italy", "IT"),
    ("Duluth", "Minnesota", "United States", "US"),
    ("Darwin", "Northern Territory", "Australia", "AU"),
)


def openings(count: int, first: int = 1001) -> list[Opening]:
    """So many jobs, always the same."""
    return [
        Opening(
            first + n, *_pair(n), *_PLACES[n % len(_PLACES)], _TITLES[n % len(_TITLES)][1], f"2026-09-{n % 28 + 1:02}"
        )
        for n in range(count)
    ]


def _pair(n: int) -> tuple[str]:
    round_, which = divmod(n, len(_TITLES))
    return (_TITLES[which][0] + (f" {round_ + 1}" if round_ else ""),)


def as_json(data: object, status: int = 200) -> Answer:
    return Answer(status=status, body=json.dumps(data), headers={"Content-Type": "application/json"})


def as_xml(text: str, kind: str = "application/xml") -> Answer:
    return Answer(body=f'<?xml version="1.0" encoding="UTF-8"?>\n{text}', headers={"Content-Type": kind})


def as_html(title: str, body: str, head: str = "") -> Answer:
    text = (
        f'<!doctype html><html lang="en-US"><head><title>{escape(title)}</title>{head}</head><body>{body}</body></html>'
    )
    return Answer(body=text)


def asked(hit: Hit) -> dict[str, str]:
    """The query of a request."""
    return {name: values[0] for name, values in parse_qs(urlsplit(hit.path).query).items()}


def sent(hit: Hit) -> dict[str, Any]:
    """The JSON of a request; empty if it has none."""
    try:
        found = json.loads(hit.body or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def last(hit: Hit) -> str:
    return hit.path.partition("?")[0].rstrip("/").rpartition("/")[2]


def number(value: object) -> int:
    return int(value) if isinstance(value, int | str) and str(value).isdecimal() else 0


def found_in(jobs: list[Opening], number: object) -> Opening | None:
    return next((job for job in jobs if str(job.number) == str(number)), None)


def matching(jobs: list[Opening], words: object) -> list[Opening]:
    return [job for job in jobs if str(words or "").lower() in job.title.lower()]


def structured(job: Opening, **more: object) -> str:
    """A job as its page says it for machines."""
    data = {
        "@context": "https://schema.org",
        "@type": "JobPosting",
        "title": job.title,
        "datePosted": job.posted,
        "employmentType": "FULL_TIME",
        "description": job.text,
        "jobLocation": {
            "@type": "Place",
            "address": {"addressLocality": job.city, "addressRegion": job.region, "addressCountry": job.code},
        },
        **more,
    }
    return f'<script type="application/ld+json">{json.dumps(data)}</script>'
