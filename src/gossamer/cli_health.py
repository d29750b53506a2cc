"""`gossamer health`: whether the service, or a worker, of this machine is well; for the health check of a container."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import time
from typing import Annotated

import typer
from rich.console import Console

from gossamer import owners, settings
from gossamer.cli_desk import at_desk
from gossamer.cli_options import StoreOption
from gossamer.errors import StoreError
from gossamer.settings import Place
from gossamer.storage.desk import Desk

#: Seconds a service has to answer.
PATIENCE = 5.0
#: Seconds after which a worker whose heart did not beat is taken for dead, unless leases are longer.
SILENT = 30.0
#: Addresses that stand for all of a machine: it is asked at its own.
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104
_HEARD = "select name, at, data from worker order by at desc limit 1000"

err = Console(stderr=True, highlight=False, emoji=False)


def health_command(
    worker: Annotated[
        bool, typer.Option("--worker", help="Whether a worker of this machine, or container, was heard of")
    ] = False,
    ready: Annotated[
        bool, typer.Option("--ready", help="Whether the service can do its work, and not only whether it lives")
    ] = False,
    listen: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Where the service listens [127.0.0.1:8600]")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Say in one sentence whether the service of this machine answers, or a worker of it lives: exit code 0, or 1.

    \b
    gossamer health
    gossamer health --ready
    gossamer health --worker
    """
    well, told = _worker(store) if worker else _service(listen, "/readyz" if ready else "/healthz")
    err.print(told, markup=False, soft_wrap=True)
    if not well:
        raise typer.Exit(1)


# -- the service -----------------------------------------------------------------------------------------------


def _service(listen: str | None, path: str) -> tuple[bool, str]:
    """Whether it answers as it should, and a sentence about it."""
    place = settings.read({"listen": listen} if listen else {}).place
    scheme = "https" if place.tls_cert else "http"
    where = f"{scheme}://{place.listen}"
    try:
        status, told = _ask(place, path)
    except (OSError, http.client.HTTPException) as why:
        reason = getattr(why, "strerror", None) or str(why) or type(why).__name__
        return False, f"there is no service that answers at {where} ({reason}): `gossamer serve` starts one"
    if status != 200:
        return False, f"the service at {where} says {told or status}: its log tells why"
    return True, f"the service at {where} says {told}"


def _ask(place: Place, path: str) -> tuple[int, str]:
    """The status of an answer, and what it says. Raises OSError or HTTPException."""
    host, _, port = place.listen.rpartition(":")
    host = host.strip("[]")
    host = _EVERYWHERE.get(host, host)
    talk: http.client.HTTPConnection
    if place.tls_cert:
        # The certificate is for the name that others know it by. Nothing secret is sent, and nothing believed but "ok".
        unchecked = ssl.create_default_context()
        unchecked.check_hostname = False
        unchecked.verify_mode = ssl.CERT_NONE
        talk = http.client.HTTPSConnection(host, int(port), timeout=PATIENCE, context=unchecked)
    else:
        talk = http.client.HTTPConnection(host, int(port), timeout=PATIENCE)
    try:
        talk.request("GET", path)
        answer = talk.getresponse()
        return answer.status, _status(answer.read(10_000))
    finally:
        talk.close()


def _status(body: bytes) -> str:
    """What the service says of itself; nothing if something else answers there."""
    try:
        found = json.loads(body)
    except ValueError:
        return ""
    return str(found.get("status", ""))[:40] if isinstance(found, dict) else ""


# -- a worker --------------------------------------------------------------------------------------------------


def _worker(store: str | None) -> tuple[bool, str]:
    """Whether a worker of this machine was heard of, and a sentence about it."""
    host = socket.gethostname()
    try:
        heard = at_desk(store, lambda desk: _heard(desk, host))
    except StoreError as why:
        return False, f"nobody knows whether a worker of {host} lives: {why}"
    if heard is None:
        return False, f"no worker of {host} is known to the store: `gossamer worker` starts one"
    name, age = heard
    if age > max(SILENT, settings.read().place.lease):
        return False, f"the worker {name} was last heard of {age:.0f} s ago"
    return True, f"the worker {name} was heard of {max(0.0, age):.0f} s ago"


async def _heard(desk: Desk, host: str) -> tuple[str, float] | None:
    """The worker of a machine that was heard of last, and how many seconds ago."""
    for name, at, data in await desk.rows(_HEARD):
        if str(name).startswith(f"{host}:") and _kind(data) == "worker":
            return owners.told(str(name)), time.time() - float(at)
    return None


def _kind(data: str | None) -> str:
    """What a process that walks runs is: a worker of a cluster, or the runner of a service."""
    try:
        found = json.loads(data or "{}")
    except ValueError:
        return ""
    return str(found.get("kind", "")) if isinstance(found, dict) else ""
