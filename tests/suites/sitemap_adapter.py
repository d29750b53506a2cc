"""The sitemaps suite's call to our reader.

The suite's own runner opens a file that the shared split lacks, after it has printed the score of the first: so
`test_sitemaps.py` reads what was printed, whatever the runner's end.
"""

from __future__ import annotations

from gossamer.parse import sitemaps


def locations(body: bytes) -> list[str]:
    """sitemaps: what a body names, pages and other sitemaps, in order."""
    return [entry.url for entry in sitemaps.iter_entries(body, "http://sitemaps.test/sitemap.xml")]
