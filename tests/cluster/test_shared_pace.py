"""A pace that workers share by Redis: one turn at a time over all, holds for all, and politer when Redis is lost."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator

import pytest
from structlog.testing import capture_logs

from gossamer.cluster import shared_pace
from gossamer.cluster.shared_pace import LOST, SharedPace
from gossamer.errors import ConfigError
from tests.databases import Redis

HOST = "big.example.org"


@pytest.fixture(scope="module")
def server() -> Iterator[Redis]:
    with Redis() as started:
        yield started


@pytest.fixture
def redis(server: Redis) -> Redis:
    server.flush()
    return server


def _pace(redis: Redis, grace: float = 0.0) -> SharedPace:
    return SharedPace(redis.url, grace=grace)


async def _taken(pace: SharedPace, host: str, interval: float) -> None:
    """Wait until a turn is taken."""
    while (wait := await pace.turn(host, interval)) > 0:  # noqa: ASYNC110 - it says itself for how long
        await asyncio.sleep(wait)


async def _becomes(what: Callable[[], Awaitable[bool]], within: float = 30.0) -> None:
    until = time.monotonic() + within
    while not await what():
        assert time.monotonic() < until, "it never came"
        await asyncio.sleep(0.05)


# -- turns -----------------------------------------------------------------------------------------------------


def test_a_turn_is_taken_once_and_who_is_refused_has_taken_nothing(redis: Redis) -> None:
    async def work() -> None:
        async with _pace(redis) as one, _pace(redis) as other:
            await _taken(one, HOST, 20.0)  # a new Redis makes a host wait for one interval
            for pace in (one, other, other, other):
                assert 10 < await pace.turn(HOST, 20.0) <= 20
            assert await other.turn("small.example.org", 0.0) == 0

    redis.ask("SET", shared_pace.SINCE, "1")
    asyncio.run(work())


def test_several_processes_get_turns_that_are_an_interval_apart(redis: Redis) -> None:
    interval, seconds = 0.02, 2.0
    code = f"""
import asyncio, json, time
from gossamer.cluster.shared_pace import SharedPace

async def main():
    taken = []
    async with SharedPace({redis.url!r}, grace=0.0) as pace:
        until = time.monotonic() + {seconds}
        async def one():
            while time.monotonic() < until:
                wait = await pace.turn({HOST!r}, {interval})
                if wait: await asyncio.sleep(wait)
                else: taken.append(time.time())
        await asyncio.gather(*(one() for _ in range(5)))
    print(json.dumps(taken))

