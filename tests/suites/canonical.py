"""The url suite's canonical forms: `canonical.py .../url/run.py --split shared --canon ADAPTER`.

The suite's own runner counts them, then fails to print: it divides by the rows of a file that the shared split
lacks. So it is run as it is, and what it counted is printed here. Uses no package, to run in any environment.
"""

import contextlib
import io
import sys
from pathlib import Path

sys.argv = sys.argv[1:]
runner = Path(sys.argv[0])
ran = {"__name__": "__main__", "__file__": str(runner)}
with contextlib.suppress(ZeroDivisionError), contextlib.redirect_stdout(io.StringIO()):
    exec(compile(runner.read_text(), runner, "exec"), ran)
for name, (right, of) in sorted(ran["T"].items()):
    if of:
        print(name, f"{right}/{of}")
