"""deploy/compose.yaml as tests read it: variables filled in, merges done, as `docker compose config` would."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
FILE = DEPLOY / "compose.yaml"
_VARIABLE = re.compile(r"\$(?:\$|\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\})")


@dataclass(frozen=True, kw_only=True)
class Service:
    """One service of the file."""

    name: str
    told: Mapping[str, Any]

    @property
    def command(self) -> list[str]:
        """Its words."""
        return [str(word) for word in self.told["command"]]

    @property
    def environment(self) -> dict[str, str]:
        """What it is given, as texts."""
        return {name: str(value) for name, value in (self.told.get("environment") or {}).items()}

    @property
    def check(self) -> list[str] | None:
        """The command of its health check; None for one that has none."""
        told = self.told["healthcheck"]
        if told.get("disable"):
            return None
        kind, *words = told["test"]
        return ["sh", "-c", *words] if kind == "CMD-SHELL" else [str(word) for word in words]

    @property
    def needs(self) -> dict[str, str]:
        """Whom it waits for, and for what of them."""
        return {name: told["condition"] for name, told in (self.told.get("depends_on") or {}).items()}

    @property
    def grace(self) -> float:
        """Seconds it has to stop."""
        return seconds(self.told["stop_grace_period"])


def raw() -> str:
    """The file."""
    return FILE.read_text("utf-8")


def read(**variables: str) -> dict[str, Any]:
    """All of the file, with variables as given, or else as it has them."""
    found = _filled(yaml.safe_load(raw()), variables)
    assert isinstance(found, dict)
    return found


def services(**variables: str) -> dict[str, Service]:
    """Its services by name."""
    return {name: Service(name=name, told=told) for name, told in read(**variables)["services"].items()}


def in_order(found: Mapping[str, Service], *, profile: str = "") -> list[Service]:
    """Services in an order in which each comes after those it needs; of profiles only the one that is meant."""
    made: list[Service] = []

    def add(one: Service) -> None:
        for name in one.needs:
            add(found[name])
        if one not in made:
            made.append(one)

    for each in found.values():
        if not each.told.get("profiles") or profile in each.told["profiles"]:
            add(each)
    return made


def variables() -> dict[str, str]:
    """The variables that the file uses, with their defaults."""
    uncommented = re.sub(r"^\s*#.*$", "", raw(), flags=re.MULTILINE)
    return {m["name"]: m["default"] or "" for m in _VARIABLE.finditer(uncommented) if m["name"]}


def texts(told: Any) -> Iterator[str]:
    """Every text in a part of the file, keys left out."""
    if isinstance(told, dict):
        for value in told.values():
            yield from texts(value)
    elif isinstance(told, list):
        for value in told:
            yield from texts(value)
    elif told is not None:
        yield str(told)


def seconds(text: object) -> float:
    """A time as compose writes it: 90s, 2m, 1m30s."""
    parts = re.findall(r"(\d+)(ms|s|m|h)", str(text))
    assert parts, text
    assert "".join(n + unit for n, unit in parts) == str(text)
    return sum(int(n) * {"ms": 0.001, "s": 1, "m": 60, "h": 3600}[unit] for n, unit in parts)


def size(text: object) -> int:
    """A size as compose writes it: 512m, 2g."""
    match = re.fullmatch(r"(\d+)([bkmg])b?", str(text).lower())
    assert match, text
    return int(match[1]) * {"b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}[match[2]]


def _filled(told: Any, variables: Mapping[str, str]) -> Any:
    if isinstance(told, dict):
        return {key: _filled(value, variables) for key, value in told.items()}
    if isinstance(told, list):
        return [_filled(value, variables) for value in told]
    if isinstance(told, str):
        return _VARIABLE.sub(lambda m: variables.get(m["name"], m["default"] or "") if m["name"] else "$", told)
    return told
