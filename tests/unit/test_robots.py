"""robots.txt: what an answer to it means, and what it says about a URL."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from gossamer.polite import robots
from gossamer.polite.robots import Robots, product, read
from gossamer.settings import USER_AGENT
from gossamer.storage.store import RobotsNote
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
    because = "robots.txt does not allow it for gossamer (line 5: Disallow: /private)"
    assert rules.forbids("http://a.org/private/x") == because
    assert read(response("User-agent: *\nDisallow: /"), "other/1").forbids("http://a.org/x")


@pytest.mark.parametrize("name", ["gossamer bot", "Gossamer  (all of them)", "gossamer\tx # y"])
def test_of_a_longer_name_the_first_word_counts(name: str) -> None:
    rules = _rules(f"User-agent: *\r\nAllow: /\r\nUser-agent: {name}\r\nDisallow: /x")
    assert rules.verdict("http://a.org/x") == robots.Verdict(False, "Disallow: /x", 4, "gossamer")


@pytest.mark.parametrize("word", ["Disallow", "DISALLOW", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"])
def test_a_misspelled_ban_is_a_ban(word: str) -> None:
    assert _rules(f"User-agent: *\n{word}: /x").forbids("http://a.org/x")


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451, 301])
def test_a_site_without_rules_forbids_nothing(status: int) -> None:
    rules = read(response("User-agent: *\nDisallow: /", status=status), AGENT)
    assert (rules.forbids("http://a.org/"), rules.delay) == (None, 0.0)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504, 599])
def test_a_site_in_trouble_is_closed_until_it_is_asked_again(status: int) -> None:
    rules = read(response("User-agent: *\nAllow: /", status=status), AGENT)
    assert not rules.allows("http://a.org/")
    assert f"status {status}" in str(rules.forbids("http://a.org/"))
    assert not rules.expired(rules.fetched + robots.CLOSED_FOR - 1)
    assert rules.expired(rules.fetched + robots.CLOSED_FOR)
    assert not rules.aging(rules.fetched + robots.CLOSED_FOR - 1)


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


# --- their age ---


def test_rules_hold_for_a_day_and_are_asked_for_again_a_little_sooner() -> None:
    rules, hour = Robots(AGENT, b"", fetched=1e9), 3600
    assert [rules.expired(1e9 + age * hour) for age in (0, 23.9, 24)] == [False, False, True]
    assert [rules.aging(1e9 + age * hour) for age in (0, 19.9, 20)] == [False, False, True]
    rules.asked = 1e9 + 20 * hour  # in vain
    assert [rules.aging(1e9 + 20 * hour + age) for age in (0, 599, 600)] == [False, False, True]


def test_rules_from_the_future_are_of_no_known_age() -> None:
    assert Robots(AGENT, b"", fetched=1e9 + 3600).expired(1e9)


def test_rules_from_the_store_are_as_old_as_when_they_were_last_seen() -> None:
    body = b"User-agent: *\nDisallow: /"
    kept = robots.of(RobotsNote("http://a.org", 1e9, 2e9, 200, body), AGENT)
    assert (kept.allows("http://a.org/x"), kept.fetched, kept.agent) == (False, 2e9, "gossamer")
    assert robots.of(RobotsNote("http://a.org", 1e9, 2e9, 404, body), AGENT).allows("http://a.org/x")
    assert robots.of(RobotsNote("http://a.org", 1e9, 2e9, 0, b"", "no answer"), AGENT).forbids("u") == "no answer"


# --- sitemaps ---


def test_sitemaps_are_offered_once_and_only_if_they_can_be_fetched() -> None:
    rules = _rules(
        "Sitemap: http://a.org/1.xml\nUser-agent: *\nsite-map: HTTPS://A.org/2.xml#x\nSitemap: /3.xml\n"
        "Sitemap: ftp://a.org/4.xml\nSitemap: http://a.org/1.xml\nSitemap: http://[/5.xml\n"
        f"Sitemap: http://a.org/{'6' * 9000}\nSitemap http://a.org/7.xml"
    )
    assert rules.sitemaps == ["http://a.org/1.xml", "https://a.org/2.xml", "http://a.org/7.xml"]
    assert rules.allows("http://a.org/x")
    assert _rules("User-agent: *\nDisallow: /").sitemaps == []
    assert Robots(AGENT, closed="no answer").sitemaps == []


def test_no_more_sitemaps_than_anyone_reads() -> None:
    text = "\n".join(f"Sitemap: http://a.org/{n}.xml" for n in range(robots.MAX_SITEMAPS + 5))
    assert len(_rules(text).sitemaps) == robots.MAX_SITEMAPS


# --- the line that decided ---

FILE = """\
# ours
User-agent: *
Disallow: /all

