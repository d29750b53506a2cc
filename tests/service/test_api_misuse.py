"""What nobody should send, and what they get: a sentence and a status of 4xx, and nothing else happens."""

from __future__ import annotations

import json
import socket
from contextlib import suppress
from typing import Any

import httpx
import pytest

from tests.service.conftest import Served

#: Every way in that takes a body.
BODIES = [
    ("POST", "/api/scrapers/start/"),
    ("POST", "/api/runs"),
    ("POST", "/api/urls/batch"),
    ("POST", "/api/urls/refetch"),
    ("PUT", "/api/urls/mark"),
    ("PATCH", "/api/sources/a.example"),
    ("PATCH", "/api/scrapers/config/quotes/"),
    ("PUT", "/api/scrapers/config/quotes/update/"),
    ("POST", "/api/schedules"),
    ("PATCH", "/api/schedules/books"),
    ("POST", "/api/tokens"),
    ("POST", "/api/users"),
    ("PATCH", "/api/users/anna"),
]


def is_problem(answer: httpx.Response, *statuses: int) -> bool:
    told = answer.json()
    assert answer.status_code in (statuses or (400,)), answer.text
    assert answer.headers["content-type"] == "application/json"
    assert isinstance(told["error"], str)
    assert 10 < len(told["error"]) < 1000
    for trace in ("Traceback", "site-packages", "sqlite3", 'File "'):
        assert trace not in answer.text
    return True


@pytest.mark.parametrize(("method", "path"), BODIES)
def test_bodies_of_the_wrong_form(served: Served, api: httpx.Client, method: str, path: str) -> None:
    before = served.rows("select count(*) from trail")
    as_json = {"Content-Type": "application/json"}
    for body in (
        b"",
        b"{",
        b"null",
        b"[]",
        b"5",
        b'"text"',
        b"\xff\xfe",
        b"{" * 100_000,
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"x": NaN}',
        b'{"x": ' + b"9" * 5000 + b"}",
        b'{"\\ud800": "\\udfff"}',
        b"<xml/>",
        b"a=b&c=d",
        b'{"__class__": "os.system"}',
        b'{"$ref": "#/x", "": 1}',
    ):
        assert is_problem(api.request(method, path, content=body, headers=as_json)), body[:40]
    assert is_problem(api.request(method, path, data={"scraper": "quotes"}))
    assert is_problem(api.request(method, path, content=b"{}", headers={"Content-Type": "text/plain"}))
    assert is_problem(api.request(method, path, files={"file": b"x"}))
    assert served.rows("select count(*) from trail") == before


def test_bodies_that_are_too_large(api: httpx.Client) -> None:
    as_json = {"Content-Type": "application/json"}
    for method, path in BODIES:
        huge = b'{"x": "' + b"x" * (25 << 20 if "batch" in path else 2 << 20) + b'"}'
        with suppress(httpx.WriteError, httpx.ReadError):  # who goes on sending after the answer is cut off
            assert is_problem(api.request(method, path, content=huge, headers=as_json), 413)


def test_a_body_without_a_length_is_capped_too(api: httpx.Client) -> None:
    def drip() -> Any:
        for _ in range(40):
            yield b" " * (1 << 16)

    with suppress(httpx.WriteError, httpx.ReadError):
        answer = api.post("/api/runs", content=drip(), headers={"Content-Type": "application/json"})
        assert is_problem(answer, 413)


WORDS = [
    "\x00",
    "a\x00b",
    "'; drop table run; --",
    "%",
    "_",
    "../../etc/passwd",
    "\u202e\ufeff",
    "💥" * 50,
    " ",
    "{{7*7}}",
]


@pytest.mark.parametrize("word", WORDS)
def test_odd_words_find_nothing_and_break_nothing(served: Served, api: httpx.Client, word: str) -> None:
    served.fill([{"id": 1}], scraper="quotes")
    for path, name in (
        ("/api/runs", "scraper"),
        ("/api/runs", "q"),
        ("/api/runs", "asked_by"),
        ("/api/items", "q"),
        ("/api/items", "kind"),
        ("/api/items", "where"),
        ("/api/urls", "q"),
        ("/api/urls", "host"),
        ("/api/urls", "reason"),
        ("/api/sources", "q"),
        ("/api/logs", "q"),
        ("/api/changes", "kind"),
        ("/api/trail", "who"),
        ("/api/trail", "action"),
        ("/api/errors", "scraper"),
        ("/api/figures/throughput", "scraper"),
        ("/api/scrapers/history/", "scraper"),
        ("/api/scrapers/recent-jobs/", "source"),
        ("/api/export", "scraper"),
        ("/api/export", "where"),
        ("/api/export", "fields"),
        ("/api/export", "since"),
        ("/api/why", "url"),
        ("/api/runs", "cursor"),
        ("/api/items", "cursor"),
        ("/api/alerts", "cursor"),
    ):
        answer = api.get(path, params={name: word})
        assert answer.status_code in (200, 400), (path, name, answer.text)
    assert served.rows("select count(*) from run") == [(1,)]


@pytest.mark.parametrize("word", ["a%00b", "..%2f..%2fetc%2fpasswd", "%f0%9f%92%a5", "x" * 1000, "'%20or%201=1", "%ff"])
def test_odd_names_in_paths(api: httpx.Client, word: str) -> None:
    for path in (
        f"/api/scrapers/config/{word}/",
        f"/api/sources/{word}",
        f"/api/schedules/{word}",
        f"/api/schedules/{word}/history",
        f"/api/runs/{word}",
        f"/api/items/{word}",
        f"/api/scrapers/status/{word}/",
    ):
        answer = api.get(path)
        assert is_problem(answer, 400, 404), path
    assert is_problem(api.delete(f"/api/users/{word}"), 400, 404)
    if word != "%f0%9f%92%a5":  # a host may well be called so
        assert is_problem(api.patch(f"/api/sources/{word}", json={"paused": True}), 400, 404)


