"""What a redirect asks for: the next request, and what of the first one a stranger may see."""

from __future__ import annotations

from gossamer import urls
from gossamer.values import Request, is_secret


def next_hop(request: Request, status: int, target: str) -> Request:
    """The request a redirect asks for: 303 is a GET, 301 and 302 turn a POST into one; else the same again."""
    hop = request.evolve(url=target, id=0, attempts=0, hops=request.hops + 1, via=(*request.via, request.url))
    if is_stranger(target, request.url):
        hop = hop.evolve(headers=for_strangers(request.headers))
    if request.verb in ("GET", "HEAD") or status in (307, 308) or (status != 303 and request.verb != "POST"):
        return hop
    return hop.evolve(method="GET", json=None, data=None)


def is_stranger(target: str, url: str) -> bool:
    """Whether what is meant for one URL is not meant for another: another host, or the way to it less safe."""
    downgraded = url.startswith("https:") and target.startswith("http:")
    return downgraded or urls.host(target) != urls.host(url)


def for_strangers(headers: dict[str, str] | None) -> dict[str, str] | None:
    """Headers as another host may see them."""
    return {name: text for name, text in (headers or {}).items() if not is_secret(name)} or None