User-Agent: Gossamer   # that is us
User-agent: Other
Disallow: /private/ # keep out
Allow: /private/open
DISALLOW: /*.php$
Dissalow: /caf\u00e9
Allow: /shop/index.html
Disallow: /shop/
Disallow: /private/
"""


@pytest.mark.parametrize(
    ("path", "allowed", "because"),
    [
        ("/private/x", False, "line 7: Disallow: /private/ # keep out"),
        ("/private/open/x", True, "line 8: Allow: /private/open"),
        ("/x.php", False, "line 9: DISALLOW: /*.php$"),
        ("/x.php5", True, ""),
        ("/caf%c3%a9", False, "line 10: Dissalow: /caf\u00e9"),
        ("/shop/", True, "line 11: Allow: /shop/index.html"),
        ("/shop/x", False, "line 12: Disallow: /shop/"),
        ("/all", True, ""),
        ("/robots.txt", True, ""),
    ],
)
def test_a_verdict_names_the_line_that_decided(path: str, allowed: bool, because: str) -> None:
    verdict = _rules(FILE).verdict(f"http://a.org{path}")
    assert (verdict.allowed, verdict.because) == (allowed, because)
    assert verdict.agent == ("gossamer" if because else "")


def test_a_verdict_may_come_from_the_group_for_all() -> None:
    verdict = read(response(FILE), "someone/1").verdict("http://a.org/all/x")
    assert verdict == robots.Verdict(False, "Disallow: /all", 3, "*")


def test_robots_txt_itself_is_allowed_whatever_is_written() -> None:
    verdict = _rules("User-agent: *\nDisallow: /").verdict("http://a.org/robots.txt?x")
    assert verdict == robots.Verdict(True)


def test_a_verdict_without_rules_names_no_line() -> None:
    assert _rules("").verdict("http://a.org/") == robots.Verdict(True)
    assert Robots(AGENT, closed="no answer").verdict("http://a.org/") == robots.Verdict(False)


def test_a_line_is_shown_on_one_line_and_not_without_end() -> None:
    verdict = _rules(f"User-agent: *\nDisallow: /\t\x07{'x' * 5000}*").verdict(f"http://a.org/%09%07{'x' * 5000}")
    assert verdict.line.isprintable()
    assert len(verdict.line) == 200


paths = st.sampled_from(["/", "/a", "/a/", "/b", "*", "$", "%41", "%2f", "/index.html", "\u00e9", "?x=", "//"])
written = st.lists(paths, max_size=4).map("".join)
fields = st.sampled_from(["Allow: ", "Disallow: ", "disalow ", "User-agent: ", "User-agent: gossamer\n", "Sitemap: "])
files = st.lists(st.tuples(fields, written | st.sampled_from(["*", "gossamer", "x"])), max_size=12)


@given(files, written)
def test_a_verdict_always_agrees_with_the_parser(file: list[tuple[str, str]], path: str) -> None:
    text = "\n".join(field + value for field, value in file)
    url = f"http://a.org/{path}"
    rules, verdict = Robots(AGENT, text.encode()), Robots(AGENT, text.encode()).verdict(url)
    assert verdict.allowed == rules.allows(url) == Protego.parse(text).can_fetch(url, "gossamer")
    if verdict.number:
        line = text.splitlines()[verdict.number - 1]
        assert verdict.line == line.strip()
        assert line.lower().startswith("allow" if verdict.allowed else "disal")
    else:
        assert verdict.allowed


# --- memory ---


def test_a_huge_file_is_kept_small_when_others_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots, "_shelf", shelf := robots._Shelf(100))
    text = "User-agent: *\n" + "\n".join(f"Disallow: /{n}/" for n in range(60))
    sites = [Robots(AGENT, text.replace("/7/", f"/site{n}/").encode()) for n in range(5)]
    assert shelf.count <= 100
    for n, rules in enumerate(sites):
        assert [rules.allows(f"http://a.org/site{k}/") for k in range(5)] == [k != n for k in range(5)]
        assert shelf.count <= 100
    assert len(shelf._rules) == 1


def test_other_peoples_rules_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(robots, "_shelf", shelf := robots._Shelf(1000))
    others = "\n".join(f"User-agent: bot{n}\nDisallow: /{n}/" for n in range(200))
    rules = Robots(AGENT, f"{others}\nUser-agent: *\nDisallow: /x".encode())
    assert (shelf.count, rules.allows("http://a.org/x"), rules.allows("http://a.org/1/")) == (2, False, True)
    assert Robots(AGENT, others.encode()).allows("http://a.org/1/")
    assert shelf.count == 2


lines = st.sampled_from(
    [
        "User-agent: *",
        "Disallow: ",
        "Sitemap: http://",
        "Crawl-delay: ",
        "Request-rate: ",
        "Allow: /",
        "\n",
        "*",
        "$",
        "%",
        "1e999",
    ]
)


@given(st.lists(lines | st.text(max_size=5), max_size=8).map("".join), st.text(max_size=8))
def test_no_file_raises_or_asks_for_an_endless_pause(text: str, path: str) -> None:
    rules = _rules(text.encode("utf-8", "replace").decode())
    assert 0 <= rules.delay < math.inf
    assert (rules.forbids(f"http://a.org/{path}") is None) == rules.allows(f"http://a.org/{path}")
    assert all(url.startswith("http") for url in rules.sitemaps)


@pytest.mark.parametrize(
    ("name", "obeyed"),
    [("gossamer", True), ("Gossamer/1.0", True), ("gossamer/0.2 (+https://x.org)", True), ("go", False), ("g", False)],
)
def test_a_group_is_ours_if_it_names_us_whole(name: str, obeyed: bool) -> None:
    rules = Robots("gossamer/0.2", f"User-agent: {name}\nDisallow: /a\n\nUser-agent: *\nDisallow: /b\n".encode())
    assert (rules.allows("https://a.org/a"), rules.allows("https://a.org/b")) == (not obeyed, obeyed)