@pytest.mark.parametrize("number", ["0", "-1", "1e3", "1.5", "9" * 30, "9223372036854775808", "true", "١"])
def test_odd_numbers(api: httpx.Client, number: str) -> None:
    for path in (f"/api/runs/{number}", f"/api/items/{number}", f"/api/scrapers/status/{number}/"):
        assert is_problem(api.get(path), 400, 404)
    for path in ("/api/runs", "/api/items", "/api/urls", "/api/logs", "/api/sources", "/api/changes", "/api/trail"):
        assert is_problem(api.get(path, params={"limit": number}))
    assert is_problem(api.get("/api/items", params={"run": number}))
    assert is_problem(api.delete(f"/api/tokens/{number}"), 400, 404)


def test_a_misspelled_filter_is_no_filter_for_everything(api: httpx.Client) -> None:
    answer = api.get("/api/items?scrapper=quotes")
    assert is_problem(answer)
    assert "scrapper" in answer.json()["error"]
    assert "scraper" in answer.json()["error"].partition("takes")[2]
    assert is_problem(api.delete("/api/runs?older_than=1d&scraper=quotes"))
    assert api.get("/api/scrapers/stats/?_=1700000000").status_code == 200


def test_a_cursor_of_another_list_is_none(served: Served, api: httpx.Client) -> None:
    served.fill([{"id": n} for n in range(3)], scraper="quotes")
    cursor = api.get("/api/items?limit=1").json()["next"]
    assert is_problem(api.get("/api/urls", params={"cursor": cursor}))
    assert is_problem(api.get("/api/runs", params={"cursor": cursor}))


def test_parameters_are_capped(served: Served, api: httpx.Client) -> None:
    for params in (
        {"x": "y" * 30_000},
        {str(n): n for n in range(101)},
        {"n" * 101: 1},
        {"deep": json.loads("[" * 500 + "]" * 500)},
    ):
        assert is_problem(api.post("/api/runs", json={"scraper": "quotes", "params": params})), str(params)[:50]
    assert served.rows("select count(*) from run") == [(0,)]


def test_what_is_not_there(api: httpx.Client) -> None:
    for path in ("/api", "/api/", "/api/nothing", "/api/scrapers", "/api/scrapers/", "/api/runs/1/2/3", "/nothing"):
        assert is_problem(api.get(path), 404)
    for method, path in (("DELETE", "/api/items"), ("PUT", "/api/runs"), ("POST", "/api/scrapers/list/")):
        answer = api.request(method, path)
        assert is_problem(answer, 405)
        assert answer.headers["allow"]
    assert api.request("TRACE", "/api/runs").status_code == 405


def test_answers_are_for_who_asked_and_nothing_else(api: httpx.Client) -> None:
    for path in ("/api/runs", "/api/nothing", "/api/scrapers/list/"):
        headers = api.get(path).headers
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert "'none'" in headers["content-security-policy"]
        assert "access-control-allow-origin" not in headers


def test_a_secret_that_was_sent_in_the_wrong_place_is_not_repeated(served: Served, api: httpx.Client) -> None:
    answer = api.post("/api/users", json={"name": "anna", "password": ["hunter2-hunter2"], "scope": 5})
    assert is_problem(answer)
    assert "hunter2" not in answer.text
    with served.client(None) as stranger:
        assert stranger.get("/api/runs", params={"token": served.tokens["admin"]}).status_code in (400, 401)


def test_a_token_in_the_wrong_form_opens_nothing(served: Served) -> None:
    good = served.tokens["admin"]
    for given in (
        good,
        f"Basic {good}",
        f"Bearer {good}x",
        "Bearer",
        "Bearer \u00e9",
    ):
        with httpx.Client(base_url=served.url, headers={"Authorization": given.encode()}) as client:
            answer = client.get("/api/runs")
            assert is_problem(answer, 401)
            assert answer.headers["www-authenticate"].startswith("Bearer")


def test_a_mistake_of_ours_is_told_with_a_number_and_no_trace(
    served: Served, api: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gossamer import lists

    async def broken(*args: Any, **names: Any) -> None:
        raise ZeroDivisionError("a secret detail")

    monkeypatch.setattr(lists, "runs", broken)
    answer = api.get("/api/runs")
    assert is_problem(answer, 500)
    assert answer.json()["id"] in answer.json()["error"]
    assert "detail" not in answer.text


def test_a_store_that_cannot_be_used_is_told_without_its_path(served: Served, api: httpx.Client) -> None:
    served.write("alter table item rename to other")
    answer = api.get("/api/items")
    assert is_problem(answer, 503)
    assert served.folder.name not in answer.text
    served.write("alter table other rename to item")
    assert api.get("/api/items").status_code == 200


def test_bytes_that_are_no_request(served: Served) -> None:
    host, port = served.url.removeprefix("http://").split(":")
    for sent in (
        b"\x00\x01\x02\r\n\r\n",
        b"GET /api/runs HTTP/9.9\r\n\r\n",
        b"POST /api/runs HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    ):
        with socket.create_connection((host, int(port)), timeout=10) as line:
            line.sendall(sent)
            assert line.recv(100).startswith(b"HTTP/1.1 4")
    with served.client() as client:
        assert client.get("/api/runs").status_code == 200
