"""Flows on a real site: hot restart, force, errors, timeouts, and the politeness of a run."""

from __future__ import annotations

import asyncio
import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gossamer import ConfigError, FetchError
from gossamer.fetch import retry
from gossamer.flow import (
    Context,
    ProxyProviderFromDict,
    ProxyProviderFromList,
    TaskError,
    check_proxies,
    execute,
    execute_async,
    parse_image,
    scrape,
    scrape_with_validation,
    taskify,
    thumbnail,
    urls_to_tasks,
)
from gossamer.testing import Answer, Site
from tests.servers import HttpProxy, TlsFront, dead_port
from tests.walk import asked, gaps

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_WAIT", 0.02)


@pytest.fixture
def shop(site: Site) -> Site:
    """Twelve pages."""
    for n in range(12):
        site.page(f"/{n}", f"<p>page {n}</p>", latency=0.01)
    return site


def flow(*executors: Any, tasks: Any, directory: str = "flow", **how: Any) -> list[str]:
    """A flow without a pace, unless one is given."""
    return execute(list(executors), directory, tasks, **{"rate": "none", **how})


def status(key: str, directory: str = "flow") -> dict[str, Any]:
    """What a status file says."""
    found: dict[str, Any] = json.loads((Path(directory) / f"{key}.status.json").read_text())
    return found


def pages(site: Site, *numbers: int) -> dict[str, dict[str, Any]]:
    """Tasks for pages of the shop."""
    return {f"p{n}": {"url": site.url(f"/{n}")} for n in numbers}


class Counted:
    """An executor that counts its runs, and fails when told to."""

    def __init__(self, name: str, needs: list[str] | None = None) -> None:
        self.runs: list[str] = []
        self.error: BaseException | None = None

        @taskify(name=name, needs=needs)
        async def step(context: Context, key: str, status: dict[str, Any]) -> dict[str, Any]:
            self.runs.append(key)
            if self.error is not None:
                raise self.error
            return {"run": len(self.runs)}

        self.step = step


# -- hot restart -----------------------------------------------------------------------------------------------


def test_a_second_call_does_nothing_again_and_changes_no_file(shop: Site) -> None:
    tasks = pages(shop, 0, 1, 2)
    step = Counted("step")
    assert flow(scrape, step.step, tasks=tasks) == ["p0", "p1", "p2"]
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in Path("flow").iterdir()}
    assert sorted(before) == sorted(f"p{n}.{kind}" for n in range(3) for kind in ("scrape", "status.json"))
    assert flow(scrape, step.step, tasks=["p2", "p1"]) == ["p2", "p1"]
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in Path("flow").iterdir()} == before
    assert shop.paths() == {"/0": 1, "/1": 1, "/2": 1, "/robots.txt": 1}
    assert sorted(step.runs) == ["p0", "p1", "p2"]


def test_what_scrape_leaves(shop: Site) -> None:
    shop.page("/x", "<p>käse</p>", headers={"Set-Cookie": "sid=hunter2", "X-Auth-Token": "hunter2", "ETag": '"1"'})
    assert flow(scrape, tasks={"x": {"url": shop.url("/x")}}) == ["x"]
    found = status("x")
    assert (found["name"], found["params"], found["scrape_status"]) == ("x", {"url": shop.url("/x")}, "SUCCESS")
    output = found["scrape"]
    assert (output["size"], output["content"], output["status"]) == (12, "dbdb7672518dbcfbf15a88044b4926a1", 200)
    assert output["response_headers"]["set-cookie"] == output["response_headers"]["x-auth-token"] == "***"
    assert output["response_headers"]["etag"] == '"1"'
    assert Path("flow/x.scrape").read_text() == "<p>käse</p>"
    assert asked(shop, "/x")[0].headers["user-agent"].startswith("gossamer/")


def test_only_tasks_that_passed_all_executors_are_returned(shop: Site) -> None:
    shop.page("/gone", "gone", status=404)
    tasks = {"gone": {"url": shop.url("/gone")}, **pages(shop, 1)}
    assert flow(scrape, tasks=tasks) == ["p1"]
    assert status("gone")["scrape_status"] == "ERROR RuntimeError::HTTP response 404"
    assert "scrape" not in status("gone")
    assert not Path("flow/gone.scrape").exists()


def test_a_failed_executor_ends_its_task_and_is_where_the_next_call_goes_on(shop: Site) -> None:
    first, second, third = Counted("first"), Counted("second"), Counted("third")
    second.error = RuntimeError("not yet")
    chain = (first.step, second.step, third.step)
    assert flow(*chain, tasks=pages(shop, 1)) == []
    assert status("p1")["second_status"] == "ERROR RuntimeError::not yet"
    assert "third_status" not in status("p1")
    second.error = None
    assert flow(*chain, tasks=["p1"]) == ["p1"]
    assert [len(each.runs) for each in (first, second, third)] == [1, 2, 1]


