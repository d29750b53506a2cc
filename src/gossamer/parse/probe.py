"""Pages made to hurt: markup that takes a parser minutes, tried in a process that can be killed.

Lexbor needs time that grows with the square of nesting and of attributes on one tag: two million `<div>`, 15 KB
when compressed, would hold the whole process for hours, and no signal interrupts a parser. No page for people
looks like that, so only suspicious ones pay for the try.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys

#: Fewer tags than this are read in a second or two, however they are nested.
TAGS = 20_000
#: A stretch of this many bytes and words without a tag in it may be one tag with thousands of attributes.
STRETCH = 32 << 10
WORDS = 4_000

_TRY = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
from selectolax.lexbor import LexborHTMLParser
LexborHTMLParser(sys.stdin.buffer.read()).css("a[href]")
"""


def suspicious(body: bytes) -> bool:
    """Whether a body should be tried before it is parsed: 20 us for an everyday page, most of them none."""
    if len(body) <= STRETCH:
        return False
    if body.count(b"<") > TAGS:
        return True
    # What comes before the first tag is in no tag: JSON and plain text are as long as they like.
    return any(len(part) > STRETCH and len(part.split()) > WORDS for part in body.split(b"<")[1:])


async def parses(body: bytes, seconds: float) -> bool:
    """Whether a body can be parsed in some time and memory."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        _TRY,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(seconds):
            await child.communicate(body)
    except TimeoutError:
        return False
    finally:
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.wait()
    return child.returncode == 0
