"""`gossamer alerts`: listing, testing and acknowledging, as a process."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from gossamer.testing import Site
from tests.conftest import Cli, json_lines
from tests.service.test_alerts import SECRET, stage, watcher


@pytest.fixture
def alerted(store: str, site: Site) -> str:
    """A store with two failures, one of which reached its receiver."""
    site.page("/hook", "ok")

    async def work() -> None:
        async with stage(store) as it:
            await watcher(it).look()
            await it.failed("shop")
            watch = watcher(it, alert_webhooks=(site.url("/hook"),))
            await watch.look()
            await watch.deliver()
            await it.failed("art")
            await watcher(it).look()

    asyncio.run(work())
    return store


def test_alerts_are_listed(alerted: str, gossamer: Cli) -> None:
    shown = gossamer("alerts", "list", "--store", alerted)
    assert shown.returncode == 0
    assert "art: run 2 failed" in shown.stdout
    assert "1 of 1" in shown.stdout
    told = json_lines(gossamer("alerts", "list", "--store", alerted, "--json", "--limit", 2).stdout)
    assert [each["title"] for each in told] == ["art: run 2 failed", "shop: run 1 failed"]
    assert [each["state"] for each in told[1]["dispatches"]] == ["sent"]
    older = json_lines(gossamer("alerts", "list", "--store", alerted, "--json", "--before", told[1]["id"]).stdout)
    assert [each["kind"] for each in older] == ["start"]


def test_alerts_are_acknowledged(alerted: str, gossamer: Cli) -> None:
    assert "say which alerts" in gossamer("alerts", "ack", "--store", alerted).stderr
    done = gossamer("alerts", "ack", "2", "--store", alerted)
    assert (done.returncode, done.stderr.strip()) == (0, "1 alert acknowledged")
    unseen = json_lines(gossamer("alerts", "list", "--unseen", "--json", "--store", alerted).stdout)
    assert [each["title"] for each in unseen] == ["art: run 2 failed"]
    none = gossamer("alerts", "ack", "99", "--store", alerted)
    assert (none.returncode, "there is no alert 99" in none.stderr) == (2, True)
    assert json.loads(gossamer("alerts", "ack", "--all", "--json", "--store", alerted).stdout) == {"acknowledged": 1}


def test_receivers_are_tried_and_no_secret_is_shown(site: Site, gossamer: Cli, tmp_path: Path) -> None:
    site.page(f"/{SECRET}", "ok")
    settings = tmp_path / "gossamer.toml"
    settings.write_text(f'alert_webhooks = ["{site.url(f"/{SECRET}")}"]')
    good = gossamer("alerts", "test")
    assert (good.returncode, "told in" in good.stdout) == (0, True)
    settings.write_text(f'alert_webhooks = ["{site.url(f"/{SECRET}")}", "{site.url(f"/{SECRET}/gone")}"]')
    bad = gossamer("alerts", "test", "--json")
    assert bad.returncode == 1
    assert [each["ok"] for each in json_lines(bad.stdout)] == [True, False]
    settings.write_text(f'alert_webhooks = ["ftp://ann:{SECRET}@hooks.example/{SECRET}"]')
    refused = gossamer("alerts", "test")
    assert (refused.returncode, "alert_webhooks" in refused.stderr) == (2, True)
    settings.write_text(f'smtp = "smtp://ann:{SECRET}@hooks.example/{SECRET}"\nalert_mail = ["ann@example.org"]')
    assert gossamer("alerts", "test").returncode == 2
    said = [each for done in (good, bad, refused) for each in (done.stdout, done.stderr)]
    assert SECRET not in "".join(said)
    assert gossamer("alerts", "list").returncode == 2
