"""Tasks, executors and status files: what they take, what they refuse, and what stands in a file."""

from __future__ import annotations

import asyncio
import builtins
import functools
import json
from math import inf
from pathlib import Path
from typing import Any

import pytest

import gossamer.flow
from gossamer import ConfigError
from gossamer.flow import (
    TaskError,
    content_type,
    histogram,
    read_status,
    scrape,
    status_summary,
    statuses,
    taskify,
    url_to_key,
    urls_to_tasks,
)
from gossamer.flow import status as statusdata
from gossamer.flow.executor import executors_of, forced_of
from gossamer.flow.seat import Seat
from gossamer.flow.tasks import public, tasks_of


def test_the_package_exports_exactly_what_it_names() -> None:
    assert gossamer.flow.__all__ == sorted(gossamer.flow.__all__)
    assert all(hasattr(gossamer.flow, name) for name in gossamer.flow.__all__)


# -- tasks -----------------------------------------------------------------------------------------------------


def test_a_key_for_a_url_is_its_md5() -> None:
    assert url_to_key("http://www.bing.com") == "9cbc5ee4b61e0acb335d56e96c6b2586"
    assert urls_to_tasks(["http://a.org", "http://b.org", "http://a.org"]) == {
        url_to_key("http://a.org"): {"url": "http://a.org"},
        url_to_key("http://b.org"): {"url": "http://b.org"},
    }
    with pytest.raises(TaskError, match="list of URLs"):
        urls_to_tasks("http://a.org")


def test_tasks_are_params_by_key_a_list_of_params_or_a_list_of_keys() -> None:
    url = {"url": "http://a.org/"}
    assert tasks_of({"a": url, "b": {}, "c": None}) == {"a": url, "b": {}, "c": None}
    assert tasks_of([url]) == {url_to_key("http://a.org/"): url}
    assert tasks_of(["a", "b"]) == {"a": None, "b": None}
    assert tasks_of([]) == {}


def test_a_key_that_is_there_twice_is_refused() -> None:
    with pytest.raises(TaskError, match="'a' is there twice"):
        tasks_of(["a", "b", "a"])


@pytest.mark.parametrize("key", [".", "..", "a/b", "../up", "/etc/passwd", "a\\b", "", "  ", "a\0b", "a\nb", 7, None])
def test_a_key_that_names_no_file_in_the_folder_is_refused(key: Any) -> None:
    with pytest.raises(TaskError, match="cannot be a key"):
        tasks_of({key: {"url": "http://a.org"}})


def test_a_refused_task_is_a_value_error_too() -> None:
    with pytest.raises(ValueError, match="too long"):
        tasks_of({"ä" * 101: {}})
    with pytest.raises(ConfigError, match="urls_to_tasks"):
        tasks_of(["https://user:hunter2@a.org/"])


@pytest.mark.parametrize(
    "given", ["a", b"a", 7, None, [7], [{"no": "url"}], {"a": "http://a.org"}, {"a": {"x": object()}}]
)
def test_what_is_no_task_is_refused(given: Any) -> None:
    with pytest.raises(TaskError):
        tasks_of(given)


def test_no_secret_of_a_task_is_to_be_written_down() -> None:
    kept, withheld = public(
        {
            "url": "https://ann:hunter2@a.org/x",
            "cookies": {"sid": "hunter2"},
            "headers": {"Authorization": "hunter2", "Accept": "text/html"},
            "post_payload": {"q": "art", "login": [{"user": "ann", "password": "hunter2"}]},
            "key": 7,
            "country": "de",
        }
    )
    assert kept == {
        "url": "https://a.org/x",
        "headers": {"Accept": "text/html"},
        "post_payload": {"q": "art", "login": [{"user": "ann"}]},
        "key": 7,
        "country": "de",
    }
    assert withheld == ["headers.Authorization", "post_payload.login.password", "cookies", "the login in url"]


# -- executors -------------------------------------------------------------------------------------------------


async def step(context: Any, key: str, status: Any) -> dict[str, Any]:
    """Does something."""
    return {"key": key}


