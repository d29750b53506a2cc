"""One secret, planted everywhere: no byte of it reaches a log file, the store's events or stderr."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import structlog

from gossamer import redaction, settings, telemetry
from gossamer.redaction import HIDDEN, LONGEST, Redactor, in_url, is_secret_name, secrets_of
from gossamer.storage.sqlite_desk import SqliteDesk
from gossamer.testing import Answer, Site
from gossamer.values import Headers
from tests.servers import HttpProxy, dead_port

#: The secret. With what URLs must escape in it.
SECRET = "tr0ub4dor&3/x"
TOKEN = "gsm_aBcD1234efGH5678"
AWS = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzzKEYzz"
FORMS = [SECRET, quote(SECRET), quote(SECRET, safe=""), "tr0ub4dor", AWS, quote(AWS, safe=""), TOKEN[4:]]
FORMS += [base64.b64encode(f"ann:{SECRET}".encode()).decode(), "planted-cookie", "T0K/B0K/hookhook"]


def leaks(text: str | bytes) -> list[str]:
    """The forms of the secrets that stand in a text."""
    raw = text if isinstance(text, bytes) else text.encode()
    return [form for form in FORMS if form.encode() in raw]


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    telemetry.close()
    structlog.reset_defaults()
    redaction.shared.forget()


# -- looks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("https://ann:pw@a.org/x", "https://***@a.org/x"),
        ("see https://ann@a.org:8080/x, then", "see https://***@a.org:8080/x, then"),
        ("http://ann:ho/horse@a.org/", "http://***@a.org/"),
        ("smtp://:pw@mail:587 and socks5://u:p@h:1", "smtp://***@mail:587 and socks5://***@h:1"),
        ("https://a.org/?next=http://u:p@b.org/", "https://a.org/?next=http://***@b.org/"),
        ("https%3A%2F%2Fann%3Apw%40a.org", "https%3A%2F%2F***%40a.org"),
        ("ann:horse@example.org refused", "***@example.org refused"),
        ("/x?token=abc&page=2", "/x?token=***&page=2"),
        ("/x?X-Amz-Signature=abc&X-Amz-Credential=def", "/x?X-Amz-Signature=***&X-Amz-Credential=***"),
        ("user[password]=foo&user%5Bpassword%5D=foo", "user[password]=***&user%5Bpassword%5D=***"),
        ('{"api_key": "a\\"b", "x": 1}', '{"api_key": "***", "x": 1}'),
        ("{'X-Api-Key': b'abc'}", "{'X-Api-Key': b'***'}"),
        ("Authorization: Digest a=b, c=d\nHost: x", "Authorization: ***\nHost: x"),
        ("Set-Cookie: sid=1; Path=/\r\nnext", "Set-Cookie: ***\r\nnext"),
        ("sent Bearer abcdefgh to it", "sent Bearer *** to it"),
        ("sent Basic YW5uOnB3 to it", "sent Basic *** to it"),
        ("gossamer_session=abc; Path=/", "gossamer_session=*** Path=/"),
        (f"token {TOKEN} is revoked", "token gsm_*** is revoked"),
        ("id AKIAABCDEFGHIJKLMNOP", "id ***"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc_DEF", "***"),
        ("https://hooks.slack.com/services/T0/B0/xyz", "https://hooks.slack.com/***"),
        ("-----BEGIN EC PRIVATE KEY-----\nMHc\n-----END EC PRIVATE KEY----- x", "*** x"),
        ("ConnectError: postgres://ann:pw@db/x", "ConnectError: postgres://***@db/x"),
    ],
)
def test_what_looks_like_a_secret_is_hidden(text: str, told: str) -> None:
    assert Redactor().text(text) == told


@pytest.mark.parametrize(
    "text",
    [
        "https://a.org/path?page=2&sort=name#top",
        "https://medium.com/@ann/a-story",
        "http://127.0.0.1:8080/@me http://[::1]:80/x@y",
        "mail to bob@example.org at 12:30:01",
        "mailto:bob@example.org",
        "KeyError: 'price'",
        "no such key: price",
        "author: Bob, monkey: yes, keyboard=qwerty",
        "it wants basic authentication",
        "it wants a login: put one into the start URL",
        "",
    ],
)
def test_what_is_no_secret_is_told(text: str) -> None:
    assert Redactor().text(text) == text


def test_names_tell_secrets() -> None:
    secret = ["Authorization", "apiKey", "db_password", "X-Shop-Session", "accesstoken", "AWS_SECRET_ACCESS_KEY", "pwd"]
    assert [name for name in secret if not is_secret_name(name)] == []
    assert not any(map(is_secret_name, ["author", "url", "keys", "compass", "tokens_left", "title", "passed", ""]))


def test_structures_are_looked_into() -> None:
    hide = Redactor().value
    assert hide({"url": "http://u:p@a/", "headers": {"Cookie": "x", "Accept": "y"}, "n": 3, "on": True}) == {
        "url": "http://***@a/",
        "headers": {"Cookie": "***", "Accept": "y"},
        "n": 3,
        "on": True,
    }
    assert hide([("Authorization", "x"), ("Accept", "y")]) == [["Authorization", HIDDEN], ["Accept", "y"]]
    assert hide({"login": {"password": ["a", "b"], "token": 1234, "secret": None}}) == {
        "login": {"password": HIDDEN, "token": HIDDEN, "secret": None}
    }
    assert hide(Headers([("Set-Cookie", "a=b"), ("Server", "x")])) == {"set-cookie": HIDDEN, "server": "x"}
    assert hide(ValueError("http://u:p@a/")) == "ValueError: http://***@a/"
    assert hide(b"token=abc") == "token=***"
    assert hide({"http://u:p@a/": 1}) == {"http://***@a/": 1}


def test_what_cannot_be_read_is_not_told_and_harms_nobody() -> None:
    class Odd:
        def __str__(self) -> str:
            raise ValueError("no")

    class Worse(dict[str, str]):
        def __iter__(self) -> Iterator[str]:
            raise ValueError("no")

    event = Redactor()(None, "info", {"event": "x", "odd": Odd(), "worse": Worse(a="b")})
    assert event == {"event": "x", "odd": "<Odd>", "worse": HIDDEN}
    deep: list[Any] = []
    deep.append(deep)
    assert "..." in str(Redactor().value(deep))


def test_what_is_known_is_hidden_in_every_form() -> None:
    redactor = Redactor()
    redactor.learn([SECRET, "abc", "it's\ta"])
    told = redactor.text(
        f"{SECRET} {quote(SECRET)} {quote(SECRET, safe='')} abc {'it' + chr(39) + 's' + chr(9) + 'a'!r}"
    )
    assert leaks(told) == []
    assert "abc" in told  # too short to be looked for everywhere
    assert "it" not in told


def test_of_too_many_known_secrets_the_oldest_go_but_not_those_of_the_settings() -> None:
    redactor = Redactor()
    redactor.learn(["of the settings"], lasting=True)
    for n in range(redaction.MOST + 5):
        redactor.learn([f"Bearer secret-{n}-", "heard again"])
    assert redactor.text("of the settings, heard again, secret-9-, secret-204-, secret-0-") == (
        "***, ***, ***, ***, secret-0-"
    )


def test_a_long_text_is_cut_and_no_secret_is_cut_in_two() -> None:
    redactor = Redactor()
    redactor.learn([SECRET])
    for before in range(LONGEST - 40, LONGEST + 1100, 7):
        told = redactor.text("x " * (before // 2) + f"http://ann:{SECRET}@a.org/ {SECRET} " + "y" * 3000)
        assert leaks(told) == []
        assert len(told) < LONGEST + 100
    assert redactor.text("z" * 100_000).endswith("... (91,808 characters more)")


@pytest.mark.parametrize(
    "piece",
    [
        *("://a:x", "a:@", "@", "key=", "eyJaaaaaaaa-", "bearer ", "%3a%2f%2f", "token: '", "a", 'password="\\'),
        *("-----BEGIN PRIVATE KEY-----", 'key\\\\\\"=', "gsm_", "https://", "x[", "authorization: ", "?", "\n"),
        *("%40", "basic a"),
    ],
)
def test_hostile_texts_cost_little(piece: str) -> None:
    """A text of 20 MB is no slower than one of a few thousand letters, and those take no time worth speaking of."""
    began = time.process_time()
    Redactor().text(piece * (20_000_000 // len(piece)), 32_768)
    assert time.process_time() - began < 2


# -- settings ----------------------------------------------------------------------------------------------------


def test_settings_tell_their_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", AWS)
    monkeypatch.setenv("https_proxy", "http://u:proxypass@h:1")
    read = settings.read(
        {
            "smtp": f"smtp://ann:{quote(SECRET, safe='')}@mail.example:587",
            "alert_webhooks": "https://hooks.example/T0K/B0K/hookhook https://other.example/x?token=hooktoken",
            "proxies": ["http://u:proxyword@127.0.0.1:8"],
            "headers": {"X-Api-Key": "headerkey", "Accept": "text/html"},
            "sinks": ["s3://bucket/{key}.json?secret_access_key=sinkkey"],
        }
    )
    found = secrets_of(read)
    wanted = {SECRET, AWS, "T0K/B0K/hookhook", "hooktoken", "proxyword", "proxypass", "headerkey", "sinkkey"}
    assert wanted <= set(found)
    assert "text/html" not in found
    redactor = Redactor()
    redactor.learn(found)
    told = redactor.text(" ".join([*wanted, "https://hooks.example/T0K/B0K/hookhook", *FORMS[:4], FORMS[7]]))
    assert not [secret for secret in wanted if secret in told]


@pytest.mark.parametrize("url", ["", "x", "http://[::1", "http://a:b", "@", "smtp://@h", "http://u:%zz@h/?token=%"])
def test_any_text_may_stand_where_a_url_should(url: str) -> None:
    assert isinstance(in_url(url), list)


# -- everything, at work -----------------------------------------------------------------------------------------

WORK = """
import asyncio, sys, logging
from pathlib import Path
import structlog
from gossamer import redaction, runs, settings, telemetry
from gossamer.events import Events
from gossamer.registry import load_all
from gossamer.storage.sqlite_desk import SqliteDesk

