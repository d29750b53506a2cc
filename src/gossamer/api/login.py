"""`/login` and `/logout`: a form that works without scripts, in the dark and on a phone."""

from __future__ import annotations

import base64
import hashlib
import math
import re
import secrets
from html import escape
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from gossamer.accounts import Accounts
from gossamer.api.security import COOKIE, address, current, secure, service_of
from gossamer.errors import NotAdmitted, StoreError, TooManyTries

router = APIRouter(include_in_schema=False)

#: The cookie that a form must know the value of: a page of another site can send a form, and not read that.
FORM = "gossamer_form"
#: Bytes of a form that was filled in.
LARGEST = 16 << 10
#: Seconds that a form may be open.
OPEN = 6 * 3600
#: Where those go who want nothing else.
HOME = "/"
_MADE = re.compile(r"[A-Za-z0-9_-]{32}")
_LOCAL = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f-\xa0]{0,2000}")

_STYLE = """
:root { color-scheme: light dark; --line: light-dark(#d0d7de, #3d444d); --warn: light-dark(#b42318, #ff9a8f); }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; display: grid; place-items: center; min-height: 100vh; }
main { width: min(22rem, calc(100vw - 3rem)); padding: 1.5rem 0; }
h1 { font-size: 1.5rem; margin: 0 0 1rem; }
label { display: block; margin: .8rem 0 .2rem; }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .6rem; border: 1px solid var(--line); \
border-radius: .4rem; }
button { font: inherit; width: 100%; margin-top: 1.2rem; padding: .7rem; border: 0; border-radius: .4rem; \
background: #2563eb; color: #fff; cursor: pointer; }
summary { margin-top: 1rem; cursor: pointer; }
.why { color: var(--warn); margin: 0; }
small { opacity: .75; }
"""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>Log in: Gossamer</title><style>{style}</style></head><body><main>
<h1>Gossamer</h1>{why}
<form method="post" action="/login">
<input type="hidden" name="form" value="{form}"><input type="hidden" name="next" value="{next}">
{fields}
<button type="submit">Log in</button>
</form></main></body></html>
"""
_PERSON = """<label for="name">Name</label>
<input id="name" name="name" value="{name}" autocomplete="username" autocapitalize="none" spellcheck="false" \
maxlength="100"{name_focus}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="1000"{password_focus}>
<details><summary>Log in with a token</summary>{token}</details>
"""
_KEY = """<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="off" placeholder="gsm_..." maxlength="200"{focus}>
<small>The first start of the service prints one; <code>gossamer token create</code> makes more.</small>
"""
# A link in a mail leads here without our cookie, which browsers keep back from what another site began. What this page
# begins, they send it with.
_BOUNCE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={next}">
<title>Gossamer</title></head><body><a href="{next}">Go on</a></body></html>
"""
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_CSP = (
    f"default-src 'none'; style-src 'sha256-{_HASH}'; img-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)


def local(wanted: str) -> str:
    """Where to go after the log-in: a path of ours, whatever a link says.

    >>> local("/runs?state=failed"), local("//evil.example/"), local("https://evil.example/")
    ('/runs?state=failed', '/', '/')
    """
    good = _LOCAL.fullmatch(wanted) and not wanted.startswith(("/login", "/logout"))
    return wanted if good else HOME


@router.get("/login")
async def form(request: Request) -> Response:
    """The form; or, for those who are logged in, where they want to go."""
    wanted = local(request.query_params.get("next", HOME))
    if await current(request) is not None:
        return RedirectResponse(wanted, 303)
    if request.headers.get("sec-fetch-site") == "cross-site":
        return HTMLResponse(_BOUNCE.format(next=escape(wanted)), headers={"Content-Security-Policy": _CSP})
    return await _form(request, wanted)


@router.post("/login")
async def log_in(request: Request) -> Response:
    """Begin a session with what was filled in."""
    given = await _filled_in(request)
    wanted = local(given.get("next", HOME))
    known = request.cookies.get(FORM, "")
    if not known or not secrets.compare_digest(known.encode(), given.get("form", "").encode("utf-8", "replace")):
        why = "the form was open for too long, or the browser keeps no cookies: try again"
        return await _form(request, wanted, 400, why, given.get("name", ""))
    try:
        secret = await _admit(request, given)
    except TooManyTries as error:
        wait = str(max(1, math.ceil(error.seconds)))
        return await _form(request, wanted, 429, str(error), given.get("name", ""), {"Retry-After": wait})
    except NotAdmitted as error:
        return await _form(request, wanted, 401, str(error), given.get("name", ""))
    except StoreError:
        return await _form(request, wanted, 503, "the store cannot be used now: try again in a moment")
    answer = RedirectResponse(wanted, 303)
    # Without an end of its own: the browser forgets it when it is closed, and the store knows when it is over.
    answer.set_cookie(COOKIE, secret, path="/", httponly=True, samesite="strict", secure=secure(request))
    answer.delete_cookie(FORM, path="/login", httponly=True, samesite="strict", secure=secure(request))
    return answer


async def _admit(request: Request, given: dict[str, str]) -> str:
    accounts: Accounts = service_of(request).accounts
    where = address(request)
    if given.get("token", "").strip():
        return await accounts.log_in_with_token(given["token"], where)
    return await accounts.log_in(given.get("name", ""), given.get("password", ""), where)


@router.post("/logout")
async def log_out(request: Request) -> Response:
    """End the session. The guard has looked at where this came from."""
    secret = request.cookies.get(COOKIE, "")
    if secret:
        await service_of(request).accounts.log_out(secret, address(request))
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict", secure=secure(request))
    return answer


async def _filled_in(request: Request) -> dict[str, str]:
    """The fields of a form, of at most so many bytes; none if they are more, or no form."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/x-www-form-urlencoded":
        return {}
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST:
            return {}
    try:
        return dict(parse_qsl(body.decode("ascii"), keep_blank_values=True, max_num_fields=20))
    except ValueError:
        return {}


async def _form(
    request: Request,
    wanted: str,
    status: int = 200,
    why: str = "",
    name: str = "",
    headers: dict[str, str] | None = None,
) -> Response:
    """The form as a page, with what was wrong, and nothing secret of what was filled in."""
    known = request.cookies.get(FORM, "")
    # The one that is there stays: other forms may be open.
    token = known if _MADE.fullmatch(known) else secrets.token_urlsafe(24)
    page = _PAGE.format(
        style=_STYLE,
        form=escape(token),
        next=escape(wanted),
        why=f'<p class="why" role="alert">{_marked(why[:1].upper() + why[1:])}.</p>' if why else "",
        fields=await _fields(request, name[:100]),
    )
    answer = HTMLResponse(page, status, {**(headers or {}), "Content-Security-Policy": _CSP})
    answer.set_cookie(
        FORM, token, max_age=OPEN, path="/login", httponly=True, samesite="strict", secure=secure(request)
    )
    return answer


def _marked(text: str) -> str:
    """A sentence as markup, in which `names` are set apart as code.

    >>> _marked("type `a < b`")
    'type <code>a &lt; b</code>'
    """
    return re.sub("`([^`]*)`", r"<code>\1</code>", escape(text))


async def _fields(request: Request, name: str) -> str:
    """What is asked for: where nobody has a password yet, a token."""
    focus = " autofocus"
    try:
        people = await service_of(request).accounts.any_accounts()
    except StoreError:
        people = True
    if not people:
        return _KEY.format(focus=focus)
    return _PERSON.format(
        name=escape(name),
        name_focus="" if name else focus,
        password_focus=focus if name else "",
        token=_KEY.format(focus=""),
    )
