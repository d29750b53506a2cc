"""robots.txt: what an answer to it means, and what it says about a URL."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.polite import robots
from gossamer.polite.robots import Robots, product, read
from gossamer.settings import USER_AGENT
from tests.unit.pages import response

AGENT = "gossamer/1.0 (+http://a.org)"


def _rules(text: str) -> Robots:
    return read(response(text), AGENT)


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (USER_AGENT, "gossamer"),
        ("My Bot/2", "My"),
        ("bot", "bot"),
        ("  x/1 ", "x"),
        ("/1", "gossamer"),
        ("", "gossamer"),
    ],
)
def test_robots_txt_knows_us_by_our_product_name(agent: str, name: str) -> None:
    assert product(agent) == name


def test_rules_are_read_for_our_name_else_for_all() -> None:
    rules = _rules("User-agent: *\nDisallow: /\n\nUser-agent: Gossamer\nDisallow: /private\nAllow: /private/open")
    assert rules.forbids("http://a.org/x") is None
    assert rules.forbids("http://a.org/private/open") is None
    assert rules.forbids("http://a.org/private/x") == "robots.txt does not allow it for gossamer"
    assert read(response("User-agent: *\nDisallow: /"), "other/1").forbids("http://a.org/x")


@pytest.mark.parametrize("word", ["Disallow", "DISALLOW", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"])
def test_a_misspelled_ban_is_a_ban(word: str) -> None:
    assert _rules(f"User-agent: *\n{word}: /x").forbids("http://a.org/x")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451, 301])
def test_a_site_without_rules_forbids_nothing(status: int) -> None:
    rules = read(response("User-agent: *\nDisallow: /", status=status), AGENT)
    assert (rules.forbids("http://a.org/"), rules.delay) == (None, 0.0)


@pytest.mark.parametrize("text", ["", "<html>Not found</html>", "User-agent: *\nAllow: /", "\0\xff"])
def test_a_file_without_rules_forbids_nothing(text: str) -> None:
    assert _rules(text).forbids("http://a.org/x") is None


def test_a_byte_order_mark_hides_no_rule() -> None:
    assert _rules("\ufeffUser-agent: *\nDisallow: /").forbids("http://a.org/x")


def test_a_closed_site_says_why() -> None:
    rules = Robots(AGENT, closed="http://a.org/robots.txt could not be read")
    assert rules.forbids("http://a.org/") == "http://a.org/robots.txt could not be read"


def test_only_the_first_part_of_an_endless_file_counts() -> None:
    filler = "#" * robots.MAX_ROBOTS
    assert _rules(f"User-agent: *\nDisallow: /a\n{filler}\nDisallow: /b").forbids("http://a.org/b") is None
    assert _rules(f"User-agent: *\nDisallow: /a\n{filler}\nDisallow: /b").forbids("http://a.org/a")


@pytest.mark.parametrize(
    ("line", "delay"),
    [
        ("Crawl-delay: 5", 5.0),
        ("crawl delay: 0.5", 0.5),
        ("Request-rate: 1/10", 10.0),
        ("Request-rate: 2/1m", 30.0),
        ("Crawl-delay: 3\nRequest-rate: 1/2", 3.0),
        ("Crawl-delay: soon", 0.0),
        ("Crawl-delay: -1", 0.0),
        ("Crawl-delay: nan", 0.0),
        ("Request-rate: 0/5", 0.0),
    ],
)
def test_a_site_may_ask_for_a_pause(line: str, delay: float) -> None:
    assert _rules(f"User-agent: *\n{line}").delay == delay


@pytest.mark.parametrize("line", [f"Crawl-delay: {'9' * 300}", f"Request-rate: 1/{'9' * 400}"])
def test_a_pause_no_clock_could_add_is_a_year(line: str) -> None:
    assert _rules(f"User-agent: *\n{line}").delay == 366 * 86400


lines = st.sampled_from(
    ["User-agent: *", "Disallow: ", "Crawl-delay: ", "Request-rate: ", "Allow: /", "\n", "*", "$", "%", "1e999"]
)


@given(st.lists(lines | st.text(max_size=5), max_size=8).map("".join), st.text(max_size=8))
def test_no_file_raises_or_asks_for_an_endless_pause(text: str, path: str) -> None:
    rules = _rules(text.encode("utf-8", "replace").decode())
    assert 0 <= rules.delay < math.inf
    assert rules.forbids(f"http://a.org/{path}") in (None, "robots.txt does not allow it for gossamer")
