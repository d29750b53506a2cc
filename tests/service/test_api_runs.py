"""Runs by their own path: start, look, cancel, resume, retry, decide, delete."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.service.conftest import Served


def start(api: httpx.Client, scraper: str = "quotes", **body: Any) -> int:
    answer = api.post("/api/runs", json={"scraper": scraper, **body})
    assert answer.status_code == 202, answer.text
    run: int = answer.json()["run"]
    return run


def test_a_run_is_started_with_parameters_and_knobs(served: Served, api: httpx.Client) -> None:
    run = start(api, params={"year": 2026}, knobs={"max_pages": 5, "rate": "30/min", "depth": 0})
    told = api.get(f"/api/runs/{run}").json()
    assert (told["id"], told["state"], told["scraper"]) == (run, "pending", "quotes")
    assert (told["asked_by"], told["via"], told["trusted"]) == ("the-admin", "api", False)
    assert told["params"] == {"year": 2026}
    assert told["options"] == {"rate": "0.5", "depth": 0, "max_pages": 5}
    assert (told["by_reason"], told["hosts"], told["progress"]) == ({}, [], None)
    assert served.rows("select who, via, action, target, address from trail where action = 'run.start'") == [
        ("the-admin", "api", "run.start", str(run), "127.0.0.1")
    ]


@pytest.mark.parametrize(
    ("knobs", "names"),
    [
        ({"proxies": ["http://10.0.0.1:80"]}, "proxies"),
        ({"headers": {"Cookie": "x"}}, "headers"),
        ({"allow_private": True}, "allow_private"),
        ({"files": "/etc"}, "files"),
        ({"render": True}, "render"),
        ({"user_agent": "me"}, "user_agent"),
        ({"sinks": ["file:///etc"]}, "sinks"),
        ({"rate": "10/s"}, "rate"),
        ({"rate": "none"}, "rate"),
        ({"rate": "quick"}, "rate"),
        ({"timeout": -1}, "timeout"),
        ({"concurrency": 10_001}, "concurrency"),
        ({"revisit": "sometimes"}, "revisit"),
    ],
)
def test_a_knob_that_belongs_in_a_file_is_refused_by_name(
    served: Served, api: httpx.Client, knobs: dict[str, Any], names: str
) -> None:
    answer = api.post("/api/runs", json={"scraper": "quotes", "knobs": knobs})
    assert answer.status_code == 400
    assert names in answer.json()["error"]
    assert served.rows("select id from run") == []


def test_one_run_of_a_scraper_at_a_time(api: httpx.Client) -> None:
    run = start(api)
    answer = api.post("/api/runs", json={"scraper": "quotes"})
    assert (answer.status_code, answer.json()["active_run"]) == (409, run)
    assert api.post("/api/runs", json={"scraper": "nobody"}).status_code == 404


def test_a_run_is_cancelled_and_resumed(served: Served, api: httpx.Client) -> None:
    run = start(api)
    assert api.post(f"/api/runs/{run}/cancel").status_code == 202
    assert api.get(f"/api/runs/{run}").json()["state"] == "cancelled"
    again = api.post(f"/api/runs/{run}/cancel")
    assert (again.status_code, "nothing to cancel" in again.json()["error"]) == (409, True)
    assert api.post(f"/api/runs/{run}/resume").status_code == 202
    assert api.get(f"/api/runs/{run}").json()["state"] == "pending"
    assert api.post(f"/api/runs/{run}/resume").status_code == 409
    assert len(served.rows("select id from run")) == 1


def test_a_resume_waits_for_the_run_that_goes_on(api: httpx.Client) -> None:
    first = start(api)
    api.post(f"/api/runs/{first}/cancel")
    second = start(api)
    answer = api.post(f"/api/runs/{first}/resume")
    assert (answer.status_code, answer.json()["active_run"]) == (409, second)


def test_failed_urls_are_walked_again(served: Served, api: httpx.Client) -> None:
    run = served.fill([{"id": 1}], scraper="quotes")
    assert api.post(f"/api/runs/{run}/retry").status_code == 409
    served.write("update request set state = 3, reason = 'timeout' where run_id = :run", run=run)
    served.write("update run set state = 'finished', failed = 1, via = 'api' where id = :run", run=run)
    told = api.post(f"/api/runs/{run}/retry")
    assert (told.status_code, told.json()["urls"], told.json()["run"]) == (202, 1, run)
    assert api.get(f"/api/runs/{run}").json()["state"] == "pending"


@pytest.mark.parametrize("word", ["accept", "reject"])
def test_a_suspect_run_is_decided_on(served: Served, api: httpx.Client, word: str) -> None:
    run = served.fill([{"id": 1}], scraper="quotes")
    served.write("update run set state = 'finished'")
    refused = api.post(f"/api/runs/{run}/{word}")
    assert (refused.status_code, "not suspect" in refused.json()["error"]) == (409, True)
    served.write("update run set verdict = 'suspect'")
    assert api.post(f"/api/runs/{run}/{word}").status_code == 202
    assert served.rows("select wanted from run") == [(word,)]


def test_a_run_is_deleted_and_its_items_stay(served: Served, api: httpx.Client) -> None:
    run = served.fill([{"id": 1}, {"id": 2}], scraper="quotes")
    assert api.delete(f"/api/runs/{run}").status_code == 409
    served.write("update run set state = 'finished'")
    assert api.delete(f"/api/runs/{run}").json()["deleted"] == 1
    assert api.get(f"/api/runs/{run}").status_code == 404
    assert len(api.get("/api/items").json()["rows"]) == 2
    assert api.delete(f"/api/runs/{run}").status_code == 404


def test_old_runs_are_deleted_but_the_newest_of_each_scraper(served: Served, api: httpx.Client) -> None:
    served.write(
        "insert into run (id, scraper, ref, signature, params, options, state, created, ended) "
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 15) "
        "select i, 'quotes', '', '', '{}', '{}', 'finished', i, i from n"
    )
    assert api.delete("/api/runs").status_code == 400
    assert api.delete("/api/runs?older_than=soon").status_code == 400
    assert api.delete("/api/runs?older_than=30d").json()["deleted"] == 5
    assert len(api.get("/api/runs").json()["rows"]) == 10


def test_what_runs_is_told_with_hosts_and_progress(served: Served, api: httpx.Client) -> None:
    run = start(api)
    served.write("update run set state = 'running', settled = 5")
    told = '{"waiting": 15, "flying": 2, "rate": 3.5, "eta": 4.0, "slowest": "a.test", "hosts": [{"host": "a.test"}]}'
    served.write(
        "insert into worker (name, pid, started, at, data) values ('w', 1, 0, 4e9, :data)",
        data=f'{{"runs": {{"{run}": {told}}}}}',
    )
    served.call(lambda opened: opened.live.look())
    found = api.get(f"/api/runs/{run}").json()
    assert found["hosts"][0]["host"] == "a.test"
    assert (found["progress"]["rate"], found["progress"]["eta"]) == (3.5, 4.0)
    assert 0 < found["progress"]["share"] < 1


@pytest.mark.parametrize("verb", ["cancel", "resume", "retry", "accept", "reject"])
def test_there_is_no_such_run(api: httpx.Client, verb: str) -> None:
    answer = api.post(f"/api/runs/4711/{verb}")
    assert (answer.status_code, "4711" in answer.json()["error"]) == (404, True)


def test_who_may_do_what_with_runs(served: Served) -> None:
    with served.client("read") as reader, served.client("run") as runner, served.client(None) as stranger:
        assert stranger.get("/api/runs").status_code == 401
        assert reader.get("/api/runs").status_code == 200
        assert reader.post("/api/runs", json={"scraper": "quotes"}).status_code == 403
        run = start(runner)
        assert reader.post(f"/api/runs/{run}/cancel").status_code == 403
        assert runner.post(f"/api/runs/{run}/cancel").status_code == 202
        assert runner.delete(f"/api/runs/{run}").status_code == 403
        assert runner.delete("/api/runs?older_than=1d").status_code == 403


def test_starts_are_limited(served: Served, api: httpx.Client) -> None:
    from gossamer.api.limits import Limits

    served.app.state.limits = Limits()
    answers = [api.post("/api/runs", json={"scraper": "quotes"}) for _ in range(12)]
    assert [answer.status_code for answer in answers] == [202] + [409] * 9 + [429] * 2
    assert int(answers[-1].headers["retry-after"]) > 0
    assert "10 starts of runs in a minute" in answers[-1].json()["error"]
    assert api.get("/api/runs").status_code == 200
