"""Lists that are short as a rule come in pages too."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.service.conftest import Served
from tests.service.test_api_lists import pages

PATHS = ("/api/schedules", "/api/tokens", "/api/users", "/api/proxies")


@pytest.mark.parametrize("path", PATHS)
def test_cursors_and_limits_are_looked_at(api: httpx.Client, path: str) -> None:
    for query in ({"limit": 0}, {"limit": 201}, {"limit": "x"}, {"cursor": "x"}, {"cursor": "WyJydW5zIiwxXQ"}):
        assert api.get(path, params=query).status_code == 400, query
    assert api.get(path).json()["next"] is None


@pytest.mark.parametrize("limit", [1, 2, 3, 200])
def test_schedules_tokens_and_users(served: Served, api: httpx.Client, limit: int) -> None:
    for n in (3, 1, 2):
        made = {"name": f"s{n}", "scraper": "quotes", "every": "6h"}
        assert api.post("/api/schedules", json=made).status_code == 201
        served.write(
            "insert into account (name, hash, scopes, created, created_by) values (:name, '', 'read', 1, 'x')",
            name=f"u{n}",
        )
    assert [row["name"] for row in pages(api, "/api/schedules", limit=limit)] == ["books", "s1", "s2", "s3"]
    assert [row["name"] for row in pages(api, "/api/tokens", limit=limit)] == ["the-admin", "the-run", "the-read"]
    assert [row["name"] for row in pages(api, "/api/users", limit=limit)] == ["u1", "u2", "u3"]


class TestProxies:
    """Several, not in the order of their names."""

    @pytest.fixture
    def flags(self) -> dict[str, Any]:
        return {"proxies": [f"http://127.0.0.1:{n}" for n in (3, 1, 2, 4)]}

    @pytest.mark.parametrize("limit", [1, 3, 4, 200])
    def test_proxies_keep_their_order(self, api: httpx.Client, limit: int) -> None:
        found = [row["label"].rpartition(":")[2] for row in pages(api, "/api/proxies", limit=limit)]
        assert found == ["3", "1", "2", "4"]