def test_forcing_an_executor_runs_again_what_builds_on_it(shop: Site) -> None:
    first, second, third = Counted("first"), Counted("second"), Counted("third")
    chain = (first.step, second.step, third.step)
    flow(*chain, tasks=pages(shop, 1))
    assert flow(*chain, tasks=["p1"], force_executors=["second"]) == ["p1"]
    assert [len(each.runs) for each in (first, second, third)] == [1, 2, 2]
    flow(*chain, tasks=["p1"], force_executors=["all"])
    flow(*chain, tasks=["p1"], force_executors="all")
    flow(*chain, tasks=["p1"], force_executors=[third.step])
    assert [len(each.runs) for each in (first, second, third)] == [3, 4, 5]
    with pytest.raises(TaskError, match="no executor here"):
        flow(*chain, tasks=["p1"], force_executors=["fourth"])


def test_an_executor_that_names_what_it_needs_is_run_again_for_that_only(shop: Site) -> None:
    first, second = Counted("first"), Counted("second")
    third = Counted("third", needs=["first"])
    chain = (first.step, second.step, third.step)
    flow(*chain, tasks=pages(shop, 1))
    flow(*chain, tasks=["p1"], force_executors=["second"])
    assert [len(each.runs) for each in (first, second, third)] == [1, 2, 1]
    flow(*chain, tasks=["p1"], force_executors=["first"])
    assert [len(each.runs) for each in (first, second, third)] == [2, 3, 2]


def test_no_old_output_looks_new(shop: Site) -> None:
    """What was made from what fails now, or is made again by a call that leaves the rest out, is stale."""
    first, second = Counted("first"), Counted("second")
    flow(first.step, second.step, tasks=pages(shop, 1))
    first.error = RuntimeError("gone")
    assert flow(first.step, second.step, tasks=["p1"], force_executors=["first"]) == []
    assert (status("p1")["first_status"], status("p1")["second_status"]) == ("ERROR RuntimeError::gone", "STALE")
    assert status("p1")["second"] == {"run": 1}
    first.error = None
    assert flow(first.step, second.step, tasks=["p1"]) == ["p1"]
    assert flow(first.step, tasks=["p1"], force_executors=["first"]) == ["p1"]
    assert status("p1")["second_status"] == "STALE"
    assert flow(first.step, second.step, tasks=["p1"]) == ["p1"]
    assert [len(first.runs), len(second.runs)] == [4, 3]


def test_other_params_under_the_same_key_are_another_task(shop: Site) -> None:
    flow(scrape, tasks={"p": {"url": shop.url("/1"), "n": 1}})
    flow(scrape, tasks={"p": {"url": shop.url("/1"), "n": 1}})
    flow(scrape, tasks={"p": {}})
    assert shop.paths()["/1"] == 1
    flow(scrape, tasks={"p": {"url": shop.url("/2")}})
    assert status("p")["params"] == {"url": shop.url("/2")}
    assert Path("flow/p.scrape").read_text() == "<p>page 2</p>"


def test_a_key_nobody_knows_is_refused_before_anything_is_done(shop: Site) -> None:
    flow(scrape, tasks=pages(shop, 1))
    with pytest.raises(TaskError, match="nothing is known of the task 'other'"):
        flow(scrape, tasks=["p1", "other"], force_executors=["all"])
    with pytest.raises(TaskError, match="cannot be a key"):
        flow(scrape, tasks={"../out": {"url": shop.url("/1")}})
    assert shop.paths()["/1"] == 1
    assert not Path("out.status.json").exists()


def test_a_status_file_that_cannot_be_read_is_put_aside_if_the_task_is_given_anew(shop: Site) -> None:
    flow(scrape, tasks=pages(shop, 1))
    Path("flow/p1.status.json").write_text('{"name": "p1", "sc')
    with pytest.raises(ConfigError, match=r"p1.status.json is no status file.*delete it"):
        flow(scrape, tasks=["p1"])
    assert flow(scrape, tasks=pages(shop, 1)) == ["p1"]
    assert Path("flow/p1.status.json.unreadable").read_text() == '{"name": "p1", "sc'


