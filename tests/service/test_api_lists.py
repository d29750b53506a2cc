"""Everything that is looked at: items, changes, URLs, hosts, logs, errors, schedules, alerts, people, settings."""

from __future__ import annotations

import time
from typing import Any

import httpx
import pytest

from tests.service.conftest import Served


def pages(api: httpx.Client, path: str, **query: Any) -> list[dict[str, Any]]:
    """Every row of a list, page by page."""
    rows: list[dict[str, Any]] = []
    cursor = None
    for _ in range(1000):
        asked = {**query, **({"cursor": cursor} if cursor else {})}
        answer = api.get(path, params=asked)
        assert answer.status_code == 200, answer.text
        rows += answer.json()["rows"]
        cursor = answer.json()["next"]
        if cursor is None:
            return rows
    raise AssertionError("it has no end")


def test_items_come_in_pages_by_cursor(served: Served, api: httpx.Client) -> None:
    served.fill([{"id": n, "name": f"thing {n}"} for n in range(25)], scraper="quotes")
    found = pages(api, "/api/items", limit=10)
    assert sorted(row["data"]["id"] for row in found) == list(range(25))
    assert len({row["id"] for row in found}) == 25
    assert pages(api, "/api/items", scraper="nobody") == []
    assert [row["data"]["id"] for row in pages(api, "/api/items", q="thing 17")] == [17]
    assert [row["data"]["id"] for row in pages(api, "/api/items", where="id > 23")] == [24]


def test_an_item_has_its_history(served: Served, api: httpx.Client) -> None:
    served.fill([{"id": 1, "price": 3}], scraper="quotes")
    second = served.fill([{"id": 1, "price": 4}], scraper="quotes")
    (row,) = api.get("/api/items").json()["rows"]
    told = api.get(f"/api/items/{row['id']}").json()
    assert told["item"]["data"] == {"id": 1, "price": 4}
    assert [change["what"] for change in told["history"]] == ["changed", "new"]
    assert told["history"][0]["fields"] == [{"path": "price", "before": 3, "after": 4}]
    assert told["seen"][0]["run"] == second
    assert api.get("/api/items/999").status_code == 404


def test_changes_tell_what_is_new_changed_and_gone(served: Served, api: httpx.Client) -> None:
    served.fill([{"id": 1}, {"id": 2, "x": 1}], scraper="quotes")
    served.fill([{"id": 2, "x": 2}], scraper="quotes")
    found = pages(api, "/api/changes", limit=1)
    assert sorted(row["what"] for row in found) == ["changed", "gone", "new", "new"]
    assert [row["what"] for row in pages(api, "/api/changes", what="gone")] == ["gone"]
    assert len(pages(api, "/api/changes", since="1h")) == 4
    assert pages(api, "/api/changes", since=time.time() + 1000) == []
    assert [row["id"] for row in pages(api, "/api/items", gone="only")] != []


def test_urls_say_what_became_of_them(served: Served, api: httpx.Client) -> None:
    run = served.fill([{"id": 1}], scraper="quotes")
    (row,) = pages(api, "/api/urls", run=run)
    assert (row["url"], row["state"], row["inactive"]) == ("http://shop.example/", "done", False)
    assert api.put("/api/urls/mark", json={"url": "http://shop.example/", "active": False}).status_code == 200
    (row,) = pages(api, "/api/urls", host="shop.example", state="done")
    assert row["inactive"] is True
    told = api.get("/api/why", params={"url": "http://shop.example/"}).json()
    assert (told["known"], told["inactive"], told["stories"][0]["run"]) == (True, True, run)
    assert told["notes"][0].startswith("deactivated by ")
    assert told["stories"][0]["items"] == [["product", "1"]]
    assert any("quotes" in line for line in told["stories"][0]["sentences"])
    unknown = api.get("/api/why", params={"url": "https://elsewhere.example/"}).json()
    assert (unknown["known"], bool(unknown["guesses"])) == (False, True)
    assert api.get("/api/why", params={"url": "not a url"}).status_code == 400