def test_an_executor_has_its_functions_name_and_can_be_called_by_another() -> None:
    made = taskify(step)
    assert (made.name, made.__name__, made.__doc__) == ("step", "step", "Does something.")
    assert asyncio.run(made(None, "k", {})) == {"key": "k"}  # type: ignore[arg-type]
    named = taskify(name="other", needs="step")(step)
    assert (named.name, named.needs) == ("other", ("step",))
    assert taskify(name="again")(made).name == "again"
    assert scrape.name == "scrape"


def test_what_is_no_executor_is_refused() -> None:
    def plain(context: Any, key: str, status: Any) -> dict[str, Any]:
        return {}

    with pytest.raises(TaskError, match="async def plain"):
        taskify(plain)  # type: ignore[arg-type]
    with pytest.raises(TaskError, match="no name"):
        taskify(functools.partial(step, None))
    for name in ("params", "name", "all", "scrape_status", "a_last_run"):
        with pytest.raises(TaskError, match="means something else"):
            taskify(name=name)(step)
    with pytest.raises(TaskError, match="two executors are called 'step'"):
        executors_of([step, taskify(step)])
    with pytest.raises(TaskError, match="a list"):
        executors_of(scrape)  # type: ignore[arg-type]


def test_executors_are_forced_by_name_by_themselves_or_all() -> None:
    order = executors_of([scrape, step])
    assert forced_of(None, order) == ()
    assert forced_of(["step"], order) == ("step",)
    assert forced_of([step, scrape], order) == ("step", "scrape")
    assert forced_of(["all"], order) == forced_of("all", order) == ("scrape", "step")
    assert forced_of("step", order) == ("step",)
    with pytest.raises(TaskError, match="did you mean 'scrape'"):
        forced_of(["scarpe"], order)


# -- status files ----------------------------------------------------------------------------------------------


def test_a_status_file_says_how_each_executor_ended(tmp_path: Path) -> None:
    status = statusdata.new("a", {"url": "http://a.org"}, [])
    statusdata.succeed(status, "one", {"n": 1})
    statusdata.fail(status, "two", RuntimeError("could not"))
    statusdata.write(tmp_path, status)
    text = (tmp_path / "a.status.json").read_text()
    assert text.startswith(
        '{\n  "name": "a",\n  "params": {\n    "url": "http://a.org"\n  },\n  "one": {\n    "n": 1\n'
    )
    found = json.loads(text)
    assert list(found) == ["name", "params", "one", "one_status", "one_last_run", "two_status", "two_last_run"]
    assert (found["one_status"], found["two_status"]) == ("SUCCESS", "ERROR RuntimeError::could not")
    assert len(found["one_last_run"]) == len("2022-08-05 16:03:52.336815")
    assert [path.name for path in tmp_path.iterdir()] == ["a.status.json"]


def test_finished_is_what_succeeded_and_left_its_output() -> None:
    status: dict[str, Any] = {"a": {}, "a_status": "ERROR RuntimeError::x", "b": {}, "b_status": "SKIPPED"}
    status |= {"c_status": "SUCCESS", "d": {}, "d_status": "SUCCESS", "e": {}}
    assert [name for name in "abcde" if statusdata.finished(status, name)] == ["b", "d"]


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path: Path) -> None:
    statusdata.write(tmp_path, statusdata.new("a", {}, []))
    with pytest.raises(TypeError):
        statusdata.write(tmp_path, {"name": "a", "params": {}, "one": object()})
    assert [path.name for path in tmp_path.iterdir()] == ["a.status.json"]
    assert statusdata.read(tmp_path / "a.status.json") == {"name": "a", "params": {}}