asyncio.run(main())
"""
    workers = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) for _ in range(2)]
    found = [json.loads(worker.communicate(timeout=60)[0]) for worker in workers]
    turns = sorted(itertools.chain(*found))
    assert all(found), "each gets some"
    # However late each of them was: so many turns take so long.
    assert len(turns) - 2 <= (turns[-1] - turns[0]) / interval
    assert len(turns) > 10


def test_waiters_of_one_process_ask_redis_one_at_a_time(redis: Redis) -> None:
    async def work() -> list[float]:
        async with _pace(redis) as pace:
            return await asyncio.gather(*(pace.turn(HOST, 30.0) for _ in range(50)))

    redis.ask("SET", shared_pace.SINCE, "1")
    waits = asyncio.run(work())
    assert waits.count(0.0) == 1
    assert set(waits) == {0.0, shared_pace.SOON}


def test_a_turn_that_was_slept_over_is_given_up_if_the_next_one_is_taken(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with _pace(redis) as one, _pace(redis) as other:
            await _taken(one, HOST, 0.4)
            sleep = asyncio.sleep

            async def overslept(seconds: float) -> None:
                await sleep(max(seconds, 0) + 0.6)
                monkeypatch.undo()
                await _taken(other, HOST, 0.4)
                await _taken(other, HOST, 0.4)

            await sleep(0.5)
            monkeypatch.setattr(shared_pace.asyncio, "sleep", overslept)
            wait = await one.turn(HOST, 0.4)
            assert 0 < wait <= 0.4

    redis.ask("SET", shared_pace.SINCE, "1")
    asyncio.run(work())


def test_a_late_turn_is_kept_if_nobody_has_the_next_one_and_others_wait_from_then(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        async with _pace(redis) as one, _pace(redis) as other:
            sleep = asyncio.sleep

            async def overslept(seconds: float) -> None:
                await sleep(1.0)
                monkeypatch.undo()

            monkeypatch.setattr(shared_pace.asyncio, "sleep", overslept)
            assert await one.turn(HOST, 5.0) == 0
            assert await other.turn(HOST, 5.0) > 4.2, "not five seconds from when it was given"

    redis.ask("SET", shared_pace.SINCE, "1")
    asyncio.run(work())


# -- holds -----------------------------------------------------------------------------------------------------


def test_what_one_worker_heard_holds_the_host_for_all(redis: Redis) -> None:
    async def work() -> None:
        async with _pace(redis) as one, _pace(redis) as other:
            assert await other.held(HOST) == (0.0, "")
            await one.hold(HOST, 60.0, "429: asked to wait for 60 s")
            for pace in (one, other):
                seconds, why = await pace.held(HOST)
                assert 50 < seconds <= 60
                assert why == "429: asked to wait for 60 s"
                assert 50 < await pace.turn(HOST, 0.01) <= 60
            assert await other.turn("else.example.org", 0.0) == 0

    redis.ask("SET", shared_pace.SINCE, "1")
    asyncio.run(work())


def test_the_longer_hold_is_kept_and_ends_by_itself(redis: Redis) -> None:
    async def work() -> None:
        async with _pace(redis) as one, _pace(redis) as other:
            await one.hold(HOST, 2.0, "long")
            await other.hold(HOST, 0.5, "short")
            await one.hold(HOST, 0.1, "shorter")
            await one.hold(HOST, -1, "none")
            seconds, why = await other.held(HOST)
            assert (seconds > 0.5, why) == (True, "long")

            async def over() -> bool:
                return await one.held(HOST) == (0.0, "") == await other.held(HOST)

            await _becomes(over)
            await _taken(other, HOST, 0.01)

    asyncio.run(work())


def test_a_hold_outlives_redis(redis: Redis) -> None:
    async def work() -> None:
        async with _pace(redis) as one, _pace(redis) as other:
            await one.hold(HOST, 600.0, "asked to wait")
            redis.flush()

            async def said_again() -> bool:
                return (await other.held(HOST))[1] == "asked to wait"

            await _becomes(said_again)

    asyncio.run(work())


# -- open requests ---------------------------------------------------------------------------------------------


def test_no_more_are_open_over_all_workers_than_were_said(redis: Redis) -> None:
    async def work() -> None:
        async with _pace(redis) as one, _pace(redis) as other:
            tried = await asyncio.gather(*(pace.enter(HOST, 3) for pace in (one, other) * 10))
            assert sum(tried) == 3
            assert await one.enter("else.example.org", 1)
            mine = sum(tried[::2])
            await (one if mine else other).leave(HOST)
            assert await other.enter(HOST, 3)
            assert not await one.enter(HOST, 3)
            await one.leave("never.example.org")

    asyncio.run(work())
    assert redis.ask("ZCARD", "gossamer:pace:open:big.example.org") == ":0", "who ends gives all back"


def test_what_a_killed_worker_had_open_comes_back_and_a_living_one_keeps_its_own(
    redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        killed = _pace(redis)  # never entered as a context: nobody says again what it has open
        async with _pace(redis) as living, _pace(redis) as third:
            assert await killed.enter(HOST, 2)
            assert await living.enter(HOST, 2)
            assert not await third.enter(HOST, 2)
            await _becomes(lambda: third.enter(HOST, 2))
            await asyncio.sleep(1.5)
            assert not await third.enter(HOST, 2), "the living one's is still open"
        await killed._redis.aclose()

    monkeypatch.setattr(shared_pace, "SLOT_LIFE", 1.0)
    monkeypatch.setattr(shared_pace, "BEAT", 0.1)
    asyncio.run(work())


def test_who_is_cut_off_while_entering_holds_nothing(redis: Redis) -> None:
    async def work() -> None:
        async with _pace(redis) as pace:
            for pause in (0.0, 0.0005, 0.001, 0.002, 0.005):
                entering = asyncio.create_task(pace.enter(HOST, 1))
                await asyncio.sleep(pause)
                if entering.cancel():
                    await asyncio.wait([entering])
                if not entering.cancelled():
                    await pace.leave(HOST)

                async def free() -> bool:
                    return await pace.enter(HOST, 1)

                await _becomes(free, 5.0)  # far less than a slot lives
                await pace.leave(HOST)

    asyncio.run(work())


# -- Redis is lost ---------------------------------------------------------------------------------------------


def test_while_redis_is_gone_nobody_asks_and_it_is_said_once() -> None:
    async def work(redis: Redis) -> None:
        async with _pace(redis) as pace:
            await _taken(pace, HOST, 0.001)
            assert await pace.enter(HOST, 2)
            await pace.hold("held.example.org", 600.0, "asked to wait")
            redis.kill()
            with capture_logs() as logs:
                for _ in range(3):
                    assert await pace.turn(HOST, 0.001) > 0.0005
                    assert not await pace.enter(HOST, 2)
                    assert await pace.held(HOST) == (LOST, shared_pace.WHY_LOST)
                    assert (await pace.held("held.example.org"))[1] == "asked to wait"
                    await asyncio.sleep(0.4)
                await pace.leave(HOST)
                redis.start()
                await _becomes(lambda: pace.enter(HOST, 2))
                await _taken(pace, HOST, 0.001)
            assert [entry["event"] for entry in logs] == ["pace.lost", "pace.back"]

    with Redis() as redis:
        asyncio.run(work(redis))


def test_a_redis_that_lost_its_data_lets_nobody_ask_before_all_have_spoken(redis: Redis) -> None:
    async def work() -> None:
        async with _pace(redis, 2.0) as one, _pace(redis, 2.0) as other:
            assert 0 < await one.turn(HOST, 0.01) <= 2, "a new one does not either"
            await _taken(one, HOST, 0.01)
            assert await one.enter(HOST, 1)
            redis.flush()
            assert not await other.enter(HOST, 1)
            assert 1 < await other.turn(HOST, 0.01) <= 2
            await _taken(other, HOST, 0.01)
            assert not await other.enter(HOST, 1), "the one that is open was said again"
            await one.leave(HOST)
            assert await other.enter(HOST, 1)

    asyncio.run(work())


def test_a_host_that_is_asked_seldom_waits_for_its_interval_when_nobody_knows_when_it_was_asked(redis: Redis) -> None:
    async def work() -> None:
        async with _pace(redis) as pace:
            assert 50 < await pace.turn(HOST, 60.0) <= 60

    asyncio.run(work())


def test_a_redis_that_is_not_there_is_no_error_and_its_password_is_told_to_nobody() -> None:
    async def work() -> None:
        async with SharedPace("redis://me:s3cret-word@127.0.0.1:1/0") as pace:
            assert await pace.turn(HOST, 0.0) == LOST
            assert await pace.turn(HOST, 0.0) == LOST

    with capture_logs() as logs:
        asyncio.run(work())
    assert len(logs) == 1
    assert "s3cret" not in str(logs)
    assert "127.0.0.1:1" in logs[0]["redis"]


def test_what_is_no_redis_is_refused_without_its_password() -> None:
    with pytest.raises(ConfigError, match="is none: use redis://") as refused:
        SharedPace("amqp://me:s3cret-word@127.0.0.1//")
    assert "s3cret" not in str(refused.value)


def test_any_host_is_a_key_below_ours(redis: Redis) -> None:
    hosts = ["[::1]:80", "a:b", "a b", "*", "\ud800", "münchen.example", "x" * 300]

    async def work() -> list[str]:
        async with _pace(redis) as pace:
            for host in hosts:
                await pace.turn(host, 0.0)
                await pace.hold(host, 60, "\ud800 why")
                assert await pace.enter(host, 1)
                assert (await pace.held(host))[0] > 50
            return [key.decode() async for key in pace._redis.scan_iter()]

    redis.ask("SET", shared_pace.SINCE, "1")
    keys = asyncio.run(work())
    assert len(keys) == 1 + 3 * len(hosts)
    assert all(key.startswith("gossamer:pace:") and key.isprintable() and " " not in key for key in keys)