def test_every_executor_is_written_down_the_moment_it_ends(shop: Site) -> None:
    seen: list[dict[str, Any]] = []

    @taskify
    async def look(context: Context, key: str, status: dict[str, Any]) -> dict[str, Any]:
        seen.append(json.loads((context.dir / f"{key}.status.json").read_text()))
        status["scrape"]["size"] = -1  # a copy: nobody sees this
        return {}

    flow(scrape, look, tasks=pages(shop, 1))
    assert seen[0]["scrape_status"] == "SUCCESS"
    assert "look_status" not in seen[0]
    assert status("p1")["scrape"]["size"] == 13


def test_a_status_file_of_the_original_is_taken_up(shop: Site) -> None:
    Path("flow").mkdir()
    old = {"params": {"url": shop.url("/1")}, "scrape": {"size": 1}, "scrape_status": "SUCCESS", "scrape_last_run": "x"}
    Path("flow/p1.status.json").write_text(json.dumps(old))
    assert flow(scrape, tasks=["p1"]) == ["p1"]
    assert shop.hits == []


# -- errors ----------------------------------------------------------------------------------------------------


def test_errors_of_sites_are_recorded_and_the_flow_goes_on(shop: Site) -> None:
    shop.flaky("/down", times=math.inf, status=503)
    shop.garbage("/garbage")
    shop.redirect_loop("/round")
    shop.wall("/wall", "captcha")
    shop.huge("/huge")
    bad = {name: {"url": shop.url(f"/{name}")} for name in ("down", "garbage", "round", "wall", "huge")}
    bad |= {"words": {"url": "no url"}, "file": {"url": "file:///etc/passwd"}, "none": {"x": 1}, "number": {"url": 7}}
    assert flow(scrape, tasks={**bad, **pages(shop, 1)}, retries=1) == ["p1"]
    said = {key: status(key)["scrape_status"].partition("::")[0] for key in bad}
    assert said == {
        "down": "ERROR RuntimeError",
        "garbage": "ERROR Broken",
        "round": "ERROR Misled",
        "wall": "ERROR Blocked",
        "huge": "ERROR TooLarge",
        "words": "ERROR Unsendable",
        "file": "ERROR Unsendable",
        "none": "ERROR RuntimeError",
        "number": "ERROR RuntimeError",
    }
    assert shop.paths()["/down"] == shop.paths()["/wall"] == 2


