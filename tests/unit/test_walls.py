"""Walls are known for what they are, and ordinary pages are left in peace."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from gossamer.parse.page import Page
from gossamer.parse.walls import wall
from gossamer.testing import pages as invented
from gossamer.values import Headers, Request, Response
from tests.conftest import corpora

URL = "https://shop.test/things/42"
PROSE = "<p>Some sites ask their visitors to prove that they are human, and many of those who are asked go away. " * 20


def told(
    body: str | bytes, *, status: int = 200, url: str = URL, via: tuple[str, ...] = (), **headers: str
) -> str | None:
    """What the wall of a page is called."""
    pairs = [("content-type", "text/html"), *((name.replace("_", "-"), value) for name, value in headers.items())]
    raw = body.encode() if isinstance(body, str) else body
    return wall(Page(Request(url, via=via), Response(url, status, Headers(pairs), raw, 0.0, 0.0)))


def html(title: str, body: str, head: str = "") -> str:
    """A whole page."""
    return f"<!doctype html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


LOGIN_FORM = '<form action="/login" method="post"><input name="user"><input type="password" name="p"></form>'


@pytest.mark.parametrize(
    ("who", "body"),
    [
        ("Cloudflare", html("Just a moment...", "<script>window._cf_chl_opt={cvId:'3'}</script>")),
        ("Cloudflare", html("Just a moment...", "<noscript>Enable JavaScript and cookies to continue</noscript>")),
        ("Cloudflare", html("Un instant…", "<script>(function(){window._cf_chl_opt = {}}())</script>")),
        ("Cloudflare", html("Attention Required! | Cloudflare", "<h1>Sorry, you have been blocked</h1>")),
        ("DataDome", "<html><head><title>shop.test</title></head><body><p id=cmsg>Please enable JS</p>"
         "<script>var dd={'host':'geo.captcha-delivery.com'}</script></body></html>"),
        ("DataDome", '{"url":"https://geo.captcha-delivery.com/captcha/?initialCid=x"}'),
        ("HUMAN", html("Access to this page has been denied", "<div id=px-captcha></div>")),
        ("HUMAN", html("shop.test", "<h1>Press & Hold to confirm you are human</h1><div id=px-captcha></div>")),
        ("Akamai", html("&nbsp;", "<div id=sec-if-cpt-container></div>")),
        ("Akamai", html("Access Denied", "You don't have permission. Reference #18.1 https://errors.edgesuite.net/18.1")),
        ("Imperva", html("", '<iframe src="/_Incapsula_Resource?CWUDNSAI=9&xinfo=1">Request unsuccessful.</iframe>')),
        ("Imperva", html("Pardon Our Interruption", "<p>Something about your browser made us think of a bot.")),
        ("AWS WAF", html("Human Verification", "<script>AwsWafIntegration.saveReferrer()</script>")),
        ("Kasada", "<html><script>window.KPSDK={};KPSDK.start=KPSDK.now()</script><script src=/ips.js></html>"),
        ("Vercel", html("Vercel Security Checkpoint", "<p>We're verifying your browser")),
        ("Amazon", html("shop", '<form action="/errors/validateCaptcha"><input name="field-keywords"></form>')),
        ("a captcha", html("One more step", '<p>Prove that you are no robot.</p><div class="g-recaptcha"></div>')),
        ("a captcha", html("Hm", '<p>Verify you are human</p><form><input type="hidden" name=t><div class="h-captcha">'
         '</div><textarea name="h-captcha-response"></textarea><input type=submit></form>')),
        ("a captcha", html("Check", '<p>Automated access was found.<div class="cf-turnstile" data-sitekey=x></div>')),
        ("refuses us", html("Access Denied", "<p>You don't have permission to access this page on this server.")),
    ],
)  # fmt: skip
def test_the_walls_of_firms_and_captchas_are_found(who: str, body: str) -> None:
    for status in (200, 403, 429, 503):
        found = told(body, status=status)
        assert found is not None
        assert who in found
        assert found.count(": ") == 1


@pytest.mark.parametrize("kind", invented.WALLS)
def test_our_own_test_site_has_walls_that_are_found(kind: invented.Wall) -> None:
    body, status = invented.WALLS[kind]
    assert told(body, status=status)


def test_some_walls_are_told_by_a_header_alone() -> None:
    assert "Cloudflare" in (told("", status=403, cf_mitigated="challenge") or "")
    assert "AWS WAF" in (told("", status=202, x_amzn_waf_action="challenge") or "")


def test_a_large_wall_is_known_by_its_title() -> None:
    style = f"<style>{'.a{color:red}' * 5000}</style>"
    assert "Cloudflare" in (told(html("Just a moment...", "<h1>shop.test</h1>", style)) or "")
    assert told(html("Just a moment...", PROSE * 4, style)) is None
    assert told(html("A shop", "<script>_cf_chl_opt</script>", style)) is None


# --- login walls ---


def test_a_login_page_in_the_place_of_a_page_is_a_wall() -> None:
    instagram = '<script>window._sharedData={"entry_data": {"LoginAndSignupPage": [{}]}}</script>'
    assert "Instagram" in (told(html("#art on Instagram", instagram)) or "")
    assert "Instagram" in (told(html("#art on Instagram", instagram + f"<script>{'x();' * 20_000}</script>")) or "")
    assert "LinkedIn" in (told(html("Join LinkedIn", "<meta name=pageKey content=d_registration_join_authwall>")) or "")
    assert "login form" in (told(html("Log in | Shop", LOGIN_FORM)) or "")
    content = instagram.replace("LoginAndSignupPage", "TagPage").replace("[{}]", '[{"LoginAndSignupPage": 1}]')
    assert told(html("#art on Instagram", content)) is None


@pytest.mark.parametrize(
    ("asked", "landed", "body", "is_wall"),
    [
        ("/story/7", "/login?next=/story/7", LOGIN_FORM, True),
        ("/story/7", "/accounts/login/", LOGIN_FORM + '<a href="/x">x</a>' * 30, True),
        ("/story/7", "/user/sign-in", LOGIN_FORM, True),
        ("/story/7", "/login", "<p>no form</p>", False),
        ("/story/7", "/stories/logins-of-the-famous", LOGIN_FORM, False),
        ("/account/orders", "/login?next=/account/orders", LOGIN_FORM, False),
        ("/signin", "/login", LOGIN_FORM, False),
    ],
)
def test_being_sent_to_a_login_page_is_a_wall_unless_one_was_asked_for(
    asked: str, landed: str, body: str, is_wall: bool
) -> None:
    found = told(html("Welcome", body), url=f"https://shop.test{landed}", via=(f"https://shop.test{asked}",))
    assert (found is not None) is is_wall


def test_sites_whose_login_page_is_made_by_scripts_are_known() -> None:
    found = told(
        html("Instagram", "<div>"),
        url="https://www.instagram.com/accounts/login/?next=%2Fx%2F",
        via=("https://www.instagram.com/x/",),
    )
    assert "asks to log in where https://www.instagram.com/x/ was asked for" in (found or "")


# --- ordinary pages ---


@pytest.mark.parametrize(
    "body",
    [
        "",
        "plain",
        html("Shop", '<a href="/login">Log in</a><p>Welcome.'),
        html("Shop", f"<p>Welcome.</p>{LOGIN_FORM}"),
        html("Contact", '<form><input name=email><textarea name=m></textarea><div class="g-recaptcha"></div></form>'
             "<p>Are you a robot? Then do not write."),
        html("Sign up", '<form><input type="email"><div class="cf-turnstile"></div></form><p>Verify you are human'),
        html("Newsletter", '<script src="https://www.google.com/recaptcha/api.js"></script><p>Read us every day.'),
        html("How captchas work", PROSE + "<pre>window._cf_chl_opt, px-captcha, captcha-delivery.com</pre>"),
        html("Captcha", PROSE),
        html("Captcha", "<p>A word of our language, in three sentences."),
        html("Blocked", "<p>A novel by nobody. Paperback."),
        html("Access denied: a history of doors", "<p>Permission was not given."),
        html("Shop", '<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script><p>Things.'),
        html("Shop", '<script src="https://js.datadome.co/tags.js"></script><p>Things.'),
        html("Shop", '<script src="/_Incapsula_Resource?SWJIYLWA=1"></script><p>Things.'),
        html("Shop", "<script>window._pxAppId = 'PX1'</script><p>Things."),
        html("Just a moment...", '<a href="/x">x</a>' * 12),
        '<html><head><title>App</title></head><body><div id="root"></div><script>start()</script></body></html>',
        "<script>a()</script><p>A fragment",
    ],
)  # fmt: skip
def test_ordinary_pages_are_no_walls(body: str) -> None:
    assert told(body) is None


def test_the_login_page_itself_is_no_wall() -> None:
    for path in ("/login", "/accounts/login/", "/user/sign_in?x", "/", "/account"):
        assert told(html("Log in | Shop", LOGIN_FORM), url=f"https://shop.test{path}") is None


def test_a_page_that_breaks_off_in_its_head_shows_nothing() -> None:
    assert "breaks off" in (
        told("<!doctype html><html><head><!-- a <b> --><script>a()</script><script>var x = {'a'") or ""
    )
    assert told("<!doctype html><html><head><title>Shop</title><script>var x") is None
    assert told("<!doctype html><p>Words come first.<script>var x") is None


def test_images_and_large_pages_are_not_searched() -> None:
    image = Response(URL, 200, Headers([("content-type", "image/png")]), b"px-captcha", 0, 0)
    assert wall(Page(Request(URL), image)) is None
    assert told(html("Just a moment...", "x" * (600 << 10))) is None


@pytest.mark.parametrize(
    "body", [b"<a " * 11 + b"<" * 20_000, b"<title" * 4000, b"<iframe" * 3000, b"<!--<script" * 2000]
)
def test_hostile_pages_take_no_longer_than_others(body: bytes) -> None:
    told(body)
    told(b"<title>Just a moment...</title>" + body * 10)


# --- real pages ---

WALLS = ("jobs/blocked_", "jobs/challenge_", "instagram/derived/login_wall")


def _read(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


@pytest.mark.suite
def test_of_all_real_pages_the_walls_are_found_and_no_other() -> None:
    fixtures, suites = corpora("fixtures"), corpora("suites")
    paths = [*fixtures.rglob("*.html"), *suites.rglob("*.html.gz"), *suites.rglob("*.html")]
    found = {str(path) for path in paths if told(_read(path))}
    wanted = {str(path) for path in paths if any(name in str(path) for name in WALLS)}
    assert len(paths) > 300
    assert found == wanted
