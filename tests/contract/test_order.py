"""The orders in which items leave a store: first seen, as they changed, or by scraper, kind and key."""

from __future__ import annotations

import random
from typing import Any

import msgspec

from gossamer.storage.store import Store, Wanted
from gossamer.values import Item, RunState
from tests.contract.conftest import Opener
from tests.contract.steps import A, begin, done, played, ready, settle

#: Texts in the order of their bytes. A dictionary, or UTF-16, would have them in another one.
ORDERED = ["", " ", "1", "10", "2", "A", "B", "Z", "_", "a", "a b", "a-b", "ab", "b", "é", "ー", "\uffff", "🕸", "🕸a"]
NAMES = [(kind, key) for kind in ("", "Item", "item", "ítem") for key in ORDERED]


async def found(store: Store, *names: tuple[str, str], scraper: str = "quotes", hold: bool = False) -> int:
    """A run that found items of these kinds and keys, in this order."""
    lease = await begin(store, A, scraper=scraper)
    if hold:
        await store.hold(lease)
    data = [msgspec.json.encode({"of": name}).decode() for name in names]
    items = tuple(Item(kind=kind, key=key, data=each) for (kind, key), each in zip(names, data, strict=True))
    await settle(store, lease, done((await ready(store, lease))[0], items=items))
    await store.end_run(lease, RunState.FINISHED, "done")
    await store.release(lease)
    return lease.run


def shuffled(names: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return random.Random(7).sample(names, len(names))


async def told(store: Store, **wanted: Any) -> list[tuple[str, str]]:
    return [(item.kind, item.key) async for item in store.items(Wanted(by_key=True, **wanted))]


@played
async def test_items_by_key_are_in_the_order_of_bytes(store: Opener) -> None:
    async with store() as s:
        names = shuffled(NAMES)
        await found(s, *names)
        assert await told(s) == NAMES
        assert [(item.kind, item.key) async for item in s.items(Wanted())] == names
        assert await told(s, kind="item") == [name for name in NAMES if name[0] == "item"]


@played
async def test_items_by_key_are_chosen_as_others(store: Opener) -> None:
    async with store() as s:
        first = await found(s, ("item", "b"), ("item", "a"), scraper="zebra")
        second = await found(s, ("item", "d"), ("other", "c"), scraper="Ape")
        assert await told(s) == [("item", "d"), ("other", "c"), ("item", "a"), ("item", "b")]
        assert await told(s, scraper="zebra") == await told(s, run=first) == [("item", "a"), ("item", "b")]
        assert await told(s, run=second, kind="other") == [("other", "c")]
        assert await told(s, kind="item", since=0.0) == [("item", "d"), ("item", "a"), ("item", "b")]
        assert await told(s, scraper="nobody") == await told(s, since=4e9) == []
        lease = await begin(s, scraper="zebra")
        assert await s.lost(lease, [("item", "a")]) == 1
        assert await told(s, scraper="zebra") == [("item", "b")]
        assert await told(s, scraper="zebra", gone=True) == [("item", "a"), ("item", "b")]


@played
async def test_what_is_held_back_has_the_same_order(store: Opener) -> None:
    async with store() as s:
        run = await found(s, *shuffled(NAMES), hold=True)
        assert await told(s, run=run, held=True) == NAMES
        assert await told(s, run=run, held=True, kind="Item") == [name for name in NAMES if name[0] == "Item"]
        assert await told(s) == []


@played
async def test_many_items_by_key_are_read_once_each(store: Opener) -> None:
    async with store() as s:
        names = sorted(("item", f"{n}") for n in range(2300))
        await found(s, *shuffled(names))
        assert await told(s) == names


@played
async def test_huge_items_by_key_are_read_some_at_a_time(store: Opener) -> None:
    async with store() as s:
        lease = await begin(s, *(f"{A}{n}" for n in range(8)))
        for n, request in enumerate(await ready(s, lease)):
            data = msgspec.json.encode({"text": f"{n}" * (3 << 20 if n > 1 else 1)}).decode()
            await settle(s, lease, done(request, items=(Item(kind="item", key=f"{9 - n}", data=data),)))
        sizes = [len(item.data) async for item in s.items(Wanted(by_key=True))]
        assert sizes == [(3 << 20) + 11] * 6 + [12] * 2
        # Whoever stops in the middle leaves nothing open.
        async for item in s.items(Wanted(by_key=True)):
            assert item.key == "2"
            break
        assert await s.item_cursor() == 8