def test_a_host_that_is_not_there_is_an_error_of_its_tasks(shop: Site) -> None:
    dead = {"dead": {"url": f"http://127.0.0.1:{dead_port()}/"}}
    assert flow(scrape, tasks={**dead, **pages(shop, 1)}, retries=0) == ["p1"]
    assert status("dead")["scrape_status"].startswith("ERROR Closed::no connection")
    assert flow(scrape, tasks=["dead"], retries=0, robots=False) == []
    assert status("dead")["scrape_status"].startswith("ERROR ConnectFailed::no connection")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (RuntimeError("x"), "ERROR RuntimeError::x"),
        (TimeoutError("x"), "ERROR TimeoutError::x"),
        (FetchError("x"), "ERROR FetchError::x"),
        (asyncio.CancelledError("x"), "ERROR CancelledError::x"),
        (ExceptionGroup("two", [FetchError("x"), RuntimeError("y")]), "ERROR FetchError::x"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_recognised_errors_end_their_task_only(shop: Site, error: BaseException, told: str) -> None:
    step = Counted("step")
    step.error = error
    assert flow(scrape, step.step, tasks=pages(shop, 1, 2)) == []
    assert status("p1")["step_status"] == status("p2")["step_status"] == told


@pytest.mark.parametrize(
    "error", [ValueError("a bug"), ExceptionGroup("two", [RuntimeError("x"), ValueError("a bug")])], ids=["one", "two"]
)
def test_any_other_error_is_written_down_and_stops_the_flow(shop: Site, error: Exception) -> None:
    step = Counted("step")
    step.error = error
    with pytest.raises(type(error)) as caught:
        flow(scrape, step.step, tasks=pages(shop, *range(12)), max_parallelism=1)
    assert caught.value is error
    assert error.__notes__[0] == "in the executor 'step', for the task 'p0'"
    assert status("p0")["step_status"] == f"ERROR {type(error).__name__}::{error}"
    assert status("p0")["scrape_status"] == "SUCCESS"
    assert len(shop.hits) < 13


@pytest.mark.parametrize("output", [7, "text", ["a"], {"a": object()}])
def test_an_output_that_is_no_json_object_stops_the_flow(shop: Site, output: Any) -> None:
    @taskify
    async def step(context: Context, key: str, status: dict[str, Any]) -> Any:
        return output

    with pytest.raises(TypeError):
        flow(step, tasks=pages(shop, 1))
    assert status("p1")["step_status"].startswith("ERROR TypeError::")


# -- timeouts and cancelling -----------------------------------------------------------------------------------


def test_the_timeout_is_of_the_task_and_its_executor_is_the_one_that_was_running(shop: Site) -> None:
    @taskify
    async def slow(context: Context, key: str, status: dict[str, Any]) -> None:
        await asyncio.sleep(0.4)

    slower = taskify(name="slower")(slow)
    shop.hang("/hang")
    tasks = {"hang": {"url": shop.url("/hang")}, **pages(shop, 1)}
    began = time.monotonic()
    assert flow(scrape, slow, slower, tasks=tasks, timeout=0.7) == []
    assert time.monotonic() - began < 3
    assert status("hang")["scrape_status"] == "ERROR TimeoutError::the task took longer than 0.7 s"
    found = status("p1")
    assert (found["scrape_status"], found["slow_status"]) == ("SUCCESS", "SUCCESS")
    assert found["slower_status"] == "ERROR TimeoutError::the task took longer than 0.7 s"
    assert flow(scrape, slow, slower, tasks=["p1"], timeout=0.7) == ["p1"]


def test_waiting_for_a_hosts_pace_costs_no_time_of_a_task(shop: Site) -> None:
    assert len(flow(scrape, tasks=pages(shop, *range(12)), rate="10/s", timeout=0.8)) == 12
    assert min(gaps(shop.hits)) > 0.08


def test_a_host_that_hangs_is_told_to_the_gate(shop: Site) -> None:
    """A task that ends for want of time is a failure of its host: the breaker opens, and the rest does not wait."""
    shop.hang("/hang/*")
    tasks = {f"h{n}": {"url": shop.url(f"/hang/{n}")} for n in range(12)}
    how = {"per_host": 1, "breaker_failures": 3, "breaker_wait": "60s", "max_wait": "1s", "timeout": 0.3}
    assert flow(scrape, tasks=tasks, **how) == []
    said = [status(key)["scrape_status"].partition("::")[0] for key in tasks]
    assert said.count("ERROR TimeoutError") == 3
    assert said.count("ERROR Held") == 9


def test_a_real_cancellation_is_one_and_the_next_call_goes_on(shop: Site) -> None:
    reached = asyncio.Event()

    @taskify
    async def forever(context: Context, key: str, status: dict[str, Any]) -> None:
        reached.set()
        await asyncio.sleep(60)

    async def main() -> None:
        running = asyncio.create_task(
            execute_async([scrape, forever], "flow", pages(shop, 1, 2, 3), rate="none", max_parallelism=1)
        )
        await reached.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert running.cancelled()

    asyncio.run(main())
    found = status("p1")
    assert found["scrape_status"] == "SUCCESS"
    assert "forever_status" not in found
    assert status("p3") == {"name": "p3", "params": {"url": shop.url("/3")}}
    assert flow(scrape, tasks=["p1", "p2", "p3"]) == ["p1", "p2", "p3"]
    assert shop.paths()["/1"] == 1


def test_an_executor_cannot_pass_over_a_cancellation(shop: Site) -> None:
    reached = asyncio.Event()

    @taskify
    async def stubborn(context: Context, key: str, status: dict[str, Any]) -> dict[str, Any]:
        try:
            reached.set()
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return {"done": True}
        return {}

    after = Counted("after")

    async def main() -> None:
        running = asyncio.create_task(execute_async([stubborn, after.step], "flow", {"a": {}}, rate="none"))
        await reached.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(main())
    assert status("a")["stubborn"] == {"done": True}
    assert after.runs == []


def test_ctrl_c_leaves_whole_files_and_the_same_call_goes_on(shop: Site, tmp_path: Path) -> None:
    shop.page("/slow", "<p>slow</p>", latency=30)
    script = f"""
        from gossamer.flow import execute, scrape
        tasks = {{"a": {{"url": "{shop.url("/1")}"}}, "b": {{"url": "{shop.url("/slow")}"}}}}
        execute([scrape], "flow", tasks, rate="none")
        """
    (tmp_path / "script.py").write_text(textwrap.dedent(script))
    with subprocess.Popen([sys.executable, "script.py"], cwd=tmp_path, stderr=subprocess.PIPE) as running:
        while "/slow" not in shop.paths() or not Path("flow/a.scrape").exists():
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=30)
    assert b"KeyboardInterrupt" in told
    assert (status("a")["scrape_status"], status("b")["params"]) == ("SUCCESS", {"url": shop.url("/slow")})
    shop.page("/slow", "<p>slow</p>")
    assert flow(scrape, tasks=["a", "b"]) == ["a", "b"]
    assert shop.paths()["/1"] == 1


