"""A local web site that misbehaves on request, for our tests and for yours.

    with Site() as site:
        site.page("/", "<h1>hi</h1>")
        site.flaky("/x", times=2, status=503, retry_after="1", then="<p>ok</p>")
        crawl(site.url("/"))
        assert site.paths()["/x"] == 3

It is a real HTTP/1.1 server on a real socket, on its own event loop in a daemon thread: synchronous tests,
asynchronous tests and crawls in other processes all speak to it in the same way. `graph_site` makes it a
linked site of any size, and `python -m gossamer.testing --pages 1000` serves that one from its own process;
`SiteProcess` does the same from within a test, and reads back what the process saw.
"""

from gossamer.testing.exchange import Answer, Handler, Hit
from gossamer.testing.files import Download, Versions
from gossamer.testing.graph import graph_site
from gossamer.testing.process import SiteProcess
from gossamer.testing.site import Site, loopback

__all__ = ["Answer", "Download", "Handler", "Hit", "Site", "SiteProcess", "Versions", "graph_site", "loopback"]
