"""Secrets that somebody puts where everybody who may read sees them: parameters, and start URLs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from gossamer import redaction
from tests.service.conftest import SCRAPERS, Served

SECRET = "hunter2-and-more"
REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"password": SECRET}, "password"),
    ({"db-passwd": SECRET}, "db-passwd"),
    ({"API_KEY": SECRET}, "API_KEY"),
    ({"apikey": 12345678}, "apikey"),
    ({"accessToken": SECRET}, "accessToken"),
    ({"token": SECRET}, "token"),
    ({"headers": {"Authorization": f"Bearer {SECRET}"}}, "headers.Authorization"),
    ({"url": f"http://u:{SECRET}@h/"}, "url"),
    ({"deep": [{"urls": ["https://a.example/", f"https://{SECRET}@b.example/x"]}]}, "deep.urls"),
    ({"via": f"https://a.example/?to=http%3A%2F%2Fu%3A{SECRET}%40h"}, "via"),
]
TAKEN: list[dict[str, Any]] = [
    {"key": "city", "token_count": 5, "page_token": "abc", "session_id": 7, "author": "Poe", "password": ""},
    {"url": "https://a.example/@anna?mail=anna@b.example", "mail": "anna@b.example", "secret": False, "auth": None},
    {"url": "http://a.example:8080/maps/@52.5,13.4"},
]


@pytest.mark.parametrize(("params", "name"), REFUSED)
def test_a_secret_is_refused_and_told_where_it_belongs(
    served: Served, api: httpx.Client, params: dict[str, Any], name: str
) -> None:
    asked = [
        api.post("/api/runs", json={"scraper": "quotes", "params": params}),
        api.post("/api/scrapers/start/", json={"scraper_name": "quotes", "params": params}),
        api.post("/api/schedules", json={"name": "x", "scraper": "quotes", "every": "6h", "params": params}),
        api.patch("/api/schedules/books", json={"params": params}),
    ]
    for answer in asked:
        assert answer.status_code == 400
        assert f"'{name}'" in answer.json()["error"]
        assert "environment of the service" in answer.json()["error"]
        assert SECRET not in answer.text
    assert served.rows("select * from run") == []
    assert SECRET not in str(served.rows("select * from trail")) + str(served.rows("select * from schedule"))


@pytest.mark.parametrize("params", TAKEN)
def test_what_only_sounds_like_one_is_taken(served: Served, api: httpx.Client, params: dict[str, Any]) -> None:
    assert api.post("/api/runs", json={"scraper": "quotes", "params": params}).status_code == 202


def test_secrets_of_runs_that_came_another_way_are_not_shown(served: Served, api: httpx.Client) -> None:
    given = (
        f'{{"city":"Oslo","password":"{SECRET}","deep":[{{"url":"http://u:{SECRET}@h/a?page=2&api_key={SECRET}"}}]}}'
    )
    served.write(
        "insert into run (id, scraper, ref, signature, params, options, state, created, via) "
        "values (1, 'quotes', 'r', 's', :given, :given, 'running', 1, 'cli')",
        given=given,
    )
    served.write(
        "insert into trail (at, who, via, action, target, detail, address) values (1, 'a', 'api', 'b', '', :given, '')",
        given=given,
    )
    shown = {"city": "Oslo", "password": "***", "deep": [{"url": "http://***@h/a?page=2&api_key=***"}]}
    assert api.get("/api/runs").json()["rows"][0]["params"] == shown
    one = api.get("/api/runs/1").json()
    assert (one["params"], one["options"]) == (shown, shown)
    assert api.get("/api/scrapers/status/1/").json()["parameters"] == shown
    assert {"city": "Oslo", "password": "***"}.items() <= api.get("/api/trail").json()["rows"][0]["detail"].items()
    for path in ("/api/trail", "/api/scrapers/active/", "/api/scrapers/history/", "/api/scrapers/stats/"):
        assert SECRET not in api.get(path).text, path


def test_the_trail_keeps_none(served: Served, api: httpx.Client) -> None:
    link = f"https://a.example/?key={SECRET}"
    assert (
        api.post("/api/runs", json={"scraper": "quotes", "params": {"link": link, "city": "Oslo"}}).status_code == 202
    )
    ((detail,),) = served.rows("select detail from trail where action = 'run.start'")
    assert SECRET not in detail
    assert '"city":"Oslo"' in detail


class TestStartUrls:
    """A scraper whose author wrote secrets into its start URL."""

    @pytest.fixture
    def flags(self, tmp_path: Path) -> dict[str, Any]:
        secret = f"http://user:{SECRET}@quotes.test/pg/1?page=2&token={SECRET}&api_key={SECRET}"
        (tmp_path / "keys.py").write_text(SCRAPERS.replace("http://quotes.test/", secret).replace("class ", "class My"))
        return {}

    def test_the_list_shows_where_it_begins_and_no_secret(self, served: Served, api: httpx.Client) -> None:
        answer = api.get("/api/scrapers/list/")
        found = {row["name"]: row["base_url"] for row in answer.json()["scrapers"]}
        assert found["my-quotes"] == "http://quotes.test/pg/1?page=2&token=***&api_key=***"
        assert found["books"] == "http://books.test/"
        assert SECRET not in answer.text


def test_however_deep_it_is_it_ends() -> None:
    deep: list[Any] = []
    for _ in range(5_000):
        deep = [deep, 1]
    assert redaction.parameters(deep)[1] == 1