def test_it_works_in_a_running_loop_and_without_one(shop: Site) -> None:
    async def main() -> list[str]:
        with pytest.raises(ConfigError, match="await execute_async"):
            execute([scrape], "flow", {})
        return await execute_async([scrape], Path("deep/er"), pages(shop, 1), rate="none")

    assert asyncio.run(main()) == ["p1"]
    assert execute([scrape], "deep/er", ["p1"]) == ["p1"]


# -- politeness ------------------------------------------------------------------------------------------------


def test_robots_is_obeyed_and_asked_once(shop: Site) -> None:
    shop.robots("User-agent: *\nDisallow: /1\nCrawl-delay: 0.1\n")
    assert flow(scrape, tasks=pages(shop, *range(6))) == ["p0", "p2", "p3", "p4", "p5"]
    assert status("p1")["scrape_status"].startswith("ERROR Forbidden::robots.txt does not allow it for gossamer")
    assert shop.paths()["/robots.txt"] == 1
    assert shop.paths()["/1"] == 0
    assert min(gaps([hit for hit in shop.hits if hit.path != "/robots.txt"])) > 0.08
    assert flow(scrape, tasks=["p1"], robots=False) == ["p1"]


def test_a_robots_that_hangs_costs_no_task_its_time(shop: Site) -> None:
    shop.hang("/robots.txt", times=1, then=Answer(status=404))
    assert len(flow(scrape, tasks=pages(shop, 1, 2), timeout=0.5)) == 2
    assert shop.paths()["/robots.txt"] == 2


def test_per_host_and_parallelism_hold(site: Site) -> None:
    for n in range(12):
        site.page(f"/{n}", "<p>x</p>", latency=0.05)
    flow(scrape, tasks=pages(site, *range(12)))
    assert site.peak == 4
    site.clear()
    flow(scrape, tasks=pages(site, *range(12)), per_host=12, max_parallelism=2, directory="two")
    assert site.peak == 2


def test_retry_after_is_waited_for_and_a_long_one_is_left_to_the_next_call(shop: Site) -> None:
    shop.flaky("/1", status=429, retry_after="1")
    began = time.monotonic()
    assert flow(scrape, tasks=pages(shop, 1), timeout=0.9) == ["p1"]
    assert time.monotonic() - began > 0.9
    shop.flaky("/2", status=503, retry_after="7200")
    assert flow(scrape, tasks=pages(shop, 2, 3), per_host=1) == []
    assert status("p3")["scrape_status"].startswith("ERROR Held::127.0.0.1")
    assert "Retry-After: 7200 s" in status("p2")["scrape_status"]


def test_a_task_that_waits_for_its_host_keeps_no_other_from_working(shop: Site) -> None:
    with Site() as quick:
        for n in range(4):
            quick.page(f"/{n}", "<p>quick</p>")
        slow = {f"slow{n}": {"url": shop.url(f"/{n}")} for n in range(4)}
        tasks = slow | {f"quick{n}": {"url": quick.url(f"/{n}")} for n in range(4)}
        assert len(flow(scrape, tasks=tasks, rate="4/s", max_parallelism=1)) == 8
        # Side by side: 5 requests to each, 0.25 s apart. One after the other it would be twice that.
        everything = sorted(hit.at for hit in [*shop.hits, *quick.hits])
        assert everything[-1] - everything[0] < 1.8


def test_what_hosts_asked_for_is_kept_in_a_store_if_one_is_given(shop: Site) -> None:
    shop.flaky("/1", status=503, retry_after="7200")
    assert flow(scrape, tasks=pages(shop, 1), store="polite.db", retries=0) == []
    before = len(shop.hits)
    assert flow(scrape, tasks=pages(shop, 2), store="polite.db") == []
    assert "Retry-After" in status("p2")["scrape_status"]
    assert len(shop.hits) == before


def test_certificates_are_verified(shop: Site) -> None:
    with TlsFront(shop.authority) as front:
        url = f"https://localhost:{front.port}/1"
        assert flow(scrape, tasks={"tls": {"url": url}}, retries=0) == []
        assert status("tls")["scrape_status"].startswith("ERROR Closed::")
        assert flow(scrape, tasks={"tls": {"url": url}}, insecure_hosts=[f"localhost:{front.port}"]) == ["tls"]


def test_a_redirect_into_the_house_is_refused(shop: Site) -> None:
    with Site() as inside:
        inside.page("/admin", "<p>secret</p>")
        shop.redirect("/out", inside.url("/admin"))
        shop.redirect("/home", "/1")
        tasks = {"out": {"url": shop.url("/out")}, "home": {"url": shop.url("/home")}}
        assert flow(scrape, tasks=tasks) == ["home"]
        assert "is not a public address" in status("out")["scrape_status"]
        assert inside.hits == []
        assert flow(scrape, tasks=["out"], allow_private=True) == ["out"]


