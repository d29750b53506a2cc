"""Things that are fetched more than once: pages that change, and files that come in parts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from email.utils import formatdate, parsedate_to_datetime
from typing import Literal, TypeAlias

from gossamer.testing.exchange import Answer, Hit

#: How a server can treat a Range.
Ranges: TypeAlias = Literal["good", "none", "shifted", "lying", "refused"]

#: When the first version was made, and how much later each next one was, in seconds since 1970.
_FIRST, _LATER = 1_700_000_000, 3_600
_RANGE = re.compile(r"bytes=(\d*)-(\d*)")


class Versions:
    """A page that changes when it is told to: the handler behind `Site.versioned`."""

    def __init__(self, versions: Sequence[bytes], *, etag: bool, modified: bool) -> None:
        if not versions:
            raise ValueError("a page needs at least one version")
        self._versions = versions
        self._etag = etag
        self._modified = modified
        #: Which version is shown, from 0.
        self.at = 0
        #: How often the answer was a 304.
        self.unchanged = 0

    def turn(self) -> None:
        """Show the next version; after the last one, the first again, as one that is newer still."""
        self.at += 1

    def __call__(self, hit: Hit) -> Answer:
        body = self._versions[self.at % len(self._versions)]
        headers: dict[str, str] = {}
        if self._etag:
            headers["ETag"] = _tag(body)
        if self._modified:
            headers["Last-Modified"] = formatdate(_FIRST + self.at * _LATER, usegmt=True)
        if self._is_known(hit, headers):
            self.unchanged += 1
            return Answer(status=304, headers=headers)
        return Answer(body=body, headers=headers)

    def _is_known(self, hit: Hit, headers: dict[str, str]) -> bool:
        """Whether the client has this version (RFC 9110, 13.2.2: the tag decides, if one was sent)."""
        tags = hit.headers.get("if-none-match")
        if tags is not None:
            return "ETag" in headers and headers["ETag"] in [tag.strip().removeprefix("W/") for tag in tags.split(",")]
        since = hit.headers.get("if-modified-since")
        if since is None or not self._modified:
            return False
        try:
            return parsedate_to_datetime(since).timestamp() >= _FIRST + self.at * _LATER
        except ValueError:
            return False


class Download:
    """A file that can be fetched in parts: the handler behind `Site.download`."""

    def __init__(self, data: bytes, ranges: Ranges, cut: list[int], kind: str) -> None:
        #: The file; what is put here is a new file, with another ETag.
        self.data = data
        self._ranges = ranges
        self._cut = cut
        self._kind = kind
        self._answers = 0

    def __call__(self, hit: Hit) -> Answer:
        answer = self._answer(hit)
        cut = self._cut[self._answers] if self._answers < len(self._cut) else None
        self._answers += 1
        body = answer.body
        assert isinstance(body, bytes)
        if cut is None or cut >= len(body):
            return answer
        # The whole length is announced; what comes is the beginning.
        told = {"Content-Length": str(len(body)), **answer.headers, "Connection": "close"}
        return Answer(status=answer.status, body=body[:cut], headers=told)

    def _answer(self, hit: Hit) -> Answer:
        tag = _tag(self.data)
        headers = {"Content-Type": self._kind, "ETag": tag}
        if self._ranges != "none":
            headers["Accept-Ranges"] = "bytes"
        asked = _RANGE.fullmatch(hit.headers.get("range", ""))
        stale = hit.headers.get("if-range", tag) != tag
        if asked is None or stale or self._ranges == "none":
            return Answer(body=self.data, headers=headers)
        first, last = self._part(asked)
        if self._ranges == "refused" or first > last:
            return Answer(status=416, headers={**headers, "Content-Range": f"bytes */{len(self.data)}"})
        shift = 0 if self._ranges == "good" else -1 if first else 1
        told = shift if self._ranges == "shifted" else 0
        headers["Content-Range"] = f"bytes {first + told}-{last + told}/{len(self.data)}"
        return Answer(status=206, body=self.data[first + shift : last + shift + 1], headers=headers)

    def _part(self, asked: re.Match[str]) -> tuple[int, int]:
        size = len(self.data)
        if not asked[1]:
            return max(0, size - int(asked[2] or 0)), size - 1
        return int(asked[1]), min(int(asked[2] or size - 1), size - 1)


def _tag(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:16]}"'
