"""The browser: whether there is one, and whether it shows a page."""

from __future__ import annotations

import asyncio

from gossamer import look as looking
from gossamer.doctor.finding import Area, Finding
from gossamer.errors import ConfigError, GossamerError
from gossamer.fetch import browser
from gossamer.testing import Site

_area = Area("browser")

#: Seconds that it may take to start, and to show a page of this machine.
DEADLINE = 30.0
_PAGE = "<!doctype html><title>Before</title><script>document.title = 'Shown'</script>"


async def look(*, wanted: bool) -> Finding:
    """Start it, and have it show a page of our own. `wanted`: something that is set renders pages."""
    lacking = browser.missing()
    if lacking is not None:
        what, _, how = lacking.partition(": ")
        if wanted:
            return _area.problem("chromium", f"{what}, and pages are to be rendered", how)
        return _area.absent("chromium", what, f"if you want to render pages: {how}")
    path = browser.find()
    try:
        with Site() as site:
            site.page("/", _PAGE)
            async with asyncio.timeout(DEADLINE):
                shown = await looking.look(site.url("/"), {"render": True, "timeout": f"{DEADLINE:g}s", "proxies": ()})
    except TimeoutError:
        return _bad(f"{path} showed no page within {DEADLINE:g} s", wanted)
    except ConfigError:
        return _area.ok("chromium", f"{path} is there; not started, for the settings cannot be used")
    except (GossamerError, OSError) as error:
        return _bad(f"{path} shows no page: {error}", wanted)
    if shown.page.title != "Shown":
        return _bad(f"{path} shows pages, but does not run their scripts", wanted)
    return _area.ok("chromium", f"{path} starts and shows a page")


def _bad(text: str, wanted: bool) -> Finding:
    make = _area.problem if wanted else _area.warning
    return make("chromium", text, "install it anew as your system does (`apt install --reinstall chromium`)")
