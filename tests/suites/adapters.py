"""Adapters for the outside suites: each one gives a suite's runner the call it expects.

Run a suite with PYTHONPATH=tests/suites, for example

    python /work/shared/suites/encoding/run.py --split shared --adapter adapters:decode_page
"""

from __future__ import annotations

from gossamer.parse.encoding import decode


def decode_page(body: bytes, content_type: str | None) -> tuple[str, str]:
    """encoding: what a page's bytes say."""
    return decode(body, content_type)
