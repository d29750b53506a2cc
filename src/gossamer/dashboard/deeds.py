"""What can be done with a run from a page: pause, cancel, resume, retry, delete, and which run goes first.

Asked first where it cannot be undone.
"""

from __future__ import annotations

from nicegui import ui

from gossamer import asking, lists
from gossamer.dashboard.parts import Text, box, confirm, dialogue, toast
from gossamer.dashboard.shell import Here
from gossamer.dashboard.words import plural
from gossamer.lists import RunRow

CANCEL, RESUME, RETRY, DELETE = "Cancel", "Resume", "Retry failed", "Delete"
PAUSE, PRIORITY, WORKERS = "Pause", "Priority", "Workers"
ICONS = {
    PAUSE: "pause",
    PRIORITY: "low_priority",
    WORKERS: "groups",
    CANCEL: "stop",
    RESUME: "play_arrow",
    RETRY: "replay",
    DELETE: "delete",
}
_ACTIVE = ("pending", "running")


def offered(here: Here, run: RunRow) -> list[str]:
    """What can be done with a run in its state, by whoever looks."""
    found = []
    ended = run.state not in _ACTIVE
    if here.may("run"):
        if not ended and not run.wanted and (run.cluster or run.via != "cli"):
            found.append(PAUSE)
        if not ended and run.cluster:
            found += [PRIORITY, WORKERS]
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
    if deed == PAUSE:
        return await _done(here, lambda by: asking.pause_run(desk, run, by=by), f"run {run} is being paused")
    if deed in (PRIORITY, WORKERS):
        return await _set(here, run, deed)
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


async def _set(here: Here, run: int, deed: str) -> bool:
    """Ask for a number, and write it down."""
    found = await here.read(lists.run(here.desk, run))
    if found is None:
        return False
    with dialogue() as dialog:
        Text(f"{deed} of run {run}", "h2")
        if deed == PRIORITY:
            Text("Workers take the run with the highest number first, from -9 to 9; usual is 0.", "p", "g-dim")
            field = ui.number("Priority", value=found.run.priority, min=-9, max=9, precision=0)
        else:
            Text("The most workers that walk it at the same time. Empty: as many as there are.", "p", "g-dim")
            field = ui.number("Workers", value=found.run.workers, min=1, max=asking.MOST_WORKERS, precision=0)
            field.props("clearable")
        field.props("outlined dense autofocus")
        with box("g-row"):
            ui.button("Set", on_click=lambda: dialog.submit((field.value,))).props("unelevated")
            ui.button("Cancel", on_click=lambda: dialog.submit(None), color=None).props("flat")
    answer = await dialog
    dialog.delete()
    if answer is None or (deed == PRIORITY and answer[0] is None):
        return False
    n = None if answer[0] is None else int(answer[0])
    if deed == WORKERS:
        told = f"run {run} may have {'as many workers as there are' if n is None else plural(n, 'worker')}"
        return await _done(here, lambda by: asking.set_workers(here.desk, run, n, by=by), told)
    assert n is not None
    told = f"run {run} has the priority {n}"
    return await _done(here, lambda by: asking.set_priority(here.desk, run, n, by=by), told)


async def _done(here: Here, deed: object, told: str, scope: str = "run") -> bool:
    async def work(by: object) -> bool:
        await deed(by)  # type: ignore[operator]
        return True

    return bool(await here.do(scope, work, told))