def test_a_known_url_is_fetched_again(served: Served, api: httpx.Client) -> None:
    run = api.post("/api/runs", json={"scraper": "quotes"}).json()["run"]
    unknown = api.post("/api/urls/refetch", json={"url": "http://shop.example/"})
    assert (unknown.status_code, "hand it in" in unknown.json()["error"]) == (404, True)
    served.fill([{"id": 1}], scraper="quotes")
    ref = served.rows("select ref from run where id = :run", run=run)[0][0]
    served.write("update run set ref = :ref", ref=ref)
    again = api.post("/api/urls/refetch", json={"url": "http://shop.example"})
    assert again.status_code == 202, again.text
    assert served.rows("select url, state from request where run_id = :run", run=again.json()["run"]) == [
        ("http://shop.example/", 0)
    ]


def test_a_batch_gets_a_verdict_on_each_url(served: Served, api: httpx.Client) -> None:
    given = [
        "https://a.example/1",
        "https://a.example/1#again",
        "ftp://a.example/",
        "http://10.0.0.1/",
        "http://localhost:9/",
        "https://user:secret@a.example/",
        "nonsense",
        "https://b.example/",
    ]
    answer = api.post("/api/urls/batch", json={"urls": given, "parser": "article"})
    assert answer.status_code == 202, answer.text
    told = answer.json()
    assert [each["ok"] for each in told["verdicts"]] == [True, False, False, False, False, False, False, True]
    assert all(each["why"] for each in told["verdicts"] if not each["ok"])
    assert (told["accepted"], told["refused"]) == (2, 6)
    assert served.rows("select url from request where run_id = :run order by id", run=told["run"]) == [
        ("https://a.example/1",),
        ("https://b.example/",),
    ]
    none = api.post("/api/urls/batch", json={"urls": ["nonsense"], "parser": "article"}).json()
    assert (none["run"], none["accepted"]) == (None, 0)
    unknown = api.post("/api/urls/batch", json={"urls": ["https://a.example/"], "parser": "magic"})
    assert (unknown.status_code, "magic" in unknown.json()["error"]) == (400, True)


def test_ten_thousand_urls_are_taken_and_one_more_is_not(served: Served, api: httpx.Client) -> None:
    many = [f"https://a.example/{n}" for n in range(10_000)]
    answer = api.post("/api/urls/batch", json={"urls": many, "parser": "auto"})
    assert (answer.status_code, answer.json()["accepted"]) == (202, 10_000)
    run = answer.json()["run"]
    assert served.rows("select count(*) from request where run_id = :run", run=run) == [(10_000,)]
    more = api.post("/api/urls/batch", json={"urls": [*many, "https://a.example/more"]})
    assert (more.status_code, "urls" in more.json()["error"]) == (400, True)


def test_a_host_is_paused_and_limited(served: Served, api: httpx.Client) -> None:
    assert api.get("/api/sources/new.example").status_code == 404
    told = api.patch("/api/sources/New.Example", json={"paused": True, "budget": 50}).json()
    assert (told["source"]["host"], told["source"]["paused"], told["source"]["budget"]) == ("new.example", True, 50)
    assert told["source"]["ruled_by"] == "the-admin"
    assert [row["host"] for row in pages(api, "/api/sources", paused=True)] == ["new.example"]
    told = api.patch("/api/sources/new.example", json={"paused": False, "budget": None}).json()
    assert (told["source"]["paused"], told["source"]["budget"]) == (False, None)
    for wrong in ({}, {"paused": None}, {"budget": 0}, {"pace": 1}):
        assert api.patch("/api/sources/new.example", json=wrong).status_code == 400, wrong
    assert api.patch("/api/sources/a b", json={"paused": True}).status_code == 400


