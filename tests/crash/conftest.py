"""What crash tests share: the site in its own process, and what quiet runs leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.crash.chaos import Job, Place, Quiet, jobs, quiet_run, serving


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """The site of tests/crash/site.py."""
    with serving(tmp_path_factory.mktemp("site")) as started:
        yield started


@pytest.fixture(scope="session")
def crawl_job(place: Place) -> Job:
    """A crawl without code."""
    return jobs(place)[0]


@pytest.fixture(scope="session")
def quiet(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Job], Quiet]:
    """A job's quiet run, made once."""
    made: dict[str, Quiet] = {}

    def of(job: Job) -> Quiet:
        if job.name not in made:
            made[job.name] = quiet_run(job, place, tmp_path_factory.mktemp("quiet") / "quiet.db")
        return made[job.name]

    return of
