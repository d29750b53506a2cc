"""Options that commands in several files share."""

from __future__ import annotations

from typing import Annotated

import typer

#: The largest number a store can be asked for.
MOST = 2**63 - 1

StoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="PATH", help="The store: a path, or sqlite:///path [gossamer.db]"),
]