def test_logs_are_the_events_of_the_store(served: Served, api: httpx.Client) -> None:
    for n in range(1, 4):
        served.write(
            "insert into event (at, level, name, run_id, scraper, message, data) "
            "values (:n, :level, 'run.end', :n, 'quotes', 'it ended', '{\"pages\": 1}')",
            n=n,
            level=("info", "warning", "error")[n - 1],
        )
    assert [row["run"] for row in pages(api, "/api/logs", limit=2)] == [3, 2, 1]
    assert [row["run"] for row in pages(api, "/api/logs", level="warning")] == [3, 2]
    assert [row["run"] for row in pages(api, "/api/logs", after=2)] == [3]
    assert [row["data"] for row in pages(api, "/api/logs", run=1)] == [{"pages": 1}]
    assert api.get("/api/logs?level=loud").status_code == 400


def test_failures_are_grouped_by_cause(served: Served, api: httpx.Client) -> None:
    hour = int(time.time()) // 3600
    served.write("insert into cause (hour, scraper, reason, n) values (:hour, 'quotes', 'timeout', 7)", hour=hour)
    (group,) = api.get("/api/errors").json()["rows"]
    assert (group["reason"], group["count"], group["share"]) == ("timeout", 7, 1.0)
    assert group["advice"]
    assert api.get("/api/errors?hours=0").status_code == 400


def test_throughput_totals_and_queue(served: Served, api: httpx.Client) -> None:
    minute = int(time.time()) // 60
    served.write("insert into tick (minute, scraper, pages, items) values (:minute, 'quotes', 5, 9)", minute=minute)
    told = api.get("/api/figures/throughput?period=hour").json()
    assert (told["step"], len(told["buckets"]), sum(each["pages"] for each in told["buckets"])) == (60.0, 60, 5)
    assert api.get("/api/figures/throughput?period=year").status_code == 400
    served.fill([{"id": 1}], scraper="quotes")
    assert api.get("/api/figures/totals").json()["items"] == {"n": 1, "exact": True}
    assert api.get("/api/figures/queue").json()["running_runs"] == 1


def test_schedules_are_made_changed_run_and_removed(served: Served, api: httpx.Client) -> None:
    (books,) = api.get("/api/schedules").json()["rows"]
    assert (books["name"], books["trigger"], books["by_hand"], books["changed"]) == ("books", "every 6h", False, [])
    made = api.post("/api/schedules", json={"name": "nightly", "scraper": "quotes", "cron": "0 3 * * *"})
    assert made.status_code == 201, made.text
    assert (made.json()["trigger"], made.json()["by_hand"]) == ("0 3 * * *", True)
    again = api.post("/api/schedules", json={"name": "nightly", "scraper": "quotes", "cron": "0 3 * * *"})
    assert again.status_code == 409
    changed = api.patch("/api/schedules/nightly", json={"every": "2h", "params": {"year": 2026}}).json()
    assert (changed["trigger"], changed["params"]) == ("every 2h", {"year": 2026})
    run = api.post("/api/schedules/nightly/run")
    assert run.status_code == 202
    assert api.get(f"/api/runs/{run.json()['run']}").json()["params"] == {"year": 2026}
    assert api.post("/api/schedules/nightly/run").json()["active_run"] == run.json()["run"]
    assert api.delete("/api/schedules/nightly").status_code == 200
    assert api.get("/api/schedules/nightly").status_code == 404
    assert api.delete("/api/schedules/books").status_code == 409
    assert api.patch("/api/schedules/books", json={"enabled": False}).json()["enabled"] is False


def test_the_history_of_a_schedule_comes_in_pages(served: Served, api: httpx.Client) -> None:
    for n in range(5):
        served.write(
            "insert into firing (schedule, due, at, what) values ('books', :due, :due, 'fired')", due=1e9 + n + 0.25
        )
    found = pages(api, "/api/schedules/books/history", limit=2)
    assert [row["due"] for row in found] == [1e9 + n + 0.25 for n in (4, 3, 2, 1, 0)]
    assert api.get("/api/schedules/books/history?cursor=x").status_code == 400
    assert api.get("/api/schedules/nobody/history").status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {"name": "n", "scraper": "quotes"},
        {"name": "N N", "scraper": "quotes", "every": "1h"},
        {"name": "n", "scraper": "quotes", "every": "soon"},
        {"name": "n", "scraper": "quotes", "cron": "* *"},
        {"name": "n", "scraper": "quotes", "every": "1h", "timezone": "Mars/Base"},
        {"name": "n", "scraper": "quotes", "every": "1h", "misfire": "panic"},
        {"name": "n", "scraper": "quotes", "every": "1h", "command": "rm"},
    ],
)
def test_a_schedule_that_cannot_be_is_refused(served: Served, api: httpx.Client, body: dict[str, Any]) -> None:
    assert api.post("/api/schedules", json=body).status_code == 400
    assert served.rows("select name from schedule") == [("books",)]


