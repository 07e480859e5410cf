"""Events: every transition, in order, and no silent gap."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from fairway.api.phases import EventVerb, FailureClass
from fairway.queue import Cursor, Event, Failure, PoolConfig, Queue, QueueError, TenantConfig
from tests.queue.support import LEASE_MS, OTHER, POOL, lease_one, submit, until

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from tests.queue.support import Clock


async def all_events(queue: Queue) -> list[Event]:
    batch = await queue.events(POOL, Cursor.from_beginning(), 0)
    assert not batch.gap
    return batch.events


def told(events: list[Event]) -> list[tuple[str, str, str]]:
    return [(event.verb.value, event.job_id, event.data["phase"]) for event in events]


async def test_a_jobs_life_is_told(queue: Queue, clock: Clock) -> None:
    await submit(queue, "j1")
    lease = await lease_one(queue)
    await queue.progress(POOL, "j1", lease.lease_id, 0.5, "half")
    await queue.progress(POOL, "j1", lease.lease_id, 0.6, "too soon to tell again")
    await queue.fail(POOL, lease, Failure(FailureClass.APP, "boom", 0))
    await clock.move(ms=1_000)
    lease = await lease_one(queue)
    await queue.release(POOL, "j1", lease.lease_id, 0)
    await lease_one(queue)
    await clock.move(ms=LEASE_MS)
    lease = await lease_one(queue)
    await queue.cancel(POOL, "j1", "asked")
    await queue.complete(POOL, "j1", lease.lease_id, None, 0)
    events = await all_events(queue)
    assert told(events) == [
        ("submit", "j1", "Queued"),
        ("lease", "j1", "Running"),
        ("progress", "j1", "Running"),
        ("retry", "j1", "Scheduled"),
        ("promote", "j1", "Queued"),
        ("lease", "j1", "Running"),
        ("release", "j1", "Queued"),
        ("lease", "j1", "Running"),
        ("retry", "j1", "Queued"),
        ("lease", "j1", "Running"),
        ("cancel", "j1", "Running"),
        ("complete", "j1", "Succeeded"),
    ]
    assert [event.sequence for event in events] == list(range(1, 13))
    retry = events[3]
    assert (retry.tenant, retry.data["class"], retry.data["error"]) == ("a", "APP", "boom")
    assert events[1].data["worker"] == "w1"
    assert events[-1].at_ms == clock.now_ms


async def test_endings_are_told(queue: Queue) -> None:
    await submit(queue, "buried", "cancelled")
    lease = await lease_one(queue)
    await queue.fail(POOL, lease, Failure(FailureClass.PERMANENT, "boom", 0))
    await queue.cancel(POOL, "cancelled", "why not")
    bury, cancel = (await all_events(queue))[-2:]
    assert (bury.verb, bury.data["phase"], bury.data["reason"]) == (
        EventVerb.BURY,
        "DeadLettered",
        "the failure is permanent; it is not tried again",
    )
    assert (cancel.verb, cancel.data["phase"], cancel.data["reason"]) == (
        EventVerb.CANCEL,
        "Cancelled",
        "why not",
    )


async def test_from_now_sees_only_what_comes(queue: Queue) -> None:
    await submit(queue, "before")
    start = await queue.events(POOL, Cursor.from_now(), 0)
    assert (start.events, start.gap) == ([], False)
    await submit(queue, "after")
    batch = await queue.events(POOL, start.cursor, 0)
    assert (told(batch.events), batch.gap) == ([("submit", "after", "Queued")], False)
    assert (await queue.events(POOL, batch.cursor, 0)).events == []


async def test_a_reader_blocks_until_something_happens(queue: Queue, raw: Redis) -> None:
    start = await queue.events(POOL, Cursor.from_now(), 0)
    reading = asyncio.create_task(queue.events(POOL, start.cursor, 20_000))

    async def blocked() -> bool:
        return bool((await raw.info("clients"))["blocked_clients"])

    await until(blocked, "the reader to block")
    await submit(queue, "j1")
    batch = await asyncio.wait_for(reading, 20)
    assert told(batch.events) == [("submit", "j1", "Queued")]
    quiet = await queue.events(POOL, batch.cursor, 10)
    assert (quiet.events, quiet.gap, quiet.cursor) == ([], False, batch.cursor)


async def test_many_events_come_in_pages_without_a_gap(queue: Queue) -> None:
    await submit(queue, *(f"j{number}" for number in range(1_100)))
    cursor, seen = Cursor.from_beginning(), 0
    while True:
        batch = await queue.events(POOL, cursor, 0)
        assert not batch.gap
        if not batch.events:
            break
        seen, cursor = seen + len(batch.events), batch.cursor
    assert seen == 1_100


async def test_a_trimmed_stream_is_a_gap(queue: Queue) -> None:
    await queue.configure_pool(POOL, PoolConfig(lease_ms=LEASE_MS, events_kept=100))
    await submit(queue, "first")
    seen = await queue.events(POOL, Cursor.from_beginning(), 0)
    await submit(queue, *(f"j{number}" for number in range(400)))
    batch = await queue.events(POOL, seen.cursor, 0)
    assert batch.gap
    assert batch.events[-1].job_id == "j399"
    assert len(batch.events) < 300
    assert not (await queue.events(POOL, batch.cursor, 0)).gap


async def test_a_pool_that_was_lost_and_made_again_is_a_gap(queue: Queue, raw: Redis) -> None:
    await submit(queue, "j1", "j2")
    seen = await queue.events(POOL, Cursor.from_beginning(), 0)
    await raw.flushall()
    with pytest.raises(QueueError) as refused:
        await queue.events(POOL, seen.cursor, 0)
    assert refused.value.code == "UNKNOWN_POOL"
    await queue.configure_pool(POOL, PoolConfig(lease_ms=LEASE_MS))
    await queue.configure_tenant(POOL, "a", TenantConfig())
    await submit(queue, "j3", "j4")
    lost = await queue.events(POOL, seen.cursor, 0)
    assert (lost.events, lost.gap) == ([], True)
    again = await queue.events(POOL, lost.cursor, 0)
    assert (told(again.events), again.gap) == (
        [("submit", "j3", "Queued"), ("submit", "j4", "Queued")],
        False,
    )


async def test_a_pool_that_came_back_older_is_a_gap(queue: Queue) -> None:
    await submit(queue, "j1")
    seen = await queue.events(POOL, Cursor.from_beginning(), 0)
    ahead = Cursor(seen.cursor.epoch, seen.cursor.sequence + 5)
    lost = await queue.events(POOL, ahead, 0)
    assert (lost.events, lost.gap, lost.cursor) == ([], True, seen.cursor)
    await queue.lease(POOL, OTHER, 1)
    assert told((await queue.events(POOL, lost.cursor, 0)).events) == [("lease", "j1", "Running")]