def test_what_killed_processes_left_unfinished_is_swept_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = statusdata.unfinished_name(tmp_path / "a.status.json")
    left.write_text("{")
    statusdata.sweep(tmp_path)
    assert left.exists()
    monkeypatch.setattr(statusdata, "LEFT", -1.0)
    statusdata.sweep(tmp_path)
    assert not left.exists()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three tasks, one of which failed, and a file that is none."""
    for key, said in (("a", "SUCCESS"), ("b", "SUCCESS"), ("c", "ERROR RuntimeError::HTTP response 404")):
        status = {"name": key, "params": {"url": key}, "scrape": {"size": 1}, "scrape_status": said}
        statusdata.write(tmp_path, status | ({"parse": {}, "parse_status": "SUCCESS"} if key == "a" else {}))
    (tmp_path / "d.status.json").write_text('{"name": "d", "par')
    (tmp_path / "a.scrape").write_text("<p>a</p>")
    return tmp_path


def test_a_folder_is_read_task_by_task(folder: Path) -> None:
    rows = list(statuses(folder))
    assert [row["name"] for row in rows] == ["a", "b", "c", "d"]
    assert "d.status.json is no status file" in rows[3]["unreadable"]
    assert histogram(folder) == [
        ("scrape", "SUCCESS", 2),
        ("scrape", "ERROR RuntimeError::HTTP response 404", 1),
        ("parse", "SUCCESS", 1),
        ("", "UNREADABLE", 1),
    ]
    with pytest.raises(ConfigError, match="is no folder"):
        list(statuses(folder / "nowhere"))


def test_a_folder_as_frames(folder: Path) -> None:
    pytest.importorskip("pandas")
    frame = read_status(folder)
    assert list(frame.index) == ["a", "b", "c", "d"]
    assert frame.index.name == "key"
    assert frame.loc["c", "scrape_status"] == "ERROR RuntimeError::HTTP response 404"
    counts = status_summary(folder)
    assert counts.index[0] == "SUCCESS"
    assert counts.loc["SUCCESS"].to_dict() == {"scrape": 2, "parse": 1, "status file": 0}
    assert read_status(folder / "..").empty
    assert status_summary(folder / "..").empty


def test_without_pandas_it_is_said_what_to_do(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def absent(name: str, *args: Any, **how: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return real(name, *args, **how)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ConfigError, match=r"gossamer\[frames\].*statuses"):
        read_status(folder)
    with pytest.raises(ConfigError, match="histogram"):
        status_summary(folder)


def test_the_content_type_of_recorded_headers() -> None:
    assert content_type({"Content-Type": "text/html; charset=utf-8"}) == "html"
    assert content_type({"content-type": "image/PNG"}) == "png"
    assert content_type({}) == ""


# -- the seat --------------------------------------------------------------------------------------------------


def test_who_waits_gives_up_his_seat_and_none_of_his_time() -> None:
    async def main() -> None:
        slots = asyncio.Semaphore(1)
        async with Seat(slots, 0.2) as seat, asyncio.timeout(5):
            async with seat.working():
                seat.rise()
                async with Seat(slots, inf):  # there is room
                    await asyncio.sleep(0.3)
                await seat.sit()
                assert slots.locked()
            assert not seat.out_of_time
        assert not slots.locked()

    asyncio.run(main())


def test_time_is_counted_over_all_work_of_a_task() -> None:
    async def main() -> None:
        async with Seat(asyncio.Semaphore(1), 0.15) as seat:
            async with seat.working():
                await asyncio.sleep(0.1)
            with pytest.raises(TimeoutError):
                async with seat.working():
                    await asyncio.sleep(0.1)
            assert seat.out_of_time

    asyncio.run(main())


def test_work_under_way_at_the_same_time_shares_one_seat() -> None:
    async def wait(seat: Seat, seconds: float) -> None:
        seat.rise()
        try:
            await asyncio.sleep(seconds)
        except asyncio.CancelledError:
            seat.back()
            raise
        await seat.sit()

    async def main() -> None:
        slots = asyncio.Semaphore(1)
        async with Seat(slots, 5) as seat, seat.working():
            await asyncio.gather(*(wait(seat, n / 100) for n in range(5)))
            assert slots.locked()
            with pytest.raises(TimeoutError):  # an executor's own patience
                await asyncio.wait_for(wait(seat, 1), 0.01)
        assert not slots.locked()
        await asyncio.wait_for(slots.acquire(), 1)

    asyncio.run(main())