def test_alerts_are_listed_and_acknowledged(served: Served, api: httpx.Client) -> None:
    for n in range(3):
        served.write("insert into alert (key, kind, at, title) values (:key, 'failure', 1, 'It failed')", key=f"k{n}")
    served.write("insert into dispatch (alert_id, target, next_at) values (1, 'mail', 5)")
    found = pages(api, "/api/alerts", limit=2)
    assert [row["id"] for row in found] == [3, 2, 1]
    assert found[-1]["dispatches"][0]["target"] == "mail"
    assert api.post("/api/alerts/2/ack").json()["seen"] == 1
    assert [row["id"] for row in pages(api, "/api/alerts", unseen=True)] == [3, 1]
    assert api.post("/api/alerts/ack").json()["seen"] == 2
    assert api.post("/api/alerts/99/ack").status_code == 404
    assert api.get("/api/alerts?cursor=0").status_code == 400


def test_the_trail_is_for_those_who_rule(served: Served, api: httpx.Client) -> None:
    api.post("/api/runs", json={"scraper": "quotes"})
    (row,) = pages(api, "/api/trail", action="run")
    assert (row["who"], row["via"], row["action"], row["address"]) == ("the-admin", "api", "run.start", "127.0.0.1")
    with served.client("run") as runner:
        for path in ("trail", "tokens", "users"):
            assert runner.get(f"/api/{path}").status_code == 403


def test_tokens_are_made_shown_once_and_revoked(served: Served, api: httpx.Client) -> None:
    made = api.post("/api/tokens", json={"name": "reader", "scope": "read", "expires": "1h"})
    assert made.status_code == 201, made.text
    secret = made.json()["token"]
    with httpx.Client(base_url=served.url, headers={"Authorization": f"Bearer {secret}"}) as reader:
        assert reader.get("/api/runs").status_code == 200
        listed = api.get("/api/tokens").text
        assert secret not in listed
        assert '"reader"' in listed
        assert api.post("/api/tokens", json={"name": "reader"}).status_code == 409
        assert api.delete(f"/api/tokens/{made.json()['id']}").status_code == 200
        assert reader.get("/api/runs").status_code == 401
    assert api.delete("/api/tokens/999").status_code == 404
    for wrong in ({"name": "x", "scope": "root"}, {"name": "x", "expires": "soon"}, {"name": ""}, {"name": "a b"}):
        assert api.post("/api/tokens", json=wrong).status_code == 400, wrong
    assert secret not in str(served.rows("select * from trail")) + str(served.rows("select * from token"))


def test_the_last_admin_stays(served: Served, api: httpx.Client) -> None:
    (admin,) = [row for row in api.get("/api/tokens").json()["rows"] if row["scope"] == "admin"]
    answer = api.delete(f"/api/tokens/{admin['id']}")
    assert (answer.status_code, "last" in answer.json()["error"]) == (409, True)
    assert api.get("/api/tokens").status_code == 200


