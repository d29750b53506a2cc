"""Second table: what a page costs when the site is bigger."""

from collections.abc import Iterator, Sequence

from bench.compare import announce, check, dot, quiet, startup, verdict
from bench.contestants import Contestant
from bench.measure import JobError, Run, job
from bench.prepare import say
from bench.report import spread, table
from bench.serve import generated

#: Sites up to this size are crawled in every round, bigger ones once.
REPEATED = 10_000
#: A contestant slower than this many pages a second is stopped.
SLOWEST = 50
HEAD = ("pages", "pages/s", "CPU us/page", "less startup", "RSS MB", "stored bytes/page", "check")
ABOUT = """\
Generated pages of about 850 bytes with ten links each, one host, the same job and options as above.
A flat column is a cost that does not depend on the size of the site. *stored*: all files a run left."""


def growth(contestant: Contestant, sizes: Sequence[int], rounds: int) -> str:
    """A table with a row for each size."""
    with generated(1) as alone:
        start, failure = startup(contestant, alone)
    if start is None:
        return failure
    taken: list[Run] = []
    made = table(HEAD, rows(contestant, sizes, rounds, start, taken))
    return made + quiet(taken)


def rows(
    contestant: Contestant, sizes: Sequence[int], rounds: int, start: float, taken: list[Run]
) -> Iterator[list[str]]:
    for size in sizes:
        runs, failure = crawls(contestant, size, rounds if size <= REPEATED else 1)
        taken += runs
        if not runs:
            yield [f"{size:,}", *["–"] * (len(HEAD) - 2), failure]
            continue
        yield [
            f"{size:,}",
            spread([run.pages / run.seconds for run in runs]),
            spread([run.cpu / run.pages * 1e6 for run in runs]),
            spread([(run.cpu - start) / run.pages * 1e6 for run in runs]),
            spread([run.rss / 1e6 for run in runs]),
            f"{runs[-1].stored / runs[-1].pages:,.0f}",
            failure or verdict(runs, size),
        ]


def crawls(contestant: Contestant, size: int, rounds: int) -> tuple[list[Run], str]:
    """The runs on a site of that size, and why there are not more."""
    runs: list[Run] = []
    with generated(size) as url:
        for number in range(rounds):
            announce(f"{size:,} pages", f"round {number + 1}/{rounds}", contestant.name)
            try:
                run = job(contestant.command, url, limit=60 + size / SLOWEST, tick=dot)
            except JobError as why:
                say(f"failed: {why}")
                return runs, f"failed: {why}"
            runs.append(run)
            took = f"{run.rss / 1e6:6.0f} MB  others {run.others:4.2f} cores"
            say(f"{run.pages / run.seconds:7,.0f} pages/s  {took}  {check(run, size)}")
    return runs, ""
