"""The program itself: its Python, what it is built on, and the parts that can be added."""

from __future__ import annotations

import importlib
import importlib.util
import platform
import re
import sys
import warnings
from collections.abc import Iterator
from importlib import metadata

import msgspec

from gossamer import __version__
from gossamer.doctor.finding import Area, Finding, told

_area = Area("program")

#: What each extra is for.
EXTRAS = {
    "service": "`gossamer serve`: schedules, REST API, dashboard",
    "cluster": "postgresql:// stores, `gossamer worker`, `--cluster`",
    "browser": "pages rendered by Chromium",
    "s3": "sinks: folders and S3-compatible stores",
    "parquet": "`gossamer export --format parquet`",
    "frames": "to_frame(): pandas and polars",
    "warc": "`gossamer archive import` and `archive export`",
    "images": "images in flows, and `gossamer bench --plot` to a PNG",
}
#: Distributions that are imported by another name.
_MODULES = {
    "ada-url": "ada_url",
    "argon2-cffi": "argon2",
    "pillow": "PIL",
    "prometheus-client": "prometheus_client",
    "python-jsonpath": "jsonpath",
    "pyyaml": "yaml",
}
_REQUIREMENT = re.compile(
    r"\s*(?P<name>[\w.-]+)\s*(?:\[[^\]]*\])?\s*\(?(?P<versions>[^;()]*)\)?\s*(?:;(?P<marker>.*))?"
)
_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w-]+)['"]""")
_PLATFORM = re.compile(r"""sys_platform\s*(==|!=)\s*['"](\w+)['"]""")
_BOUND = re.compile(r"(>=|<=|==|!=|~=|<|>)\s*([\w.*+!-]+)")


class Requirement(msgspec.Struct, frozen=True):
    """One thing that Gossamer, or one of its extras, is built on."""

    name: str
    #: As it is written: ">=4.0,<5".
    versions: str
    #: The extra that wants it; empty: Gossamer itself.
    extra: str = ""

    @property
    def module(self) -> str:
        """What is imported."""
        return _MODULES.get(self.name.lower(), self.name.lower().replace("-", "_"))


def look() -> Iterator[Finding]:
    """Python, dependencies and extras."""
    yield python(sys.version_info[:3])
    needs = requirements()
    if not needs:
        yield _area.warning(
            "dependencies",
            f"gossamer {__version__} is not installed, so what it needs is not known",
            "install it: pip install gossamer",
        )
        return
    yield dependencies([each for each in needs if not each.extra])
    for name in EXTRAS:
        wanted = [each for each in needs if each.extra == name]
        if wanted:
            yield extra(name, wanted)


def python(version: tuple[int, ...], wanted: str | None = None) -> Finding:
    """Whether this Python will do."""
    needs = wanted if wanted is not None else _wanted_python()
    shown = ".".join(map(str, version))
    if not fits(shown, needs):
        return _area.problem("python", f"{shown}, and {needs} is needed", "install Gossamer with a newer Python")
    return _area.ok("python", f"{platform.python_implementation()} {shown} on {platform.system()}, wanted {needs}")


def dependencies(needs: list[Requirement]) -> Finding:
    """Whether all that Gossamer stands on can be imported, in a version it knows."""
    wrong = [why for each in needs if (why := _lacks(each, imported=True))]
    if wrong:
        return _area.problem(
            "dependencies", "; ".join(wrong), "install them anew: pip install --upgrade --force-reinstall gossamer"
        )
    return _area.ok("dependencies", f"{len(needs)} of {len(needs)} can be imported, all in versions that are wanted")


def extra(name: str, needs: list[Requirement]) -> Finding:
    """Whether the parts of an extra are there."""
    what = EXTRAS[name]
    wrong = [why for each in needs if (why := _lacks(each))]
    fix = f"pip install 'gossamer[{name}]'"
    if not wrong:
        versions = ", ".join(f"{each.name} {_version(each.name)}" for each in needs)
        return _area.ok(f"extra {name}", f"{what}: {versions}")
    if all(_version(each.name) is None for each in needs):
        return _area.absent(f"extra {name}", f"not installed; for {what}", f"if you want it: {fix}")
    return _area.warning(f"extra {name}", f"{'; '.join(wrong)}; for {what}", fix)


def _lacks(need: Requirement, *, imported: bool = False) -> str:
    """What is wrong with one dependency; empty: nothing."""
    found = _version(need.name)
    if found is None:
        return f"{need.name} is not installed"
    if not fits(found, need.versions):
        return f"{need.name} is {found}, and {need.versions} is wanted"
    try:
        if imported:
            with warnings.catch_warnings(action="ignore"):
                importlib.import_module(need.module)
        elif importlib.util.find_spec(need.module) is None:
            return f"{need.name} {found} is installed without its module {need.module}"
    except Exception as error:  # noqa: BLE001 - a broken package may raise anything when it is imported
        return f"{need.name} {found} cannot be imported ({type(error).__name__}: {told(error)})"
    return ""


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _wanted_python() -> str:
    try:
        return metadata.metadata("gossamer")["Requires-Python"] or ">=3.11"
    except (metadata.PackageNotFoundError, KeyError):
        return ">=3.11"


def requirements() -> list[Requirement]:
    """What the installed Gossamer says it needs; nothing if it is not installed."""
    try:
        lines = metadata.requires("gossamer") or []
    except metadata.PackageNotFoundError:
        return []
    return [each for line in lines if (each := requirement(line)) is not None]


def requirement(line: str) -> Requirement | None:
    """One line of the metadata; None where it is for another system.

    >>> requirement("playwright<2,>=1.60; extra == 'browser'")
    Requirement(name='playwright', versions='<2,>=1.60', extra='browser')
    """
    match = _REQUIREMENT.fullmatch(line)
    if match is None:
        return None
    marker = match["marker"] or ""
    system = _PLATFORM.search(marker)
    if system is not None and (sys.platform == system[2]) != (system[1] == "=="):
        return None
    extra_of = _EXTRA.search(marker)
    return Requirement(match["name"], match["versions"].strip(), extra_of[1] if extra_of else "")


def fits(version: str, wanted: str) -> bool:
    """Whether a version keeps all bounds of a requirement. What cannot be compared counts as fitting.

    >>> fits("1.9.2", "<2,>=1.60"), fits("1.61", "<2,>=1.60")
    (False, True)
    """
    found = _numbers(version)
    for sign, text in _BOUND.findall(wanted):
        bound = _numbers(text)
        if not found or not bound:
            continue
        width = max(len(found), len(bound))
        a, b = (each + (0,) * (width - len(each)) for each in (found, bound))
        prefix = found[: len(bound)] == bound
        ok = {
            ">=": a >= b,
            "<=": a <= b,
            ">": a > b,
            "<": a < b,
            "==": prefix if text.endswith("*") else a == b,
            "!=": not prefix if text.endswith("*") else a != b,
            "~=": a >= b and found[: len(bound) - 1] == bound[:-1],
        }[sign]
        if not ok:
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    match = re.match(r"v?(\d+(?:\.\d+)*)", version.strip())
    return tuple(int(part) for part in match[1].split(".")) if match else ()
