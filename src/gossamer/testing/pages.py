"""Small pages that stand in the way of the real one: a login wall, captchas, a block. All of them invented."""

from __future__ import annotations

from typing import Literal, TypeAlias

#: What a wall looks like.
Wall: TypeAlias = Literal["login", "captcha", "challenge", "denied"]

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}</head>
<body>{body}</body></html>
"""

LOGIN = _PAGE.format(
    title="Log in to continue",
    head='<meta name="robots" content="noindex">',
    body='<main id="login-wall"><h1>Log in to continue</h1><p>You must log in to see this page.</p>'
    '<form id="loginForm" method="post" action="/accounts/login/">'
    '<input name="username" autocomplete="username" aria-label="Username">'
    '<input name="password" type="password" autocomplete="current-password" aria-label="Password">'
    '<button type="submit">Log in</button></form><a href="/accounts/signup/">Sign up</a></main>',
)
CAPTCHA = _PAGE.format(
    title="Are you a robot?",
    head='<script src="https://www.google.com/recaptcha/api.js" async defer></script>',
    body="<h1>Are you a robot?</h1><p>Unusual traffic came from your network. Please solve the captcha to go on.</p>"
    '<form method="post" action="/captcha"><div class="g-recaptcha" data-sitekey="6Lc-invented"></div>'
    '<input type="submit" value="Continue"></form>',
)
CHALLENGE = _PAGE.format(
    title="Just a moment...",
    head='<meta http-equiv="refresh" content="390"><meta name="robots" content="noindex,nofollow">',
    body='<div class="main-wrapper"><h1>Checking your browser</h1><noscript>Enable JavaScript and cookies to '
    'continue</noscript><form id="challenge-form" action="/?__cf_chl_f_tk=invented" method="POST"></form></div>'
    '<script>window._cf_chl_opt={cvId:"3"};</script>'
    '<script src="/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1"></script>',
)
DENIED = _PAGE.format(
    title="Access Denied",
    head="",
    body="<h1>Access Denied</h1><p>You don't have permission to access this page on this server.</p>"
    "<p>Reference #18.invented.1700000000.0</p>",
)
#: Kind -> the page, and the status it usually comes with.
WALLS: dict[Wall, tuple[str, int]] = {
    "login": (LOGIN, 200),
    "captcha": (CAPTCHA, 200),
    "challenge": (CHALLENGE, 403),
    "denied": (DENIED, 403),
}


def links(title: str, hrefs: list[str]) -> str:
    """A page that links to all of these."""
    anchors = "".join(f'<li><a href="{href}">{href}</a></li>' for href in hrefs)
    return _PAGE.format(title=title, head="", body=f"<h1>{title}</h1><ul>{anchors}</ul>")
