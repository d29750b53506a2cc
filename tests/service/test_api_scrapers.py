"""The paths that the teams' programs know: what they answer, and the defects they had."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.service.conftest import Served


def test_a_start_is_one_pending_run(served: Served, api: httpx.Client) -> None:
    answer = api.post("/api/scrapers/start/", json={"scraper_name": "quotes", "max_jobs": 5, "max_pages": 7})
    assert answer.status_code == 202, answer.text
    told = answer.json()
    assert (told["scraper_name"], told["status"]) == ("quotes", "pending")
    assert served.rows("select id, state, asked_by, via, trusted from run") == [
        (told["job_id"], "pending", "the-admin", "api", 1)
    ]
    assert '"max_items":5' in served.rows("select options from run")[0][0]


def test_a_scraper_that_is_at_it_is_not_started_again(served: Served, api: httpx.Client) -> None:
    first = api.post("/api/scrapers/start/", json={"scraper_name": "quotes"}).json()["job_id"]
    again = api.post("/api/scrapers/start/", json={"scraper_name": "quotes"})
    assert again.status_code == 409
    assert (again.json()["active_run"], again.json()["active_jobs"]) == (first, 1)
    assert "cancel" in again.json()["error"]
    assert len(served.rows("select id from run")) == 1


def test_of_many_who_start_at_once_one_does(served: Served) -> None:
    def ask(_: int) -> int:
        with served.client("run") as client:
            return client.post("/api/scrapers/start/", json={"scraper_name": "quotes"}).status_code

    with ThreadPoolExecutor(8) as crowd:
        statuses = sorted(crowd.map(ask, range(24)))
    assert statuses == [202] + [409] * 23
    assert len(served.rows("select id from run")) == 1


def test_a_start_that_ended_does_not_stand_in_the_way_of_the_next(served: Served, api: httpx.Client) -> None:
    first = api.post("/api/scrapers/start/", json={"scraper_name": "quotes"}).json()["job_id"]
    assert api.delete(f"/api/scrapers/cancel/{first}/").json()["status"] == "cancelled"
    assert api.post("/api/scrapers/start/", json={"scraper_name": "quotes"}).status_code == 202


@pytest.mark.parametrize(
    ("body", "status", "names"),
    [
        ({}, 400, "scraper_name"),
        ({"scraper_name": ""}, 400, "scraper_name"),
        ({"scraper_name": 5}, 400, "scraper_name"),
        ({"scraper_name": "quotes", "max_jobs": 0}, 400, "max_jobs"),
        ({"scraper_name": "quotes", "max_pages": "many"}, 400, "max_pages"),
        ({"scraper_name": "quotes", "max_pages": True}, 400, "max_pages"),
        ({"scraper_name": "quotes", "params": [1]}, 400, "params"),
        ({"scraper_name": "nobody"}, 404, "quotes"),
    ],
)
def test_what_is_wrong_with_a_start_is_said(api: httpx.Client, body: Any, status: int, names: str) -> None:
    answer = api.post("/api/scrapers/start/", json=body)
    assert answer.status_code == status
    assert names in answer.json()["error"]


@pytest.mark.parametrize("field", ["code", "file", "proxy", "proxies", "headers", "browser_args", "ref", "store"])
def test_no_body_carries_what_belongs_in_files(served: Served, api: httpx.Client, field: str) -> None:
    answer = api.post("/api/scrapers/start/", json={"scraper_name": "quotes", field: "x"})
    assert answer.status_code == 400
    assert answer.json()["details"] == [{"field": f"body.{field}", "problem": "there is no such field: leave it out"}]
    assert served.rows("select id from run") == []


def test_parameters_reach_the_run_which_is_then_not_trusted(served: Served, api: httpx.Client) -> None:
    body = {"scraper_name": "quotes", "params": {"year": 2026, "tags": ["a", "ü"], "deep": {"x": None}}}
    assert api.post("/api/scrapers/start/", json=body).status_code == 202
    assert served.rows("select params, trusted from run") == [('{"deep":{"x":null},"tags":["a","ü"],"year":2026}', 0)]


def test_starting_all_says_what_became_of_each(api: httpx.Client) -> None:
    busy = api.post("/api/scrapers/start/", json={"scraper_name": "quotes"}).json()["job_id"]
    answer = api.post("/api/scrapers/start-all/")
    assert answer.status_code == 202
    assert list(answer.json()["started"]) == ["books"]
    assert f"run {busy}" in answer.json()["refused"]["quotes"]


def test_a_run_is_cancelled_once(api: httpx.Client) -> None:
    run = api.post("/api/scrapers/start/", json={"scraper_name": "quotes"}).json()["job_id"]
    assert api.delete(f"/api/scrapers/cancel/{run}/").status_code == 200
    again = api.delete(f"/api/scrapers/cancel/{run}/")
    assert again.status_code == 400
    assert "nothing to cancel" in again.json()["error"]
    assert api.delete("/api/scrapers/cancel/999/").status_code == 404


def test_a_cancel_of_a_running_run_is_a_wish_for_who_walks_it(served: Served, api: httpx.Client) -> None:
    run = api.post("/api/scrapers/start/", json={"scraper_name": "quotes"}).json()["job_id"]
    served.write("update run set state = 'running', started = created")
    answer = api.delete(f"/api/scrapers/cancel/{run}/").json()
    assert answer["status"] == "running"
    assert served.rows("select wanted from run") == [("cancel",)]


def test_the_status_of_a_run_tells_its_numbers(served: Served, api: httpx.Client) -> None:
    run = api.post("/api/scrapers/start/", json={"scraper_name": "quotes"}).json()["job_id"]
    served.write(
        "update run set state = 'failed', reason = 'start_failed', ended = created + 2, seconds = 1.5, items = 10, "
        "new_items = 4, pages = 3"
    )
    told = api.get(f"/api/scrapers/status/{run}/").json()
    assert (told["status"], told["error_message"]) == ("failed", "start_failed")
    assert (told["jobs_found"], told["jobs_new"], told["jobs_duplicate"]) == (10, 4, 6)
    assert told["triggered_by"] == "the-admin"
    assert told["created_at"] < told["completed_at"]
    missing = api.get("/api/scrapers/status/12345/")
    assert missing.status_code == 404
    assert "/api/runs" in missing.json()["error"]


def test_the_list_says_what_a_file_says(served: Served, api: httpx.Client) -> None:
    text = "from gossamer import Scraper\nclass Oops(Scraper):\n    start_urls = int('no')\n"
    (served.folder / "broken.py").write_text(text)
    served.service.catalog.refresh()
    told = api.get("/api/scrapers/list/").json()
    assert [each["name"] for each in told["scrapers"]] == ["books", "quotes"]
    assert told["scrapers"][1] == {
        "name": "quotes",
        "display_name": "Quotes",
        "description": "What people said.",
        "enabled": True,
        "base_url": "http://quotes.test/",
        "max_jobs": None,
        "max_pages": None,
        "takes": {},
        "paused": "",
    }
    assert told["broken"] == [{"file": "broken.py", "why": told["broken"][0]["why"]}]
    assert "ValueError" in told["broken"][0]["why"]


def test_what_goes_on_is_active(api: httpx.Client) -> None:
    runs = [
        api.post("/api/scrapers/start/", json={"scraper_name": name}).json()["job_id"] for name in ("quotes", "books")
    ]
    told = api.get("/api/scrapers/active/").json()
    assert ([job["id"] for job in told["active_jobs"]], told["count"]) == (runs[::-1], 2)


def test_statistics_are_those_of_the_runs_that_ended(served: Served, api: httpx.Client) -> None:
    served.write(
        "insert into scraper (name, runs, successes, failures, seconds, items, new_items) "
        "values ('quotes', 4, 3, 1, 20, 100, 30)"
    )
    told = api.get("/api/scrapers/stats/?fresh").json()
    assert (told["total_runs"], told["completed_runs"], told["failed_runs"]) == (4, 3, 1)
    assert (told["success_rate"], told["avg_execution_time"]) == (75.0, 5.0)
    assert (told["total_jobs_scraped"], told["total_new_jobs"]) == (100, 30)
    assert told["jobs_by_source"] == {"quotes": 100}


def test_history_has_pages_with_numbers(served: Served, api: httpx.Client) -> None:
    served.write(
        "insert into run (id, scraper, ref, signature, params, options, state, created) "
        "with recursive n(i) as (select 1 union all select i + 1 from n where i < 45) "
        "select i, case when i % 3 <> 0 then 'quotes' else 'books' end, '', '', '{}', '{}', 'finished', i from n"
    )
    told = api.get("/api/scrapers/history/?page=2&limit=20").json()
    assert [job["id"] for job in told["jobs"]] == list(range(25, 5, -1))
    assert told["pagination"] == {"page": 2, "page_size": 20, "total": 45, "pages": 3}
    told = api.get("/api/scrapers/history/?scraper=books&limit=100").json()
    assert {job["scraper_name"] for job in told["jobs"]} == {"books"}
    assert told["pagination"]["total"] == 15
    assert api.get("/api/scrapers/history/?page=9999&limit=100").status_code == 400
    assert api.get("/api/scrapers/history/?limit=101").status_code == 400
    assert api.get("/api/scrapers/history/?page=0").status_code == 400


def test_health_tells_strangers_one_word(served: Served, api: httpx.Client) -> None:
    with served.client(None) as stranger:
        assert stranger.get("/api/scrapers/health/").json() == {"status": "healthy"}
    told = api.get("/api/scrapers/health/").json()
    assert (told["database"], told["scrapers_available"]) == ("connected", 2)


@pytest.mark.parametrize("path", ["list", "active", "stats", "history", "recent-jobs", "status/1", "config/quotes"])
def test_nothing_else_is_for_strangers(served: Served, path: str) -> None:
    with served.client(None) as stranger:
        answer = stranger.get(f"/api/scrapers/{path}/")
    assert answer.status_code == 401
    assert "token" in answer.json()["error"]


def test_scopes_say_who_may_do_what(served: Served) -> None:
    with served.client("read") as reader, served.client("run") as runner:
        body = {"scraper_name": "quotes"}
        assert reader.get("/api/scrapers/list/").status_code == 200
        assert reader.post("/api/scrapers/start/", json=body).status_code == 403
        assert runner.post("/api/scrapers/start/", json=body).status_code == 202
        assert runner.patch("/api/scrapers/config/quotes/", json={"enabled": False}).status_code == 403


@pytest.mark.parametrize("path", ["/api/scrapers/start", "/api/scrapers/start/", "/api/scrapers/start//"])
def test_a_slash_more_or_less_loses_no_body(api: httpx.Client, path: str) -> None:
    assert api.post(path, json={"scraper_name": "quotes"}, follow_redirects=False).status_code == 202


def test_a_scraper_is_configured(served: Served, api: httpx.Client) -> None:
    before = api.get("/api/scrapers/config/quotes/").json()
    assert (before["enabled"], before["max_jobs"], before["schedule"], before["timeout"]) == (True, None, "", 30.0)
    changes = {"max_jobs": 50, "max_pages": 9, "timeout": "5s", "retry_count": 1, "schedule": "0 6 * * 1"}
    after = api.patch("/api/scrapers/config/quotes/", json=changes).json()
    assert (after["max_jobs"], after["max_pages"], after["timeout"], after["retry_count"]) == (50, 9, 5.0, 1)
    assert (after["schedule"], after["schedule_enabled"]) == ("0 6 * * 1", True)
    back = api.put("/api/scrapers/config/quotes/update/", json={"max_jobs": None, "enabled": False}).json()
    assert (back["max_jobs"], back["max_pages"], back["enabled"]) == (None, 9, False)
    refused = api.post("/api/scrapers/start/", json={"scraper_name": "quotes"})
    assert refused.status_code == 409
    assert "enable it" in refused.json()["error"]
    assert api.get("/api/scrapers/list/").json()["scrapers"][1]["enabled"] is False
    assert ("the-admin", "scraper.configure", "quotes") in served.rows("select who, action, target from trail")


def test_a_schedule_of_a_file_is_shown_and_changed_in_the_configuration(api: httpx.Client) -> None:
    assert api.get("/api/scrapers/config/books/").json()["schedule"] == "every 6h"
    assert api.patch("/api/scrapers/config/books/", json={"schedule": "1h"}).json()["schedule"] == "every 1h"
    assert api.patch("/api/scrapers/config/books/", json={"schedule": None}).json()["schedule"] == "every 6h"
    off = api.patch("/api/scrapers/config/books/update/", json={"schedule_enabled": False}).json()
    assert off["schedule_enabled"] is False


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"max_jobs": -1},
        {"schedule": "whenever"},
        {"schedule": "61 * * * *"},
        {"timeout": "soon"},
        {"proxies": ["http://10.0.0.1:1"]},
        {"knobs": {"rate": "100/s"}},
        {"knobs": {"headers": {"a": "b"}}},
        {"knobs": {"files": "/etc"}},
    ],
)
def test_a_configuration_that_cannot_be_changes_nothing(served: Served, api: httpx.Client, changes: Any) -> None:
    answer = api.patch("/api/scrapers/config/quotes/", json={"max_pages": 3, **changes} if changes else {})
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]
    assert served.rows("select name, config from scraper") == []
    assert api.patch("/api/scrapers/config/nobody/", json={"max_jobs": 1}).status_code == 404