def test_an_executors_own_urls_are_no_start_urls(shop: Site) -> None:
    with Site() as inside:
        inside.page("/admin", "<p>secret</p>")

        @taskify
        async def curious(context: Context, key: str, status: dict[str, Any]) -> dict[str, Any]:
            async with context.session.get(inside.url("/admin")) as answer:
                return {"status": answer.status}

        assert flow(scrape, curious, tasks=pages(shop, 1)) == []
        assert "not a public address" in status("p1")["curious_status"]
        assert inside.hits == []


def test_settings_that_mean_nothing_to_a_flow_are_refused(shop: Site) -> None:
    for knobs, told in [
        ({"depth": 3}, "'depth' means nothing to a flow"),
        ({"rat": "1/s"}, "did you mean 'rate'"),
        ({"rate": "fast"}, "rate = 'fast' cannot be used"),
        ({"timeout": 0}, "timeout = 0 cannot be used"),
        ({"max_parallelism": 0}, "max_parallelism = 0 cannot be used"),
    ]:
        with pytest.raises(ConfigError, match=told):
            flow(scrape, tasks=pages(shop, 1), **knobs)
    assert shop.hits == []


# -- what goes along -------------------------------------------------------------------------------------------


def test_a_payload_is_posted_as_json(site: Site) -> None:
    site.handler("/search", lambda hit: Answer(body=hit.body, headers={"Content-Type": "application/json"}))
    tasks = {"q": {"url": site.url("/search"), "post_payload": {"q": "käse"}}}
    tasks |= {"empty": {"url": site.url("/search"), "post_payload": {}}}
    assert flow(scrape, tasks=tasks) == ["q", "empty"]
    hits = asked(site, "/search")
    assert {hit.method for hit in hits} == {"POST"}
    assert {hit.headers["content-type"] for hit in hits} == {hit.headers["accept"] for hit in hits}
    assert json.loads(Path("flow/q.scrape").read_bytes()) == {"q": "käse"}
    assert status("q")["params"]["post_payload"] == {"q": "käse"}


def test_cookies_are_the_tasks_own_or_the_flows_and_go_to_no_other_host(shop: Site) -> None:
    with Site() as other:
        other.page("/landing", "<p>x</p>")
        shop.redirect("/away", other.url("/landing"))
        tasks = pages(shop, 1, 2) | {"away": {"url": shop.url("/away")}}
        tasks["p1"]["cookies"] = {"sid": "mine"}
        how: dict[str, Any] = {"context_params": {"cookies": {"sid": "ours"}}, "allow_private": True}
        assert len(flow(scrape, tasks=tasks, **how)) == 3
        assert [asked(shop, path)[0].headers.get("cookie") for path in ("/1", "/2", "/away")] == [
            "sid=mine",
            "sid=ours",
            "sid=ours",
        ]
        assert "cookie" not in other.hits[-1].headers
        assert "cookie" not in asked(shop, "/robots.txt")[0].headers


def test_no_secret_reaches_a_file(shop: Site) -> None:
    url = shop.url("/1").replace("http://", "http://ann:hunter2@")
    params = {
        "url": url,
        "cookies": {"sid": "hunter2"},
        "post_payload": {"user": "ann", "password": "hunter2"},
        "headers": {"Authorization": "Bearer hunter2"},
    }
    assert flow(scrape, tasks={"p": params}) == ["p"]
    sent = asked(shop, "/1")[0]
    assert (sent.headers["cookie"], json.loads(sent.body)["password"]) == ("sid=hunter2", "hunter2")
    assert all(b"hunter2" not in path.read_bytes() for path in Path("flow").iterdir())
    assert flow(scrape, tasks={"p": params}) == ["p"]
    assert shop.paths()["/1"] == 1
    assert flow(scrape, tasks=["p"], force_executors=["scrape"]) == []
    assert (
        "had secrets, which no file keeps (post_payload.password, headers.Authorization, cookies, the login"
        in (status("p")["scrape_status"])
    )
    assert flow(scrape, tasks={"p": params}) == ["p"]


def test_cookies_of_the_flow_stand_in_for_those_no_file_keeps(shop: Site) -> None:
    flow(scrape, tasks={"p": {"url": shop.url("/1"), "cookies": {"sid": "1"}}})
    assert flow(scrape, tasks=["p"], force_executors=["all"]) == []
    assert flow(scrape, tasks=["p"], context_params={"cookies": {"sid": "2"}}) == ["p"]
    assert asked(shop, "/1")[-1].headers["cookie"] == "sid=2"


