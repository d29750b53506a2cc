"""What can be done with a run from a page: cancel, resume, retry, delete. Asked first where it cannot be undone."""

from __future__ import annotations

from gossamer import asking
from gossamer.dashboard.parts import confirm, toast
from gossamer.dashboard.shell import Here
from gossamer.dashboard.words import plural
from gossamer.lists import RunRow

CANCEL, RESUME, RETRY, DELETE = "Cancel", "Resume", "Retry failed", "Delete"
ICONS = {CANCEL: "stop", RESUME: "play_arrow", RETRY: "replay", DELETE: "delete"}
_ACTIVE = ("pending", "running")


def offered(here: Here, run: RunRow) -> list[str]:
    """What can be done with a run in its state, by whoever looks."""
    found = []
    ended = run.state not in _ACTIVE
    if here.may("run"):
        if not ended and run.wanted != "cancel":
            found.append(CANCEL)
        if run.state in ("cancelled", "stopped", "failed") or (run.state == "killed" and run.via == "cli"):
            found.append(RESUME)
        if ended and run.failed and run.state != "killed":
            found.append(RETRY)
    if here.may("admin") and ended and run.state != "killed":
        found.append(DELETE)
    return found


async def do(here: Here, run: int, deed: str) -> bool:
    """Do one of them; whether it was done. Who may is looked up again."""
    desk = here.desk
    if deed == CANCEL:
        return await _done(here, lambda by: asking.cancel(desk, run, by=by), f"run {run} is being cancelled")
    if deed == RESUME:
        return await _done(here, lambda by: asking.resume(desk, run, by=by), f"run {run} goes on")
    if deed == RETRY:
        found = await here.do("run", lambda by: asking.retry_failed(desk, run, by=by))
        if found is not None:
            toast(f"run {run} walks {plural(found, 'URL')} again")
        return found is not None
    detail = "What it knew of URLs and fetches goes with it. The items it found stay."
    if deed == DELETE and await confirm(f"Delete run {run}?", "Delete", detail=detail):
        return await _done(here, lambda by: asking.delete_run(desk, run, by=by), f"run {run} is deleted", "admin")
    return False


async def _done(here: Here, deed: object, told: str, scope: str = "run") -> bool:
    async def work(by: object) -> bool:
        await deed(by)  # type: ignore[operator]
        return True

    return bool(await here.do(scope, work, told))
