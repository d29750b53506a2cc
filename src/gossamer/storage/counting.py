"""What the end of a run counts for its scraper. A run that goes on after its end is taken out again until its next."""

from __future__ import annotations

from gossamer.values import RunState, Verdict

#: States in which a run has ended, and is counted.
ENDED = (RunState.FINISHED, RunState.STOPPED, RunState.FAILED, RunState.CANCELLED)

KNOW = "insert into scraper (name) values (:scraper) on conflict do nothing"
ADD = """
update scraper set runs = runs + 1, successes = successes + :success, failures = failures + :failure,
    streak = case when :failure = 1 then streak + 1 when :success = 1 then 0 else streak end,
    seconds = seconds + :seconds, items = items + :items, new_items = new_items + :new,
    last_new = case when :new > 0 then :now else last_new end,
    last_run = :run, last_state = :state, last_reason = :reason, last_ended = :now
where name = :scraper
"""
TAKE_BACK = """
update scraper set runs = runs - 1, successes = successes - :success, failures = failures - :failure,
    seconds = seconds - :seconds, items = items - :items, new_items = new_items - :new
where name = :scraper
"""


def counts_as(state: str, reason: str, verdict: str) -> tuple[int, int]:
    """Whether the end of a run is a success or a failure: what people, or their pauses, ended is neither."""
    if state == RunState.FAILED or (state == RunState.STOPPED and reason == "held"):
        return 0, 1
    good = state == RunState.FINISHED or (state == RunState.STOPPED and reason != "paused")
    return int(good and verdict != Verdict.SUSPECT), 0