def test_everything_goes_through_the_proxies(shop: Site) -> None:
    with HttpProxy(login=("ann", "hunter2")) as german, HttpProxy() as other:
        provider = ProxyProviderFromDict({"DE": [german.url], "*": [other.url]})
        tasks = pages(shop, 1, 2)
        tasks["p1"]["country"] = "de"

        @taskify
        async def one(context: Context, key: str, status: dict[str, Any]) -> dict[str, Any]:
            assert context.proxy_provider is provider
            return {"proxy": context.proxy_provider.get_one_proxy()}

        assert flow(scrape, one, tasks=tasks, proxy_provider=provider) == ["p1", "p2"]
        assert (len(german.targets()), len(other.targets())) == (1, 2)
        assert {hit.path for hit in shop.hits} == {"/robots.txt", "/1", "/2"}
    assert all(b"hunter2" not in path.read_bytes() for path in Path("flow").iterdir())
    assert flow(scrape, tasks=["p1"], force_executors="all", proxy_provider=ProxyProviderFromList([])) == []
    assert "there is no proxy" in status("p1")["scrape_status"]


def test_proxies_that_do_not_answer_each_time_are_taken_out(site: Site) -> None:
    site.page("/ip", "{}")
    with HttpProxy() as good, HttpProxy() as flaky, HttpProxy() as hanging:
        flaky.fail("reset", times=1)
        hanging.fail("hang")
        dead = f"http://127.0.0.1:{dead_port()}"
        provider = ProxyProviderFromList([good.url, flaky.url, hanging.url, dead])
        began = time.monotonic()
        alive = asyncio.run(check_proxies(provider, timeout=0.5, retries=3, url=site.url("/ip")))
        assert time.monotonic() - began < 5
        assert [proxy.url for proxy in alive] == [good.url] == [proxy.url for proxy in provider.proxies]
        assert len(good.targets()) == 3
    asyncio.run(check_proxies(provider, timeout=0.5, retries=1, url=site.url("/ip")))
    assert provider.get_one_proxy() is None


# -- executors -------------------------------------------------------------------------------------------------


def test_the_executor_of_the_readme_runs_as_it_is_written(shop: Site) -> None:
    import hashlib

    @taskify
    async def fetch(context: Any, key: Any, status: Any) -> Any:
        response_status: dict[str, Any] = {}
        url = status["params"]["url"]
        async with context.session.get(url=url) as response:
            status = response.status
            headers = {k: response.headers.getone(k) for k in response.headers.keys()}  # noqa: SIM118
            if status != 200:
                raise RuntimeError(f"HTTP response {status}")
            resp = await response.read()
            response_status["size"] = len(resp)
            response_status["content"] = hashlib.md5(resp).hexdigest()
            response_status["response_headers"] = headers
            with open(context.dir / f"{key}.scrape", mode="wb") as f:  # noqa: ASYNC230
                f.write(resp)
        return response_status

    assert flow(fetch, tasks=pages(shop, 1)) == ["p1"]
    assert status("p1")["fetch"]["response_headers"]["content-type"].startswith("text/html")


def test_what_a_session_can_do(site: Site) -> None:
    site.json("/data", {"n": 1})
    site.handler("/echo", lambda hit: Answer(body=f"<h1>{hit.method} {hit.headers.get('x-n')}</h1>{hit.body.decode()}"))
    site.page("/bad", "no", status=418)

    @taskify
    async def step(context: Context, key: str, status: dict[str, Any]) -> dict[str, Any]:
        session = context.session
        data, echo, bad = await asyncio.gather(
            session.get(site.url("/data")),
            session.post(site.url("/echo"), data={"a": "b"}, headers={"X-N": "7"}),
            session.head(site.url("/bad")),
        )
        with pytest.raises(RuntimeError, match="HTTP response 418"):
            bad.raise_for_status()
        with pytest.raises(RuntimeError, match="no JSON"):
            await echo.json()
        assert not bad.ok
        return {"n": (await data.json())["n"], "title": echo.page.css("h1").text, "text": await echo.text()}

    assert flow(step, tasks={"t": {"url": site.url("/data")}}) == ["t"]
    assert status("t")["step"] == {"n": 1, "title": "POST 7", "text": "<h1>POST 7</h1>a=b"}


