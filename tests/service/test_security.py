"""Who gets through the door, on a real port: tokens, cookies, forged origins and names, bodies, limits, the log-in."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Annotated, Any

import httpx
import pytest
import websockets
from argon2 import PasswordHasher
from fastapi import Depends, FastAPI, Request, WebSocket
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from gossamer import passwords
from gossamer.api import layers, limits, security
from gossamer.api.errors import handle_errors
from gossamer.api.limits import Limit, Limits
from gossamer.api.login import local
from gossamer.api.security import COOKIE, needs
from gossamer.trail import Asker
from tests.service.door import served, service, spoken

ME = Asker("tester", "cli")
PASSWORD = "correct horse battery"
EVIL = "http://evil.example"


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    made = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)
    monkeypatch.setattr(passwords, "_argon", lambda: made)


def told(by: Asker) -> dict[str, str]:
    return {"name": by.name, "via": by.via, "address": by.address}


def make_app() -> FastAPI:
    """A few routes of every kind."""
    app = FastAPI()
    handle_errors(app)

    @app.head("/read", include_in_schema=False)
    @app.get("/read")
    @app.get("/api/read")
    async def read(by: Annotated[Asker, Depends(needs("read"))]) -> dict[str, str]:
        return told(by)

    @app.post("/write")
    async def write(by: Annotated[Asker, Depends(needs("run"))]) -> dict[str, str]:
        return told(by)

    @app.post("/start")
    async def start(by: Annotated[Asker, Depends(needs("run", limit="starts"))]) -> dict[str, str]:
        return told(by)

    @app.delete("/rule")
    async def rule(by: Annotated[Asker, Depends(needs("admin"))]) -> dict[str, str]:
        return told(by)

    @app.get("/metrics")
    async def metrics(by: Annotated[Asker, Depends(needs("read", open_on_loopback=True))]) -> dict[str, str]:
        return told(by)

    @app.post("/size")
    async def size(body: dict[str, Any]) -> int:
        return len(body)

    @app.get("/boom")
    async def boom() -> None:
        raise RuntimeError("the secret inside")

    @app.get("/framed")
    async def framed() -> Response:
        return PlainTextResponse("x", headers={"X-Frame-Options": "SAMEORIGIN"})

    @app.websocket("/_nicegui_ws/socket")
    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        async for text in socket.iter_text():
            await socket.send_text(text)

    async def page(request: Request) -> Response:
        session = await security.current(request)
        return JSONResponse(told(security.asker(request, session)) if session else None)

    inner = Starlette(routes=[Route("/page", page), Route("/_nicegui_ws/poll", page, methods=["GET", "POST"])])
    security.install(app)
    app.router.routes.append(Mount("/", inner))
    return app


class Door:
    """A client, and what stands behind the door."""

    def __init__(self, client: httpx.AsyncClient, behind: Any, app: FastAPI) -> None:
        self.client, self.service, self.app = client, behind, app
        self.ask = client.request

    async def token(self, scope: str, name: str | None = None, expires: float | None = None) -> dict[str, str]:
        """The header of a new token."""
        _, secret = await self.service.accounts.create_token(name or scope, scope, expires, ME)
        return {"Authorization": f"Bearer {secret}"}

    async def cookie(self, scope: str = "admin", name: str = "anna") -> dict[str, str]:
        """The header of somebody who is logged in."""
        await self.service.accounts.create_account(name, PASSWORD, scope, ME)
        return {"Cookie": f"{COOKIE}={await self.service.accounts.log_in(name, PASSWORD)}"}

    @property
    def origin(self) -> str:
        return str(self.client.base_url).rstrip("/")

    @property
    def socket(self) -> str:
        return self.origin.replace("http", "ws") + "/_nicegui_ws/socket"


@asynccontextmanager
async def opened(store: str, **knobs: Any) -> AsyncIterator[Door]:
    async with service(store, **knobs) as behind:
        app = make_app()
        app.state.service = behind
        async with served(app) as client:
            yield Door(client, behind, app)


def run(store: str, main: Callable[[Door], Awaitable[None]], **knobs: Any) -> None:
    async def work() -> None:
        async with opened(store, **knobs) as door:
            await main(door)

    asyncio.run(work())


def error(answer: httpx.Response, status: int) -> str:
    """The sentence of an answer that is an error."""
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["error"]
    return str(answer.json()["error"])


# -- tokens ------------------------------------------------------------------------------------------------------


def test_each_scope_opens_what_it_holds(store: str) -> None:
    async def main(door: Door) -> None:
        table = {}
        for scope in ("read", "run", "admin"):
            headers = await door.token(scope)
            asked = [("GET", "/read"), ("HEAD", "/read"), ("POST", "/write"), ("DELETE", "/rule")]
            table[scope] = [(await door.ask(*each, headers=headers)).status_code for each in asked]
        assert table == {"read": [200, 200, 403, 403], "run": [200, 200, 200, 403], "admin": [200, 200, 200, 200]}
        read = {"Authorization": f"bEARER {(await door.token('read', 'r2'))['Authorization'].split()[1]}"}
        assert (await door.ask("GET", "/read", headers=read)).json() == {
            "name": "r2",
            "via": "api",
            "address": "127.0.0.1",
        }
        why = error(await door.ask("POST", "/write", headers=read), 403)
        assert why == (
            "this needs the scope run, and r2 has read: `gossamer token create NAME --scope run` makes one that has it"
        )

    run(store, main)


def test_what_is_no_good_token_is_401_with_a_sentence(store: str) -> None:
    async def main(door: Door) -> None:
        good = (await door.token("admin"))["Authorization"]
        secret = good.removeprefix("Bearer ")
        await door.token("admin", "spare")
        bad = [
            *("Bearer", "Basic YTpi", f"Token {secret}", f"Bearer {secret}x", f"Bearer x{secret}", secret),
            *("Bearer " + "x" * 30_000, "Bearer gsm_" + "x" * 43, f"Bearer {secret} {secret}", "é"),
        ]
        for each in bad:
            answer = await door.ask("GET", "/read", headers={"Authorization": each.encode("latin-1")})
            assert "unknown, expired or revoked" in error(answer, 401), each
            assert answer.headers["WWW-Authenticate"] == 'Bearer realm="gossamer", error="invalid_token"'
        twice = await door.ask("GET", "/read", headers=[("Authorization", good), ("Authorization", "Bearer x")])
        assert twice.status_code == 401
        none = await door.ask("GET", "/read")
        assert "`gossamer token create` makes one" in error(none, 401)
        assert none.headers["WWW-Authenticate"] == 'Bearer realm="gossamer"'
        # A secret in a URL ends up in logs: it opens nothing there.
        for name in ("token", "access_token", "authorization"):
            assert (await door.ask("GET", "/read", params={name: secret})).status_code == 401
        assert (await door.ask("GET", "/read", headers={"Cookie": f"{COOKIE}={secret}"})).status_code == 401
        assert (await door.ask("GET", "/read", headers={"Authorization": good})).status_code == 200

    run(store, main)


def test_a_token_that_is_over_opens_nothing(store: str) -> None:
    async def main(door: Door) -> None:
        await door.token("admin", "keeper")
        short = await door.token("read", "short", time.time() + 0.3)
        ended = await door.token("read", "ended")
        assert (await door.ask("GET", "/read", headers=ended)).status_code == 200
        await door.service.accounts.revoke_token("ended", ME)
        assert (await door.ask("GET", "/read", headers=ended)).status_code == 401
        await asyncio.sleep(0.4)
        assert (await door.ask("GET", "/read", headers=short)).status_code == 401

    run(store, main)


def test_an_open_door_on_loopback_is_closed_elsewhere(store: str) -> None:
    async def on_loopback(door: Door) -> None:
        assert (await door.ask("GET", "/metrics")).json()["name"] == "anyone"
        assert (await door.ask("GET", "/metrics", headers={"Authorization": "Bearer x"})).status_code == 401

    async def elsewhere(door: Door) -> None:
        assert (await door.ask("GET", "/metrics")).status_code == 401
        assert (await door.ask("GET", "/metrics", headers=await door.token("read", "m"))).status_code == 200

    run(store, on_loopback)
    run(store, elsewhere, listen="0.0.0.0:8600")
    run(store + "2", elsewhere, behind_proxy=True)


def test_what_a_header_says_of_the_address_counts_only_behind_a_proxy(store: str) -> None:
    async def open_to_all(door: Door) -> None:
        headers = {**await door.token("read"), "X-Forwarded-For": "1.2.3.4"}
        assert (await door.ask("GET", "/read", headers=headers)).json()["address"] == "127.0.0.1"

    async def behind_proxy(door: Door) -> None:
        token = await door.token("read")
        told = {
            "1.2.3.4": "1.2.3.4",
            "6.6.6.6, 1.2.3.4": "1.2.3.4",  # what stands before may be invented
            "1.2.3.4:5678": "1.2.3.4",
            "[2001:db8::1]:99": "2001:db8::1",
            "2001:db8::1": "2001:db8::1",
            "<b>": "127.0.0.1",
            "": "127.0.0.1",
        }
        for header, address in told.items():
            answer = await door.ask("GET", "/read", headers={**token, "X-Forwarded-For": header})
            assert answer.json()["address"] == address, header

    run(store, open_to_all)
    run(store + "2", behind_proxy, behind_proxy=True)


def test_the_document_of_the_api_names_the_scheme(store: str) -> None:
    async def main(door: Door) -> None:
        document = (await door.ask("GET", "/openapi.json")).json()
        assert document["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
        assert document["paths"]["/write"]["post"]["security"] == [{"token": []}]
        assert "/login" not in document["paths"]

    run(store, main)


# -- cookies -----------------------------------------------------------------------------------------------------


def test_who_is_logged_in_may_look_and_no_more(store: str) -> None:
    async def main(door: Door) -> None:
        cookie = await door.cookie("admin")
        looked = await door.ask("GET", "/read", headers=cookie)
        assert looked.json() == {"name": "anna", "via": "dashboard", "address": "127.0.0.1"}
        for method, path in (("POST", "/write"), ("DELETE", "/rule")):
            why = error(await door.ask(method, path, headers={**cookie, "Origin": door.origin}), 401)
            assert why == "who is logged in may only look here: to change something, send a token in the header"
        # A header that is no good is not made up for by a cookie, and one that is good needs none.
        assert (await door.ask("GET", "/read", headers={**cookie, "Authorization": "Bearer x"})).status_code == 401
        both = {**cookie, **await door.token("run"), "Origin": door.origin}
        assert (await door.ask("POST", "/write", headers=both)).json()["via"] == "api"
        assert (await door.ask("GET", "/read", headers={"Cookie": f"{COOKIE}=x; {COOKIE}=gss_"})).status_code == 401
        assert (await door.ask("GET", "/page", headers=cookie)).json()["name"] == "anna"
        assert (await door.ask("GET", "/page")).json() is None
        await door.service.accounts.create_token("spare", "admin", None, ME)
        await door.service.accounts.disable("anna", ME)
        assert (await door.ask("GET", "/read", headers=cookie)).status_code == 401

    run(store, main)


# -- names and origins -------------------------------------------------------------------------------------------


def test_on_loopback_a_name_that_somebody_else_owns_is_refused(store: str) -> None:
    async def main(door: Door) -> None:
        token = await door.token("read")
        port = door.client.base_url.port
        for host in (
            "localhost",
            f"localhost:{port}",
            f"127.0.0.1:{port}",
            "[::1]:8600",
            "gossamer.localhost",
            "LOCALHOST.",
        ):
            assert (await door.ask("GET", "/read", headers={**token, "Host": host})).status_code == 200, host
        for host in (
            "evil.example",
            f"evil.example:{port}",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "10.0.0.7",
        ):
            why = error(await door.ask("GET", "/read", headers={**token, "Host": host}), 400)
            assert "ask for localhost" in why
        for host in ("", "a b", "evil.example/@localhost", "localhost@evil.example", "localhost:x", "x" * 300):
            assert (await door.ask("GET", "/login", headers={"Host": host})).status_code == 400, host
        twice = await spoken(door.client, "GET /read HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n")
        assert twice.startswith("HTTP/1.1 400")
        none = await spoken(door.client, "GET /read HTTP/1.0\r\n\r\n")
        assert " 400 " in none.splitlines()[0]
        with pytest.raises(websockets.InvalidStatus):
            await websockets.connect(door.socket, additional_headers={**await door.cookie(), "Host": "evil.example"})

    run(store, main)


@pytest.mark.parametrize("knobs", [{"listen": "0.0.0.0:8600"}, {"behind_proxy": True}], ids=["elsewhere", "proxy"])
def test_elsewhere_a_service_has_the_names_that_people_gave_it(store: str, knobs: dict[str, Any]) -> None:
    async def main(door: Door) -> None:
        headers = {**await door.token("read"), "Host": "gossamer.intern:8600"}
        assert (await door.ask("GET", "/read", headers=headers)).status_code == 200

    run(store, main, **knobs)


def test_what_the_page_of_another_site_sends_with_our_cookies_is_refused(store: str) -> None:
    async def main(door: Door) -> None:
        cookie = await door.cookie()
        forged = [
            {"Origin": EVIL},
            {"Origin": "null"},
            {"Origin": ""},
            {"Origin": door.origin + ".evil.example"},
            {"Origin": door.origin.replace("127.0.0.1", "localhost")},
            {"Origin": "http://127.0.0.1:1"},
            {"Origin": "http://[bad"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
            {"Origin": door.origin, "Sec-Fetch-Site": "cross-site"},
        ]
        for each in forged:
            for method, path in (("POST", "/write"), ("POST", "/logout"), ("DELETE", "/rule"), ("PATCH", "/nothing")):
                why = error(await door.ask(method, path, headers={**cookie, **each}), 403)
                assert why.startswith("this came from a page of another site"), each
            assert (await door.ask("POST", "/login", headers=each)).status_code == 403  # which anybody may be sent to
            assert (await door.ask("GET", "/_nicegui_ws/poll", headers={**cookie, **each})).status_code == 403
            told = await door.ask("GET", "/api/read", headers={**cookie, **each})
            assert error(told, 403).startswith("this came from a page of another site"), each
        assert (await door.ask("GET", "/page", headers=cookie)).json()["name"] == "anna"  # nobody was logged out
        assert (await door.ask("GET", "/api/read", headers={**cookie, "Origin": door.origin})).status_code == 200
        assert (await door.ask("GET", "/api/read", headers={**cookie, "Sec-Fetch-Site": "none"})).status_code == 200
        program = {**await door.token("read", "program"), "Origin": EVIL}
        assert (await door.ask("GET", "/api/read", headers=program)).status_code == 200
        # A link from elsewhere may be followed, and a program has no origin.
        assert (await door.ask("GET", "/read", headers={**cookie, "Origin": EVIL})).status_code == 200
        assert (
            await door.ask("POST", "/write", headers={**await door.token("run"), "Origin": EVIL})
        ).status_code == 200

    run(store, main)


def test_behind_a_proxy_the_origin_is_the_one_it_is_asked_for(store: str) -> None:
    async def main(door: Door) -> None:
        cookie = await door.cookie()
        proxied = {**cookie, "Host": "127.0.0.1:8600", "X-Forwarded-Host": "g.example", "X-Forwarded-Proto": "https"}
        for origin, status in (
            ("https://g.example", 200),
            ("https://g.example:443", 200),
            ("http://g.example", 403),
            ("https://evil.example", 403),
        ):
            asked = await door.ask("GET", "/_nicegui_ws/poll", headers={**proxied, "Origin": origin})
            assert asked.status_code == status, origin

    run(store, main, behind_proxy=True)


# -- sockets -----------------------------------------------------------------------------------------------------


def test_a_socket_is_for_our_pages_and_for_those_who_are_logged_in(store: str) -> None:
    async def main(door: Door) -> None:
        cookie = await door.cookie("read")
        for headers in (
            {},
            {"Cookie": f"{COOKIE}=gss_{'x' * 43}"},
            {**cookie, "Origin": EVIL},
            {**cookie, "Origin": "null"},
        ):
            with pytest.raises(websockets.InvalidStatus) as refused:
                await websockets.connect(door.socket, additional_headers=headers)
            assert refused.value.response.status_code == 403
        assert (await door.ask("GET", "/_nicegui_ws/poll")).status_code == 401
        assert (await door.ask("GET", "/_nicegui_ws/poll", headers=cookie)).status_code == 200
        async with websockets.connect(door.socket, additional_headers={**cookie, "Origin": door.origin}) as socket:
            await socket.send("hello")
            assert await socket.recv() == "hello"
            # Whoever is logged out while a page is open is out there too.
            await door.service.accounts.disable("anna", ME)
            await socket.send("hello?")
            with pytest.raises(websockets.ConnectionClosed) as closed:
                await socket.recv()
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1008

    async def with_another_admin(door: Door) -> None:
        await door.token("admin", "spare")
        await main(door)

    run(store, with_another_admin)


def test_an_open_page_of_somebody_who_was_logged_out_is_sent_to_the_log_in(store: str) -> None:
    async def main(door: Door) -> None:
        # What NiceGUI's page hears here makes it load anew, and that leads to the log-in.
        place = f"{door.origin.replace('http', 'ws')}/_nicegui_ws/socket.io/?EIO=4&transport=websocket"
        async with websockets.connect(place, additional_headers={"Origin": door.origin}) as socket:
            assert str(await socket.recv()).startswith('0{"sid":')
            await socket.send("40")
            assert await socket.recv() == '44{"message":"Implicit handshake failed"}'
            with pytest.raises(websockets.ConnectionClosed):
                await socket.recv()
        with pytest.raises(websockets.InvalidStatus):
            await websockets.connect(place, additional_headers={"Origin": EVIL})

    run(store, main)


# -- headers, bodies, mistakes -----------------------------------------------------------------------------------


def test_every_answer_has_the_headers_that_keep_browsers_safe(store: str) -> None:
    async def main(door: Door) -> None:
        for path in ("/read", "/login", "/nothing", "/boom", "/page"):
            headers = (await door.ask("GET", path)).headers
            assert headers["X-Content-Type-Options"] == "nosniff", path
            assert headers["X-Frame-Options"] == "DENY"
            assert headers["Referrer-Policy"] == "same-origin"
            assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
            assert headers["Cache-Control"] == "no-store"
            assert "server" not in headers
        refused = await door.ask("GET", "/read", headers={"Host": "evil.example"})
        assert refused.headers["X-Frame-Options"] == "DENY"
        framed = await door.ask("GET", "/framed")
        assert framed.headers.get_list("X-Frame-Options") == ["SAMEORIGIN"]
        assert "cache-control" not in (await door.ask("GET", "/_nicegui/nothing.js")).headers

    run(store, main)


def test_a_body_has_an_end(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layers, "LARGER", {"/size": 9 << 20})

    async def main(door: Door) -> None:
        cap = 9 << 20

        async def endless() -> AsyncIterator[bytes]:
            yield b'{"a": "'
            for _ in range(cap // 65_536 + 1):
                yield b"x" * 65_536

        assert "larger than 9,437,184 bytes" in error(await door.ask("POST", "/size", content=b"x" * (cap + 1)), 413)
        assert "larger than" in error(
            await door.ask("POST", "/size", content=endless(), headers={"Content-Type": "application/json"}), 413
        )
        for length in ("8388609", "9" * 5_000):
            text = f"POST /write HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            status = (await spoken(door.client, text)).splitlines()[0]
            assert " 413 " in status or " 400 " in status
        fits = b'{"a": "' + b"x" * 1_000_000 + b'"}'
        as_json = {"Content-Type": "application/json"}
        assert (await door.ask("POST", "/size", content=fits, headers=as_json)).json() == 1

    run(store, main)


def test_a_mistake_of_ours_shows_nothing_of_the_inside(store: str) -> None:
    async def main(door: Door) -> None:
        answer = await door.ask("GET", "/boom")
        assert answer.status_code == 500
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text
        assert answer.json()["id"] in answer.json()["error"]

    run(store, main)


# -- limits ------------------------------------------------------------------------------------------------------


def test_who_changes_too_much_too_fast_is_told_when_to_come_back(store: str) -> None:
    async def main(door: Door) -> None:
        door.app.state.limits = Limits({"writes": Limit(6, 3), "starts": Limit(6, 1, "starts of runs")})
        one, two = await door.token("run", "one"), await door.token("run", "two")
        found = [(await door.ask("POST", "/write", headers=one)).status_code for _ in range(4)]
        assert found == [200, 200, 200, 429]
        answer = await door.ask("POST", "/write", headers=one)
        assert "more than 6 changes in a minute: come back in" in error(answer, 429)
        assert 1 <= int(answer.headers["Retry-After"]) <= 10
        assert (await door.ask("GET", "/read", headers=one)).status_code == 200
        assert (await door.ask("POST", "/start", headers=two)).status_code == 200
        assert "starts of runs" in error(await door.ask("POST", "/start", headers=two), 429)
        # Who may not do it at all uses nothing up.
        read = await door.token("read")
        assert {(await door.ask("POST", "/write", headers=read)).status_code for _ in range(9)} == {403}

    run(store, main)


def test_turns_come_back_with_time_and_buckets_are_few() -> None:
    now = 0.0
    made = Limits({"writes": Limit(60, 3)}, lambda: now)
    assert [made.take("writes", "a") for _ in range(5)] == [0, 0, 0, 1, 1]
    now = 1.5
    assert [made.take("writes", "a") for _ in range(2)] == [0, 0.5]
    now = 1_000
    assert [made.take("writes", "a") for _ in range(4)] == [0, 0, 0, 1]
    assert made.take("another", "a") == 0
    for n in range(limits.MOST + 10):
        made.take("writes", f"{n}")
    assert len(made) == limits.MOST


# -- the log-in --------------------------------------------------------------------------------------------------


async def fill_in(door: Door, headers: dict[str, str] | None = None, **fields: str) -> httpx.Response:
    """Open the form, fill it in, send it, as a browser does."""
    client = door.client
    client.cookies.clear()
    shown = await client.get("/login", headers=headers)
    assert shown.status_code == 200
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', shown.text))
    return await client.post("/login", data={**hidden, **fields}, headers={"Origin": door.origin, **(headers or {})})


def test_a_person_logs_in_looks_and_logs_out(store: str) -> None:
    async def main(door: Door) -> None:
        await door.service.accounts.create_account("anna", PASSWORD, "read", ME)
        answer = await fill_in(door, name="Anna ", password=PASSWORD, next="/runs?state=failed")
        assert (answer.status_code, answer.headers["Location"]) == (303, "/runs?state=failed")
        cookie = next(each for each in answer.headers.get_list("Set-Cookie") if each.startswith(COOKIE))
        parts = {part.strip().lower() for part in cookie.split(";")[1:]}
        assert parts == {"httponly", "path=/", "samesite=strict"}
        assert (await door.ask("GET", "/read")).json()["name"] == "anna"
        again = await door.ask("GET", "/login?next=/runs")
        assert (again.status_code, again.headers["Location"]) == (303, "/runs")
        secret = door.client.cookies[COOKIE]
        assert (await door.ask("GET", "/logout")).status_code == 404
        gone = await door.ask("POST", "/logout", headers={"Origin": door.origin})
        assert (gone.status_code, gone.headers["Location"]) == (303, "/login")
        assert COOKIE not in door.client.cookies
        assert (await door.ask("GET", "/read", headers={"Cookie": f"{COOKIE}={secret}"})).status_code == 401

    run(store, main)


def test_before_anybody_has_a_password_a_token_is_asked_for(store: str) -> None:
    async def main(door: Door) -> None:
        secret = await door.service.accounts.first_token(ME)
        page = (await door.ask("GET", "/login")).text
        assert 'name="password"' not in page
        assert re.search(r'name="token"[^>]* autofocus', page)
        assert "<script" not in page
        assert (await fill_in(door, token=f" {secret} ")).status_code == 303
        assert (await door.ask("GET", "/page")).json()["name"] == "first-start"
        await door.service.accounts.create_account("anna", PASSWORD, "read", ME)
        door.client.cookies.clear()
        page = (await door.ask("GET", "/login")).text
        assert re.search(r'name="name"[^>]* autofocus', page)
        assert 'name="token"' in page

    run(store, main)


def test_what_does_not_let_in_is_told_in_the_form_without_what_was_typed(store: str) -> None:
    async def main(door: Door) -> None:
        await door.service.accounts.create_account("anna", PASSWORD, "read", ME)
        for name in ("anna", "nobody"):
            answer = await fill_in(door, name=name, password="planted wrong one")
            assert answer.status_code == 401
            assert "The name or the password is wrong" in answer.text
            assert "planted" not in answer.text
            assert COOKIE not in answer.headers.get("Set-Cookie", "")
        answer = await fill_in(door, token="gsm_planted")
        assert answer.status_code == 401
        assert "planted" not in answer.text
        hostile = '"><script>alert(1)</script>'
        answer = await fill_in(door, name=hostile, password="x", next=f"/{hostile}")
        assert "<script>" not in answer.text
        assert (await door.ask("GET", "/login", params={"next": f"/{hostile}"})).text.count("<script") == 0
        while answer.status_code == 401:
            answer = await fill_in(door, name="anna", password="planted wrong one")
        assert answer.status_code == 429
        assert int(answer.headers["Retry-After"]) >= 1
        assert "Too many tries" in answer.text

    run(store, main)


def test_a_form_that_another_site_filled_in_is_not_taken(store: str) -> None:
    async def main(door: Door) -> None:
        await door.service.accounts.create_account("mallory", PASSWORD, "read", ME)
        theirs = {"name": "mallory", "password": PASSWORD}
        for headers in ({}, {"Origin": door.origin}):  # with a browser that does not say where it comes from
            door.client.cookies.clear()
            answer = await door.client.post("/login", data={**theirs, "form": "x" * 32}, headers=headers)
            assert answer.status_code == 400
            assert COOKIE not in answer.headers.get("Set-Cookie", "")
        assert (await door.client.post("/login", json=theirs)).status_code == 400
        assert (await door.client.post("/login", data={"name": "x" * 20_000})).status_code == 400
        assert (await fill_in(door, form="é", **theirs)).status_code == 400
        assert (await fill_in(door, **theirs)).status_code == 303

    run(store, main)


def test_after_the_log_in_nobody_is_sent_elsewhere() -> None:
    assert [local(each) for each in ("/", "/runs/3?a=b#c", "/%2f")] == ["/", "/runs/3?a=b#c", "/%2f"]
    elsewhere = [
        "",
        "runs",
        "//evil.example",
        "/\\evil.example",
        "\\\\evil",
        "https://evil.example",
        "javascript:alert(1)",
    ]
    elsewhere += [
        "/\t/evil.example",
        "/a\r\nSet-Cookie: x=y",
        " //evil",
        "/a\\b",
        "/login?next=/login",
        "/logout",
        "/" * 3_000,
    ]
    assert {local(each) for each in elsewhere} == {"/"}


def test_under_tls_cookies_stay_there(store: str) -> None:
    async def main(door: Door) -> None:
        await door.service.accounts.create_account("anna", PASSWORD, "read", ME)
        proxied = {"Host": "g.example", "X-Forwarded-Proto": "https", "Origin": "https://g.example"}
        shown = await door.client.get("/login", headers=proxied)
        assert "Secure" in shown.headers["Set-Cookie"]
        token = re.search(r'name="form" value="([^"]*)"', shown.text)
        assert token is not None
        answer = await door.client.post(
            "/login",
            data={"form": token[1], "name": "anna", "password": PASSWORD},
            headers={**proxied, "Cookie": f"gossamer_form={token[1]}"},
        )
        assert answer.status_code == 303
        assert all("Secure" in each for each in answer.headers.get_list("Set-Cookie"))

    run(store, main, behind_proxy=True)


def test_a_link_in_a_mail_leads_those_who_are_logged_in_to_the_page(store: str) -> None:
    async def main(door: Door) -> None:
        # The browser keeps the cookie back from what another site began: the page begins it again.
        followed = await door.ask("GET", "/login?next=/runs/7", headers={"Sec-Fetch-Site": "cross-site"})
        assert 'content="0;url=/runs/7"' in followed.text
        assert "<form" not in followed.text

    run(store, main)
