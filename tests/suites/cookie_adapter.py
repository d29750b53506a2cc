"""The cookie suite's adapter: what our jar sends back.

PYTHONPATH=tests/suites python /work/shared/suites/cookies/run.py --split shared --adapter cookie_adapter:cookie
"""

from __future__ import annotations

from gossamer import urls
from gossamer.fetch.cookies import Jar


def cookie(set_cookies: list[str], url: str, next_url: str) -> str:
    """cookies: the header for `next_url` after an answer from `url`."""
    jar = Jar()
    jar.take(set_cookies, urls.absolute(url))
    return jar.header(urls.absolute(next_url))
