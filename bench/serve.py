"""The servers a crawl is pointed at: nginx for the manuals, gensite for sites of any size."""

import os
import pwd
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from bench.measure import end
from bench.prepare import ROOT, PrepareError, Site

#: A site of one page: what a crawler costs before it has anything to do.
ALONE = "alone"

CONFIG = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
{user}
events {{ worker_connections 1024; }}
http {{
  access_log off; sendfile on; tcp_nodelay on; keepalive_timeout 75; keepalive_requests 10000000;
  open_file_cache max=5000;
  types {{ text/html html; text/css css; text/javascript js; text/plain txt py; image/png png; }}
  default_type application/octet-stream;
  client_body_temp_path {folder}/t1; proxy_temp_path {folder}/t2; fastcgi_temp_path {folder}/t3;
  uwsgi_temp_path {folder}/t4; scgi_temp_path {folder}/t5;
  {servers}
}}
"""
SERVER = """
  server {{
    listen 127.0.0.1:{port};
    location = /robots.txt {{ default_type text/plain; return 200 "User-agent: *\\nAllow: /\\n"; }}
    {pages}
  }}
"""
ONE_PAGE = 'location = /index.html { default_type text/html; return 200 "<title>One</title><h1>One</h1>"; }'


@contextmanager
def manuals(nginx: str, sites: Sequence[Site]) -> Iterator[Mapping[str, str]]:
    """Serve the sites with nginx; gives the front page's URL by name, and that of the site ALONE."""
    contents = {site.name: f"root {site.document_root}; index index.html;" for site in sites}
    contents[ALONE] = ONE_PAGE
    ports = dict(zip(contents, free_ports(len(contents)), strict=True))
    with tempfile.TemporaryDirectory(prefix="bench-nginx-") as folder:
        config = Path(folder, "nginx.conf")
        servers = "".join(SERVER.format(port=ports[name], pages=pages) for name, pages in contents.items())
        config.write_text(CONFIG.format(folder=folder, user=worker_user(), servers=servers))
        server = subprocess.Popen(
            [nginx, "-p", folder, "-e", f"{folder}/error.log", "-c", str(config)], start_new_session=True
        )
        try:
            for port in ports.values():
                wait_for(port, server, Path(folder, "error.log"))
            yield {name: f"http://127.0.0.1:{port}/index.html" for name, port in ports.items()}
        finally:
            end(server)


@contextmanager
def generated(pages: int) -> Iterator[str]:
    """Serve a generated site of that many pages; gives its first URL."""
    server = subprocess.Popen(
        [sys.executable, "-m", "bench.gensite", str(pages)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert server.stdout
        port = server.stdout.readline().strip()
        if not port:
            raise PrepareError("the generated site did not start; see what it said above")
        yield f"http://127.0.0.1:{port}/0.html"
    finally:
        end(server)


def worker_user() -> str:
    """Let nginx's worker read what we can read, also below a home directory that is closed to others."""
    return f"user {pwd.getpwuid(0).pw_name};" if os.geteuid() == 0 else ""


def free_ports(count: int) -> list[int]:
    # All are held open until the last is known, else the kernel may give the same one twice.
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    return ports


def wait_for(port: int, server: subprocess.Popen[bytes], log: Path, seconds: float = 5) -> None:
    """Return once the port answers; raises PrepareError with the server's log."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.02)
        else:
            return
    said = log.read_text().strip() if log.exists() else ""
    raise PrepareError(f"nginx did not start:\n  {said or 'it said nothing'}")