def test_people_are_let_in_changed_and_removed(served: Served, api: httpx.Client) -> None:
    body = {"name": "anna", "password": "correct horse battery", "scope": "run"}
    made = api.post("/api/users", json=body)
    assert (made.status_code, made.json()["scope"]) == (201, "run"), made.text
    assert "battery" not in made.text
    assert api.post("/api/users", json=body).status_code == 409
    assert api.post("/api/users", json={**body, "name": "bob", "password": "x"}).status_code == 400
    assert api.patch("/api/users/anna", json={"scope": "read", "enabled": False}).json()["disabled"] is not None
    assert api.patch("/api/users/anna", json={"enabled": True}).json()["disabled"] is None
    assert api.patch("/api/users/anna", json={}).status_code == 400
    assert [row["name"] for row in api.get("/api/users").json()["rows"]] == ["anna"]
    assert api.delete("/api/users/anna").status_code == 200
    assert api.delete("/api/users/anna").status_code == 404
    assert "battery" not in str(served.rows("select * from trail")) + str(served.rows("select * from account"))


def test_rejects_are_listed(served: Served, api: httpx.Client) -> None:
    run = served.fill([{"id": 1}], scraper="quotes")
    served.write(
        "insert into reject (run_id, request_id, kind, data, step, reason, at) "
        "values (:run, 1, 'product', '{\"a\": 1}', 'model', 'it has no title', 5)",
        run=run,
    )
    served.write("update run set rejected = 1")
    (row,) = pages(api, "/api/rejects", scraper="quotes")
    assert (row["step"], row["reason"], row["data"]) == ("model", "it has no title", {"a": 1})


class TestSecretSettings:
    """What may be secret is in no answer."""

    @pytest.fixture
    def flags(self) -> dict[str, Any]:
        return {
            "proxies": ["http://user:hunter2@127.0.0.1:1"],
            "headers": {"Authorization": "Bearer hunter2"},
            "smtp": "smtp://user:hunter2@127.0.0.1:25",
        }

    def test_settings_hide_secrets(self, api: httpx.Client) -> None:
        answer = api.get("/api/settings")
        known = {row["name"]: row for row in answer.json()["rows"]}
        assert known["max_runs"]["value"] == "4"
        assert known["proxies"]["value"] == "1 given"
        assert "hunter2" not in answer.text

    def test_proxies_are_shown_without_passwords_and_checked(self, api: httpx.Client) -> None:
        (row,) = api.get("/api/proxies").json()["rows"]
        assert (row["of"], row["label"], row["ok"]) == ("settings", "http://127.0.0.1:1", None)
        checked = api.post("/api/proxies/check")
        (row,) = checked.json()["rows"]
        assert (row["ok"], bool(row["why"])) == (False, True)
        assert "hunter2" not in checked.text
        assert api.post("/api/proxies/check", json={"url": "http://10.0.0.1/"}).status_code in (200, 400)


def test_health_and_metrics(served: Served, api: httpx.Client) -> None:
    with served.client(None) as stranger:
        assert stranger.get("/healthz").json() == {"status": "ok"}
        answer = stranger.get("/readyz")
        assert (answer.status_code, answer.json()) == (503, {"status": "not ready"})
        told = stranger.get("/metrics")
        assert (told.status_code, told.headers["content-type"].startswith("text/plain")) == (200, True)
    assert api.get("/readyz").json()["checks"]["worker"]["ok"] is False
    served.write("insert into worker (name, pid, started, at) values ('w', 1, 0, :now)", now=time.time())
    with served.client(None) as stranger:
        assert stranger.get("/readyz").json() == {"status": "ready"}
    api.get("/api/runs/5")
    assert 'route="/api/runs/{run}"' in api.get("/metrics").text


def test_the_document_and_its_page_are_open_and_need_no_other_machine(served: Served) -> None:
    with served.client(None) as stranger:
        document = stranger.get("/openapi.json").json()
        page = stranger.get("/docs")
    assert document["info"]["title"] == "Gossamer"
    assert "/api/scrapers/start/" in document["paths"]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation["summary"], path
            assert "422" not in operation["responses"], path
            assert f"<code>{path}</code>" in page.text
            assert method.upper() in page.text
    assert page.headers["content-type"].startswith("text/html")
    for outside in ("<script", "https://cdn", "//unpkg", "src="):
        assert outside not in page.text
    assert "'none'" in page.headers["content-security-policy"]
