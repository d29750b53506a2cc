"""`gossamer proxies`: which there are, and which are alive."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gossamer.testing import Site
from tests.cli import sentence, typed
from tests.conftest import json_lines
from tests.servers import HttpProxy, Socks5Proxy, dead_port

SECRET = "hunter2-s3cret"


@pytest.fixture
def page(site: Site) -> str:
    site.page("/", "<p>hello</p>")
    return site.url("/")


def test_a_check_shows_who_is_alive_fastest_first(page: str, tmp_path: Path) -> None:
    dead = dead_port()
    with HttpProxy(login=("ann", SECRET)) as http, Socks5Proxy() as socks:
        socks.delay = 0.2
        Path("proxies.txt").write_text(f"127.0.0.1:{dead}\n{socks.url}\n{http.url} DE # ours\n")
        done = typed("proxies", "check", "--proxies", "proxies.txt", "--url", page, "--timeout", "5s")
    assert done.returncode == 0
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0] == ["proxy", "country", "alive", "seconds", "status", "why", "not"]
    assert [row[:3] for row in rows[1:]] == [
        [http.label, "de", "yes"],
        [socks.label, "-", "yes"],
        [f"http://127.0.0.1:{dead}", "-", "no"],
    ]
    assert "2 of 3 proxies alive" in done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert len(http.targets()) == len(socks.targets()) == 1


def test_none_alive_is_exit_code_1(page: str) -> None:
    done = typed("proxies", "check", "--proxies", f"127.0.0.1:{dead_port()}", "--url", page)
    assert done.returncode == 1
    assert "0 of 1 proxy alive" in done.stderr


def test_a_check_as_json_has_a_line_for_each(page: str) -> None:
    with HttpProxy(login=("ann", SECRET)) as proxy:
        wrong = proxy.url.replace(SECRET, "x")
        done = typed("proxies", "check", "--proxies", proxy.url, "--proxies", wrong, "--url", page, "--json", "-q")
    good, bad = json_lines(done.stdout)
    assert (good["label"], good["ok"], good["status"], good["why"]) == (proxy.label, True, 200, "")
    assert (bad["label"], bad["ok"]) == (proxy.label, False)
    assert bad["why"]
    assert SECRET not in done.stdout + done.stderr


def test_proxies_are_taken_from_the_settings(page: str) -> None:
    with HttpProxy() as proxy:
        Path("gossamer.toml").write_text(f'proxies = ["{proxy.url}"]')
        assert typed("proxies", "check", "--url", page).returncode == 0
        assert proxy.targets()


def test_a_list_shows_no_credentials() -> None:
    Path("proxies.txt").write_text(f"203.0.113.7:8080:ann:{SECRET} US\nsocks5://203.0.113.8:1080\n")
    done = typed("proxies", "list", "--proxies", "proxies.txt")
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["proxy", "country"],
        ["http://203.0.113.7:8080", "us"],
        ["socks5://203.0.113.8:1080", "-"],
    ]
    assert json_lines(typed("proxies", "list", "--proxies", "proxies.txt", "--json").stdout) == [
        {"label": "http://203.0.113.7:8080", "country": "us"},
        {"label": "socks5://203.0.113.8:1080", "country": None},
    ]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ([], "no proxies are set: give --proxies"),
        (["--proxies", "none.txt"], "there is no such file, and the services known are"),
        (["--proxies", f"http://ann:{SECRET}@"], "proxy 1: a proxy cannot be used"),
        (["--proxies", "webshare"], "set WEBSHARE_API_KEY in the environment"),
        (["--proxies", "1.2.3.4:80", "--timeout", "soon"], "--timeout = 'soon' cannot be used"),
        (["--proxies", "1.2.3.4:80", "--url", "ftp://x"], "only http and https"),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(args: list[str], told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("WEBSHARE_API_KEY", "WEBSHARE_DOWNLOAD_URL"):
        monkeypatch.delenv(name, raising=False)
    said = sentence(typed("proxies", "check", *args), 2)
    assert told in re.sub(r"\s+", " ", said)
    assert SECRET not in said