async def work(ref, store, style):
    telemetry.catch_crashes()
    found = load_all(ref)[0]
    plan = runs.plan(found, {}, {"store": store})
    async with runs.open_parts(store) as parts, SqliteDesk(store) as desk:
        events = Events(desk)
        telemetry.configure(
            "debug", style, folder="logs", hear=events.hear, secrets=redaction.secrets_of(plan.settings)
        )
        keeping = asyncio.create_task(events.run())
        try:
            print((await runs.execute(parts, plan)).status)
        except Exception as error:
            telemetry.log.error("run.failed", why=str(error), exc_info=error)
        secret = settings.read().place.smtp
        telemetry.log.warning("alert.undelivered", target=settings.read().place.alert_webhooks[0], smtp=secret)
        telemetry.log.error("alert.failed", why=f"cannot log in to {secret}", data={"nested": [{"deep": secret}]})
        logging.getLogger("smtplib").warning("send: AUTH PLAIN %s", secret)
        logging.getLogger("uvicorn.error").error("GET /x?token=%s", secret)
        keeping.cancel()
        await asyncio.gather(keeping, return_exceptions=True)

asyncio.run(work(*sys.argv[1:4]))
if len(sys.argv) > 4:
    raise RuntimeError("crashed with " + settings.read().place.smtp)
