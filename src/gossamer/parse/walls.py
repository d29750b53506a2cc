"""Walls: answers that look like a page, and are a captcha, a bot challenge or a login form in its place.

A wall is small and says little. So a page with a dozen links is none, and what may be one is known by a mark that only
walls have (a script of the firm that guards the site, a form that asks nothing but to be human), and by saying no more
than a few sentences: an article about captchas says more, a contact form asks for more, a shop has more links. Large
walls are known by their title alone.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from gossamer import urls
from gossamer.parse.page import Page

__all__ = ["wall"]

#: Links from which on a page is no wall.
LINKS: Final = 12
#: Pages up to this are searched whole, of larger ones only the beginning, where the title is.
SMALL: Final = 24 << 10
HEAD: Final = 4096
#: Words that a wall may show; those of the firms show fewer than a hundred.
WORDS: Final = 220
#: Larger pages are no walls, wherever they come from.
LARGE: Final = 512 << 10

_SLOWER: Final = "ask more slowly, or with another identity or proxy"
_LOG_IN: Final = "log in with a session of your own, or leave these pages out"


def wall(page: Page) -> str | None:
    """A sentence that names what stands in the way of a page, else None. A few microseconds for most pages."""
    headers = page.headers
    if headers.get("cf-mitigated") == "challenge":
        return _blocked("a challenge by Cloudflare")
    if headers.get("x-amzn-waf-action") in ("captcha", "challenge"):
        return _blocked("a challenge by AWS WAF")
    body = page.response.body
    if not body or len(body) > LARGE or page.response.content_type.startswith(("image/", "video/", "audio/")):
        return None
    if page.request.via and (told := _redirected(page, body)):
        return told
    if len(body) > SMALL:
        return _large(body)
    if _has_links(body):
        return None
    seen = body.lower()
    return _guarded(seen) or _asks_for_a_person(seen) or _asks_for_a_login(page, seen) or _broken_off(seen)


def _large(body: bytes) -> str | None:
    title = _title(body[:HEAD].lower())
    if title not in _TITLES and title not in _COMMON_TITLES and not title.endswith(_SOCIAL_TITLES):
        return None
    seen = body.lower()
    return None if _has_links(seen) else _guarded(seen) or _social(seen)


def _blocked(what: str) -> str:
    return f"{what} stands in the way of the page: {_SLOWER}"


def _has_links(body: bytes) -> bool:
    at = -1
    for _ in range(LINKS):
        at = body.find(b"<a ", at + 1)
        if at < 0:
            return False
    return True


# --- firms that guard sites -------------------------------------------------------------------------------------

#: A mark that nothing but the wall has, in small letters -> whose wall it is. Scripts that a firm puts on every page
#: of its customers (`challenge-platform/scripts/jsd`, `datadome.co/tags.js`, `window._pxAppId`) are none.
_MARKS: Final = {
    b"_cf_chl_": "a challenge by Cloudflare",
    b"cf-browser-verification": "a challenge by Cloudflare",
    b"/orchestrate/chl_page": "a challenge by Cloudflare",
    b"captcha-delivery.com": "a captcha by DataDome",
    b"px-captcha": "a captcha by HUMAN (PerimeterX)",
    b"sec-if-cpt-container": "a challenge by Akamai",
    b"bm-verify=": "a challenge by Akamai",
    b"errors.edgesuite.net": "a refusal by Akamai",
    b"incapsula incident id": "a challenge by Imperva",
    b"window.gokuprops": "a challenge by AWS WAF",
    b"awswafintegration.savereferrer": "a challenge by AWS WAF",
    b"kpsdk.start": "a challenge by Kasada",
    b"sucuri_cloudproxy_js": "a challenge by Sucuri",
    b"/.well-known/ddos-guard/": "a challenge by DDoS-Guard",
    b"opfcaptcha-prod": "a captcha by Amazon",
    b"/errors/validatecaptcha": "a captcha by Amazon",
}
#: Titles of walls, whole and in small letters.
_TITLES: Final = {
    "just a moment...": "a challenge by Cloudflare",
    "attention required! | cloudflare": "a refusal by Cloudflare",
    "access denied | cloudflare": "a refusal by Cloudflare",
    "please wait... | cloudflare": "a challenge by Cloudflare",
    "access to this page has been denied": "a captcha by HUMAN (PerimeterX)",
    "access to this page has been denied.": "a captcha by HUMAN (PerimeterX)",
    "pardon our interruption": "a challenge by Imperva",
    "pardon our interruption...": "a challenge by Imperva",
    "vercel security checkpoint": "a challenge by Vercel",
    "ddos-guard": "a challenge by DDoS-Guard",
}
#: Titles that a page of another sort might have too: these must also say so, and little else.
_COMMON_TITLES: Final = {
    "access denied": "a page that refuses us",
    "you have been blocked": "a page that refuses us",
    "blocked": "a page that refuses us",
    "are you a human?": "a captcha",
    "are you a robot?": "a captcha",
    "are you human?": "a captcha",
    "bot check": "a captcha",
    "bot verification": "a captcha",
    "captcha": "a captcha",
    "checking your browser": "a challenge",
    "client challenge": "a challenge",
    "human verification": "a captcha",
    "please verify you are a human": "a captcha",
    "robot check": "a captcha",
    "security check": "a captcha",
    "unusual traffic": "a captcha",
    "verify you are human": "a captcha",
}
_COMMON_WORDS: Final = 120
_SAYS_SO: Final = re.compile(
    rb"permission|blocked|denied|reference|robot|\bhuman\b|captcha|verif|unusual|traffic|automated|enable javascript"
    rb"|your (?:ip|browser|network)"
)
_TITLE: Final = re.compile(rb"<title(?:\s[^<>]{0,200})?>([^<]{0,200})</title")
_FRAMED: Final = re.compile(rb"<iframe[^<>]{0,300}_incapsula_resource")


def _guarded(seen: bytes) -> str | None:
    """The wall of a firm: its own mark, or its own title, and few words."""
    found = next((name for mark, name in _MARKS.items() if mark in seen), None)
    if found is None and b"_incapsula_resource" in seen and _FRAMED.search(seen):
        found = "a challenge by Imperva"
    title = _title(seen) if found is None else ""
    if found := found or _TITLES.get(title):
        return _blocked(found) if _words(seen) <= WORDS else None
    if found := _COMMON_TITLES.get(title):
        text = _text(seen)
        return _blocked(found) if len(text.split()) <= _COMMON_WORDS and _SAYS_SO.search(text) else None
    return None


def _title(seen: bytes) -> str:
    found = _TITLE.search(seen)
    return " ".join(found[1].decode("utf-8", "replace").split()) if found else ""


# --- captchas of sites themselves -------------------------------------------------------------------------------

_WIDGETS: Final = (b"g-recaptcha", b"grecaptcha", b"h-captcha", b"hcaptcha.com", b"cf-turnstile", b"/recaptcha/")
#: What a form asks for that is more than being human.
_ASKED: Final = re.compile(
    rb"<textarea|<select|<input\b(?![^<>]{0,500}\btype\s*=\s*[\"']?(?:hidden|submit|button|image|checkbox|reset)\b)"
)
_HUMAN: Final = re.compile(
    rb"robot|\bhuman\b|unusual (?:traffic|activity)|automated (?:requests|queries|access)|suspicious activity"
    rb"|(?:solve|complete) the captcha|security check|verify (?:that )?(?:you|it)|\bbots?\b|captcha to (?:go|con|pro)"
)


def _asks_for_a_person(seen: bytes) -> str | None:
    """A captcha with nothing else to fill in: on a contact form there is a message."""
    if not any(mark in seen for mark in _WIDGETS) or _ASKED.search(_without_widget(seen)):
        return None
    text = _text(seen)
    return _blocked("a captcha") if len(text.split()) <= WORDS and _HUMAN.search(text) else None


def _without_widget(seen: bytes) -> bytes:
    """Without the field that the widget itself fills in."""
    return seen.replace(b'<textarea id="g-recaptcha-response', b"").replace(b'<textarea name="h-captcha-response', b"")


# --- login walls ------------------------------------------------------------------------------------------------

_LOGIN_PATH: Final = re.compile(
    r"/(?:accounts?/|users?/|auth/|members?/|customer/account/)?"
    r"(?:log-?in|log_in|sign-?in|sign_in|authwall|auth-?wall|sso|session/new|checkpoint|uas/login)(?:[./?;]|$)",
    re.IGNORECASE,
)
#: Where everybody expects to be asked who they are: that is no wall.
_OWN_PATH: Final = re.compile(
    r"account|profile|settings|cart|basket|checkout|wish-?list|favou?rites?|saved|orders?|admin|dashboard|/my\b|/me\b"
    r"|edit|new|create|submit|reply|comment|vote|report|follow|subscribe|message|inbox|upload|log-?out|register",
    re.IGNORECASE,
)
_LOGIN_TITLE: Final = re.compile(
    r"(?:(?:please )?(?:log|sign)[ -]?in|login|anmelden|einloggen|se connecter|connexion|iniciar sesión|accedi)\b"
)
_PASSWORD: Final = re.compile(rb"<input\b[^<>]{0,500}type\s*=\s*[\"']?password")
#: Marks of login walls that come under the address of the page itself.
_SOCIAL: Final = {
    b'"loginandsignuppage"': "Instagram",
    b"d_registration_join_authwall": "LinkedIn",
    b"auth_wall_desktop": "LinkedIn",
    b"authwall_join_form": "LinkedIn",
}
_SOCIAL_TITLES: Final = ("instagram", "linkedin")
_SOCIAL_PAGES: Final = re.compile(rb'"entry_data":\s*\{\s*"(?!loginandsignuppage)')


def _redirected(page: Page, body: bytes) -> str | None:
    """A login page to which we were sent from one that was none."""
    asked = page.request.via[0]
    if not _LOGIN_PATH.search(_path(page.url)) or _LOGIN_PATH.search(_path(asked)) or _OWN_PATH.search(_path(asked)):
        return None
    lower = body.lower()
    if _PASSWORD.search(lower) or urls.registered_domain(urls.hostname(page.url)) in _WALLED_SITES:
        return f"{page.url.partition('?')[0]} asks to log in where {asked} was asked for: {_LOG_IN}"
    return None


#: Sites whose login page is made by scripts, and has no form in it.
_WALLED_SITES: Final = frozenset(
    {
        "facebook.com",
        "instagram.com",
        "linkedin.com",
        "pinterest.com",
        "threads.com",
        "threads.net",
        "tiktok.com",
        "twitter.com",
        "x.com",
    }
)


def _path(url: str) -> str:
    return unquote(url.partition("://")[2].partition("/")[2].partition("?")[0]).join("/ ").rstrip()


def _asks_for_a_login(page: Page, seen: bytes) -> str | None:
    """A login form under the address of a page."""
    if told := _social(seen):
        return told
    if b"password" not in seen or not _PASSWORD.search(seen) or not _LOGIN_TITLE.match(_title(seen)):
        return None
    path = _path(page.url)
    if path == "/" or _LOGIN_PATH.search(path) or _OWN_PATH.search(path) or _words(seen) > WORDS:
        return None
    return f"a login form stands in the way of the page: {_LOG_IN}"


def _social(seen: bytes) -> str | None:
    site = next((name for mark, name in _SOCIAL.items() if mark in seen), None)
    if site is None or _SOCIAL_PAGES.search(seen) or _words(seen) > WORDS:
        return None
    return f"{site}'s login wall stands in the way of the page: {_LOG_IN}"


def _broken_off(seen: bytes) -> str | None:
    """A page that ends within a script of its head: sites that block cut it there, and so do bad connections."""
    opened = seen.rfind(b"<script")
    if opened < 0 or opened < seen.rfind(b"</script") or b"<body" in seen or _title(seen) or _words(seen):
        return None
    return f"the page breaks off before it shows anything, as with sites that block: {_SLOWER}"


# --- what a reader sees -----------------------------------------------------------------------------------------

_UNSEEN: Final = (b"script", b"style", b"template", b"svg", b"title")


def _text(seen: bytes) -> bytes:
    """What a page in small letters shows, roughly: its text without tags, comments, scripts and styles."""
    shown: list[bytes] = []
    end = b""
    for piece in seen.split(b"<"):
        if end == b"-->":
            _, found, text = piece.partition(end)
            if not found:
                continue
        elif end:
            if not piece.startswith(end):
                continue
            text = piece.partition(b">")[2]
        elif piece.startswith(_UNSEEN):
            end = next(b"/" + name for name in _UNSEEN if piece.startswith(name))
            continue
        elif piece.startswith(b"!--") and b"-->" not in piece:
            end = b"-->"
            continue
        else:
            text = piece.partition(b">")[2]
        end = b""
        shown.append(text)
    return b" ".join(shown)


def _words(seen: bytes) -> int:
    return len(_text(seen).split())
