"""Settings: how each knob is written, which place wins, and how a bad one is refused."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer import settings
from gossamer.errors import ConfigError
from gossamer.settings import KNOBS, Pace, Place, ScraperConfig, read

# --- pace ---


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("2/s", 0.5),
        ("2", 0.5),
        (2, 0.5),
        (0.5, 2.0),
        ("30/min", 2.0),
        (" 30 / Minute ", 2.0),
        ("100/h", 36.0),
        ("1/d", 86400.0),
        (1 / 86400, 86400.0),
        ("none", 0.0),
        (None, 0.0),
        (Pace(4.0), 0.25),
    ],
)
def test_a_pace_is_requests_per_time(text: object, interval: float) -> None:
    assert Pace.of(text).interval == pytest.approx(interval)


@pytest.mark.parametrize(
    "text", ["0/s", "-1/s", "2/week", "fast", "", "/s", "nan/s", "inf", "0.0", True, [], "9" * 400]
)
def test_what_is_no_pace_is_refused_with_examples(text: object) -> None:
    with pytest.raises(ValueError, match=r"like '2/s', '30/min', '100/h', or 'none'"):
        Pace.of(text)


def test_a_pace_too_slow_for_a_float_is_refused_and_not_taken_for_no_limit() -> None:
    with pytest.raises(ValueError, match="write requests per time"):
        Pace.of("0." + "0" * 322 + "5/d")


@given(st.floats(0.01, 1e12), st.sampled_from(["s", "min", "h", "d"]))
def test_a_pace_written_and_read_again_is_never_faster(amount: float, unit: str) -> None:
    pace = Pace.of(f"{amount!r}/{unit}")
    again = Pace.of(str(pace))
    assert pace.per_second is not None
    assert again.per_second == pytest.approx(pace.per_second, rel=1e-11)


@pytest.mark.parametrize("text", ["2/s", "2.5/s", "30/min", "7/min", "100/h", "1/d", "12345/s", "none"])
def test_a_pace_is_shown_as_people_write_it(text: str) -> None:
    assert str(Pace.of(text)) == text


# --- the parsers ---

PARSERS = sorted({field.metadata["parse"] for field in KNOBS.values()}, key=repr)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.from_regex(r"[0-9.e]{1,9}[a-z/]*"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(values)
def test_no_parser_raises_anything_but_value_error(value: Any) -> None:
    for parse in PARSERS:
        try:
            parse(value)
        except ValueError:
            continue


@given(values)
def test_a_value_that_was_read_reads_the_same_again(value: Any) -> None:
    """Settings are read from their place, and checked again when the frozen value is made."""
    for parse in PARSERS:
        try:
            once = parse(value)
        except ValueError:
            continue
        assert parse(once) == once


@pytest.mark.parametrize(
    ("text", "seconds"), [("30", 30), (30, 30), (0.5, 0.5), ("30s", 30), ("5m", 300), ("5 min", 300), ("2h", 7200)]
)
def test_a_time_is_seconds_or_has_a_unit(text: object, seconds: float) -> None:
    assert settings.duration(text) == seconds


@pytest.mark.parametrize("text", ["0", "-5", "soon", "1e400", "nan", math.inf, math.nan, None, "99999999999d"])
def test_what_is_no_time_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="write a time above zero, like '30s', '5m' or '2h'"):
        settings.duration(text)


@pytest.mark.parametrize(
    ("text", "size"),
    [("500KB", 512000), ("10MB", 10 << 20), ("1g", 1 << 30), (77, 77), ("1.5k", 1536), ("2MiB", 2 << 20)],
)
def test_a_size_is_bytes_or_has_a_unit(text: object, size: int) -> None:
    assert settings.size(text) == size


@pytest.mark.parametrize("text", ["0", "-1", "0.1", "big", "1TB", "9" * 400])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write a size above zero, like '500KB' or '10MB'"):
        settings.size(text)


# --- the values ---


def test_every_knob_has_a_sentence_and_a_default_its_parser_takes() -> None:
    for name, field in KNOBS.items():
        assert len(field.metadata["about"]) > 10, name
    assert ScraperConfig() == ScraperConfig(
        **{f.name: getattr(ScraperConfig(), f.name) for f in dataclasses.fields(ScraperConfig)}
    )
    assert Place() == Place(store="gossamer.db")


def test_the_defaults_are_polite() -> None:
    config = ScraperConfig()
    assert (config.rate, config.robots, config.per_host) == (Pace(2.0), True, 4)


BAD = {
    "rate": "fast",
    "per_host": 0,
    "concurrency": "many",
    "timeout": "-1s",
    "retries": -1,
    "user_agent": "a\nb",
    "headers": {"a b": "c"},
    "robots": "maybe",
    "max_body": "0",
    "accept_status": [99],
    "content_types": 5,
    "scope": "planet",
    "include": ["("],
    "depth": -1,
    "max_pages": 0,
    "dry_run": "perhaps",
}


@pytest.mark.parametrize("name", BAD)
def test_a_config_refuses_a_bad_value_by_name(name: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ScraperConfig(**{name: BAD[name]})
    shown = "" if name in ("headers", "proxies") else f" = {BAD[name]!r}"  # those may hold secrets
    assert str(refused.value).startswith(f"{name}{shown} cannot be used: ")


def test_a_config_refuses_an_unknown_knob_by_name() -> None:
    with pytest.raises(TypeError, match="'ratee'"):
        ScraperConfig(ratee="2/s")  # type: ignore[call-arg]


@pytest.mark.parametrize("value", [{"A": "b\r\nSet-Cookie: c"}, {"A\n": "b"}, {"": "b"}, {"A": 1}, ["A: b"]])
def test_a_header_cannot_smuggle_in_another(value: object) -> None:
    with pytest.raises(ConfigError, match="write headers as names with texts"):
        ScraperConfig(headers=value)  # type: ignore[arg-type]


# --- which place wins ---


def _toml(folder: Path, text: str) -> None:
    (folder / "gossamer.toml").write_text(text)


def test_a_flag_beats_the_scraper_beats_the_environment_beats_the_file(tmp_path: Path) -> None:
    _toml(tmp_path, 'rate = "1/s"\nretries = 1\ntimeout = "1s"\ndepth = 1\n')
    environ = {"GOSSAMER_RATE": "2/s", "GOSSAMER_RETRIES": "2", "GOSSAMER_TIMEOUT": "2s", "HOME": "/"}
    got = read({"rate": "4/s"}, own={"rate": "3/s", "retries": 7}, owner="Quotes", environ=environ, folder=tmp_path)
    assert (got.config.rate, got.config.retries, got.config.timeout, got.config.depth) == (Pace(4.0), 7, 2.0, 1)
    assert got.origins == {
        "rate": "--rate",
        "retries": "Quotes",
        "timeout": "GOSSAMER_TIMEOUT",
        "depth": "gossamer.toml",
    }
    shown = {name: (value, origin) for name, value, origin, _ in got.shown()}
    assert shown.keys() == KNOBS.keys()
    assert shown["rate"] == ("4/s", "--rate")
    assert shown["per_host"] == ("4", "default")
    assert shown["max_pages"] == ("none", "default")
    assert shown["headers"] == ("-", "default")


def test_lists_may_be_written_in_every_place(tmp_path: Path) -> None:
    _toml(tmp_path, 'include = ["a", "b"]\naccept_status = [404]\nheaders = {Accept-Language = "en"}\n')
    got = read({}, environ={"GOSSAMER_EXCLUDE": "x y"}, folder=tmp_path).config
    assert (got.include, got.exclude, got.accept_status) == (("a", "b"), ("x", "y"), (404,))
    assert got.headers == {"Accept-Language": "en"}


def test_where_the_suites_are_is_no_setting(tmp_path: Path) -> None:
    assert read(environ={"GOSSAMER_CORPORA": "/x"}, folder=tmp_path).origins == {}


# --- refusals: one sentence that names the knob and the place ---


def _refusal(folder: Path, flags: Any = None, **places: Any) -> str:
    with pytest.raises(ConfigError) as refused:
        read(flags, **{"environ": {}, "folder": folder, **places})
    told = str(refused.value)
    assert "\n" not in told
    return told


def test_an_unknown_setting_is_refused_by_name_wherever_it_stands(tmp_path: Path) -> None:
    hint = ": did you mean 'rate'?"
    assert _refusal(tmp_path, {"rat": 1}) == "unknown setting 'rat' in option" + hint
    assert _refusal(tmp_path, own={"rat": 1}, owner="Quotes") == "unknown setting 'rat' in Quotes" + hint
    told = _refusal(tmp_path, environ={"GOSSAMER_RAT": "1"})
    assert told == "unknown setting 'rat' in the environment (GOSSAMER_*)" + hint
    _toml(tmp_path, "rat = 1")
    assert _refusal(tmp_path) == f"unknown setting 'rat' in {tmp_path / 'gossamer.toml'}" + hint


def test_a_setting_like_no_other_points_to_the_list(tmp_path: Path) -> None:
    told = _refusal(tmp_path, {"zzzzz": 1})
    assert told == "unknown setting 'zzzzz' in option; `gossamer settings` lists those there are"


def test_a_bad_value_is_refused_by_name_and_place(tmp_path: Path) -> None:
    why = " cannot be used: write a whole number from 0"
    assert _refusal(tmp_path, {"retries": "x"}) == "--retries = 'x'" + why
    assert _refusal(tmp_path, {"max_redirects": "x"}) == "--max-redirects = 'x'" + why
    assert _refusal(tmp_path, own={"retries": -1}, owner="Quotes") == "retries (from Quotes) = -1" + why
    assert _refusal(tmp_path, environ={"GOSSAMER_RETRIES": "x"}) == "GOSSAMER_RETRIES = 'x'" + why
    _toml(tmp_path, "retries = 1.5")
    assert _refusal(tmp_path) == "retries (from gossamer.toml) = 1.5" + why


def test_a_broken_file_is_refused_with_the_line(tmp_path: Path) -> None:
    _toml(tmp_path, 'rate = "2/s"\nrobots = maybe\n')
    told = _refusal(tmp_path)
    assert told.startswith(f"{tmp_path / 'gossamer.toml'} is not TOML: ")
    assert "line 2" in told


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gossamer.toml").write_bytes(b"\xff\xfe")
    assert "gossamer.toml cannot be read: " in _refusal(tmp_path)
    (tmp_path / "gossamer.toml").unlink()
    (tmp_path / "gossamer.toml").mkdir()
    assert "gossamer.toml cannot be read: " in _refusal(tmp_path)