def test_the_context(shop: Site) -> None:
    seen: list[Context] = []

    async def look(context: Context, key: str, status: dict[str, Any]) -> tuple[dict[str, Any], bool]:
        seen.append(context)
        return {"did": "run"}, True

    how: dict[str, Any] = {"context_params": {"n": 7}, "timeout": 9, "max_parallelism": 3}
    assert flow(look, tasks={"a": {}}, force_executors=["look"], **how) == ["a"]
    context = seen[0]
    assert (context.dir, context.timeout_seconds, context.params) == (Path("flow"), 9.0, {"n": 7})
    assert context.force_executors == context.forced_executors == ("look",)
    assert context.proxy_provider is None
    assert isinstance(context.semaphore, asyncio.Semaphore)
    assert status("a")["look"] == {"did": "run"}


def test_a_body_that_is_not_what_was_hoped_for_leaves_no_file(shop: Site) -> None:
    def callback(content: bytes) -> None:
        if b"page 1" not in content:
            raise RuntimeError("Scrape missing data.")

    @taskify(name="scrape")
    async def checked(context: Context, key: str, status: dict[str, Any]) -> dict[str, Any]:
        return await scrape_with_validation(context, key, status, callback)

    Path("flow").mkdir()
    Path("flow/p2.scrape").write_text("of an earlier time")
    assert flow(checked, tasks=pages(shop, 1, 2)) == ["p1"]
    assert status("p2")["scrape_status"] == "ERROR RuntimeError::Scrape missing data."
    assert Path("flow/p1.scrape").read_text() == "<p>page 1</p>"
    assert not Path("flow/p2.scrape").exists()


def test_a_body_too_large_for_memory_is_kept_as_any_other(site: Site) -> None:
    body = os.urandom(1 << 16) * 32
    site.page("/big", body, headers={"Content-Type": "application/octet-stream"})
    assert flow(scrape, tasks={"big": {"url": site.url("/big")}}, spool_above="1MB") == ["big"]
    assert Path("flow/big.scrape").read_bytes() == body
    assert status("big")["scrape"]["size"] == len(body)
    assert sorted(path.name for path in Path("flow").iterdir()) == ["big.scrape", "big.status.json"]


def test_images(site: Site) -> None:
    image = pytest.importorskip("PIL.Image")
    import io

    made = io.BytesIO()
    image.new("RGB", (600, 300), "red").save(made, "PNG")
    site.page("/a.png", made.getvalue(), headers={"Content-Type": "image/png"})
    site.page("/b.png", "<p>no image</p>")
    assert flow(scrape, parse_image, thumbnail, tasks=urls_to_tasks([site.url("/a.png")])) != []
    key = next(iter(urls_to_tasks([site.url("/a.png")])))
    assert status(key)["parse_image"] == {"format": "PNG", "width": 600, "height": 300}
    assert status(key)["thumbnail"] == {"file": f"{key}.thumbnail.webp", "width": 256, "height": 128}
    assert flow(scrape, parse_image, tasks={"b": {"url": site.url("/b.png")}}) == []
    assert status("b")["parse_image_status"].startswith("ERROR RuntimeError::b.scrape is no image")


def test_without_pillow_it_is_said_what_to_do(shop: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ConfigError, match="pip install pillow"):
        flow(scrape, parse_image, tasks=pages(shop, 1))


def test_a_bar_is_shown_on_a_terminal_only(
    shop: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flow(scrape, tasks=pages(shop, 1))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    flow(scrape, tasks=pages(shop, 1, 2))
    assert "tasks" in capsys.readouterr().err
    flow(scrape, tasks=pages(shop, 1, 2), quiet=True)
    assert capsys.readouterr().err == ""


# -- many of them ----------------------------------------------------------------------------------------------


def test_many_tasks_are_done_and_a_restart_asks_for_nothing(site: Site) -> None:
    site.page("/p/*", "<p>x</p>")
    tasks = {f"t{n}": {"url": site.url(f"/p/{n}")} for n in range(400)}
    assert len(flow(scrape, tasks=tasks, per_host=50)) == 400
    assert len(site.hits) == 401
    assert len(flow(scrape, tasks=list(tasks))) == 400
    assert len(site.hits) == 401


@pytest.fixture
def quotes() -> Iterator[Any]:
    """The sites of the documentation."""
    from tests.docs.places import places

    with places() as started:
        yield started


def test_the_example_works_and_its_second_run_asks_for_nothing(quotes: Any, tmp_path: Path) -> None:
    text = (ROOT / "examples" / "flow.py").read_text("utf-8")
    (tmp_path / "flow.py").write_text(quotes.local(text).replace('rate="5/s"', 'rate="none"'))
    for _ in range(2):
        done = subprocess.run([sys.executable, "flow.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert "3 of 3 pages" in done.stdout