"""

SCRAPER = """
import os
from gossamer import Scraper, Request
from gossamer.telemetry import log

SECRET = {secret!r}

class Club(Scraper):
    name = "club"
    rate = "none"
    retries = 1
    allow_private = True
    scope = "any"
    proxies = {proxies!r}
    headers = {{"X-Api-Key": SECRET, "X-Colour": "blue"}}

    def __init__(self, params):
        super().__init__(params)
        self.secrets["Authorization"] = "Bearer " + SECRET

    def start(self):
        return {starts!r}

    def parse(self, page):
        log.debug("shop.read", url=page.url + "?api_key=" + {quoted!r}, headers=page.response.headers)
        log.info("shop.session", cookies={{"sid": SECRET}}, pairs=[("Cookie", "a=" + SECRET)], key={aws!r})
        yield {{"url": page.url}}
        yield from page.follow("a")
        if page.url.endswith("/broken"):
            raise ValueError("cannot log in at http://ann:" + SECRET + "@db/ with token=" + SECRET)
"""


def planted(site: Site, folder: Path, starts: list[str], proxies: list[str]) -> dict[str, str]:
    """A scraper that has the secret wherever one can be; and the settings of a service that has it too."""
    quoted = quote(SECRET, safe="")
    text = SCRAPER.format(secret=SECRET, quoted=quoted, aws=AWS, starts=starts, proxies=proxies)
    (folder / "club.py").write_text(text)
    return {
        "GOSSAMER_SMTP": f"smtp://ann:{quoted}@127.0.0.1:{dead_port()}",
        "GOSSAMER_ALERT_WEBHOOKS": f"{site.url('/')}T0K/B0K/hookhook",
        "AWS_SECRET_ACCESS_KEY": AWS,
    }


def work(folder: Path, style: str, env: dict[str, str], *more: str) -> subprocess.CompletedProcess[str]:
    (folder / "work.py").write_text(WORK)
    return subprocess.run(
        [sys.executable, "work.py", "club.py", "store.db", style, *more],
        cwd=folder,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=50,
    )


def everything_of(folder: Path) -> dict[str, bytes]:
    """Every byte that was logged: the files of the log folder, and what the store has of events."""

    async def kept() -> bytes:
        async with SqliteDesk(str(folder / "store.db")) as desk:
            return repr(await desk.rows("select * from event")).encode()

    found = {path.name: path.read_bytes() for path in (folder / "logs").iterdir()}
    return {**found, "event": asyncio.run(kept())}


@pytest.mark.parametrize("style", ["human", "json"])
def test_a_crawl_that_goes_well_tells_no_secret(site: Site, tmp_path: Path, style: str) -> None:
    quoted = quote(SECRET, safe="")
    site.handler(
        "/*",
        lambda hit: Answer(body=f'<a href="/a?token={quoted}">a</a>', headers={"Set-Cookie": "sid=planted-cookie"}),
    )
    with HttpProxy(login=("ann", SECRET)) as proxy:
        starts = [site.url("/").replace("://", f"://ann:{quoted}@"), site.url(f"/b?password={quoted}")]
        done = work(tmp_path, style, planted(site, tmp_path, starts, [proxy.url]))
    assert done.stdout == "finished\n", done.stderr
    assert site.hits[-1].headers["x-api-key"] == SECRET  # it went where it belongs
    logged = everything_of(tmp_path)
    assert {"all.log", "errors.log", "scrapers.log", "event"} <= set(logged)
    assert [name for name, raw in logged.items() if leaks(raw)] == []
    assert leaks(done.stderr) == []
    lines = [json.loads(line) for line in logged["all.log"].splitlines()]
    names = {line["event"] for line in lines}
    assert {"run.start", "run.end", "walk.done", "shop.read", "shop.session", "alert.undelivered", "library"} <= names
    assert "smtplib" in done.stderr
    assert b"run.end" in logged["event"]


@pytest.mark.parametrize("style", ["human", "json"])
def test_a_crawl_that_fails_and_a_process_that_crashes_tell_none_either(site: Site, tmp_path: Path, style: str) -> None:
    site.page("/broken", "<p>x")
    site.redirect("/go", f"ftp://eve:{quote(SECRET, safe='')}@example.org/x")
    site.page("/500", "no", status=500)
    quoted = quote(SECRET, safe="")
    dead = f"http://ann:{quoted}@127.0.0.1:{dead_port()}"
    starts = [site.url(path).replace("://", f"://ann:{quoted}@") for path in ("/broken", "/go", f"/500?token={quoted}")]
    for proxies in ([], [dead]):
        done = work(tmp_path, style, planted(site, tmp_path, starts, proxies), "crash")
        assert done.returncode == 1
        assert leaks(done.stderr) == []
        assert leaks(done.stdout) == []
    logged = everything_of(tmp_path)
    assert [name for name, raw in logged.items() if leaks(raw)] == []
    assert b"page.unreadable" in logged["event"]
    assert b"process.crashed" in logged["errors.log"]
    assert b"cannot log in at" in logged["all.log"]


def test_the_command_line_logs_none(site: Site, tmp_path: Path, gossamer: Any) -> None:
    site.page("/broken", "<p>x")
    quoted = quote(SECRET, safe="")
    env = planted(site, tmp_path, [site.url("/broken").replace("://", f"://ann:{quoted}@")], [])
    done = gossamer("run", "club.py", "--log-level", "debug", GOSSAMER_LOG_DIR="logs", **env)
    assert "page.unreadable" in done.stderr
    for told in (done, gossamer("logs", "--files", GOSSAMER_LOG_DIR="logs")):
        assert leaks(told.stdout + told.stderr) == []
    assert [path.name for path in (tmp_path / "logs").iterdir() if leaks(path.read_bytes())] == []
    assert (tmp_path / "logs" / "scrapers.log").stat().st_size
