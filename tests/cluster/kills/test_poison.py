"""A URL that ends every worker that walks it is found, alone, and given up; no other is blamed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cluster.kills.stage import Stage

pytestmark = pytest.mark.crash


@pytest.mark.timeout(240)
def test_a_poison_url_is_given_up_and_all_others_are_walked(tmp_path: Path) -> None:
    # The last page of the graph: nothing is reached through it alone.
    with Stage(tmp_path, hosts=3, pages=40, lease=2.0, poison=[39]) as stage:
        stage.workers(2)
        run = stage.start()
        stage.check(run, dead=1)
        assert stage.rows(f"select url, reason from request where run_id = {run} and state = 3") == [
            [stage.site.url("/p/39"), "poison"]
        ]
