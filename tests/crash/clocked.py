"""`gossamer` on a machine whose clock is wrong by as many seconds as the file CLOCK says, now."""

import os
import time
from pathlib import Path

_right = time.time
_wrong_by = Path(os.environ["CLOCK"])


def _wrong() -> float:
    return _right() + float(_wrong_by.read_text())


if __name__ == "__main__":
    time.time = _wrong
    from gossamer import cli  # only now: it must not see the right time

    cli.main()
