"""What is told of runs that go on."""

from __future__ import annotations

import asyncio
import time

import msgspec

from gossamer.live import Live
from gossamer.storage import opening


def test_nothing_is_done_until_somebody_knows_what_there_is_to_do(store: str) -> None:
    async def main() -> None:
        async with opening.desk(store) as desk:
            async with desk.writing() as writing:
                await writing.run(
                    "insert into run (id, scraper, ref, signature, params, options, state, created, settled) "
                    "values (1, 'shop', '', '', '{}', '{}', 'running', 0, 5)"
                )
            live = Live(desk)
            await live.look()
            assert [run.share for run in live.active] == [0.0]
            data = msgspec.json.encode({"runs": {"1": {"waiting": 15, "parked": 0, "flying": 0}}}).decode()
            async with desk.writing() as writing:
                await writing.run(
                    "insert into worker (name, pid, started, at, data) values ('w', 1, 0, :at, :data)",
                    at=time.time(),
                    data=data,
                )
            await live.look()
            assert [run.share for run in live.active] == [0.25]

    asyncio.run(main())
