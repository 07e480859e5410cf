"""Leases: fencing, expiry, heartbeats, and calls whose answer was lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairway.api.phases import FailureClass, JobPhase
from fairway.queue import Ask, FailKind, Failure, PoolConfig, RetryRules, TenantConfig
from tests.queue.support import (
    LEASE_MS,
    META,
    OTHER,
    POOL,
    WORKER,
    job,
    lease_ids,
    lease_one,
    snapshot,
    state,
    submit,
)

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from fairway.queue import Queue
    from fairway.queue.connection import Connection
    from tests.queue.support import Clock


async def test_a_stale_lease_changes_nothing(queue: Queue, raw: Redis, clock: Clock) -> None:
    await submit(queue, "j1", "j2")
    stale = await lease_one(queue)
    await clock.move(ms=LEASE_MS + 1)
    await queue.sweep(POOL)
    current = await lease_one(queue, OTHER)
    assert (current.job_id, current.attempt) == ("j1", 2)
    before = await snapshot(raw)
    assert not await queue.complete(POOL, "j1", stale.lease_id, b"late", 5)
    assert not await queue.release(POOL, "j1", stale.lease_id, 5)
    assert not await queue.progress(POOL, "j1", stale.lease_id, 0.5, "late")
    assert not await queue.cancelled(POOL, "j1", stale.lease_id, 5)
    outcome = await queue.fail(POOL, stale, Failure(FailureClass.APP, "late", 5))
    assert outcome.kind is FailKind.LOST
    assert not await queue.complete(POOL, "nobody", stale.lease_id, None, 5)
    assert await snapshot(raw) == before
    assert await queue.heartbeat(POOL, WORKER, {"j1": stale.lease_id, "x": "y"}) == {
        "j1": Ask.LOST,
        "x": Ask.LOST,
    }
    assert await queue.complete(POOL, "j1", current.lease_id, None, 5)


async def test_lease_ids_never_repeat(queue: Queue) -> None:
    await submit(queue, "j1")
    seen = set()
    for _ in range(20):
        lease = await lease_one(queue)
        seen.add(lease.lease_id)
        await queue.release(POOL, "j1", lease.lease_id, 0)
    assert len(seen) == 20


async def test_heartbeats_keep_a_lease(queue: Queue, clock: Clock) -> None:
    await submit(queue, "j1", "j2")
    kept, left = (await queue.lease(POOL, WORKER, 2)).jobs
    for _ in range(5):
        await clock.move(ms=LEASE_MS // 3)
        assert await queue.heartbeat(POOL, WORKER, {kept.job_id: kept.lease_id}) == {
            kept.job_id: Ask.CONTINUE,
        }
    assert await queue.heartbeat(POOL, WORKER, {left.job_id: left.lease_id}) == {left.job_id: Ask.LOST}
    assert (await state(queue, kept.job_id)).phase is JobPhase.RUNNING


async def test_an_expired_job_goes_to_the_front_uncounted(queue: Queue, clock: Clock) -> None:
    await submit(queue, "j1", "j2")
    lease = await lease_one(queue)
    await clock.move(ms=LEASE_MS)
    swept = await queue.sweep(POOL)
    assert (swept.expired, swept.promoted, swept.collected, swept.more) == (1, 0, 0, False)
    again = await lease_one(queue, OTHER)
    assert (again.job_id, again.attempt, again.counts.app, again.counts.crash) == (lease.job_id, 2, 0, 1)
    first = (await state(queue, "j1")).attempts[0]
    assert (first.cls, first.counted) == (FailureClass.CRASH, False)
    assert "worker was lost" in first.error


async def test_lost_and_released_jobs_pass_those_that_failed(queue: Queue, clock: Clock) -> None:
    await queue.submit(POOL, job("failed", retry=RetryRules(backoff_ms=())))
    await submit(queue, "released", "lost")
    failed, released, _ = (await queue.lease(POOL, WORKER, 3)).jobs
    await queue.fail(POOL, failed, Failure(FailureClass.APP, "boom", 0))
    await queue.release(POOL, "released", released.lease_id, 0)
    await clock.move(ms=LEASE_MS)
    await queue.sweep(POOL)
    assert await lease_ids(queue, 3) == ["released", "lost", "failed"]


async def test_leasing_expires_without_an_operator(queue: Queue, clock: Clock) -> None:
    await submit(queue, "j1")
    await lease_one(queue)
    leased = await queue.lease(POOL, OTHER, 1)
    assert (leased.jobs, leased.next_due_ms) == ([], LEASE_MS)
    await clock.move(ms=LEASE_MS)
    assert await lease_ids(queue, 1, OTHER) == ["j1"]


async def test_too_many_lost_workers_bury_a_job(queue: Queue, clock: Clock) -> None:
    await queue.configure_pool(POOL, PoolConfig(lease_ms=LEASE_MS, max_workers_lost=3))
    await submit(queue, "j1")
    for _ in range(3):
        await lease_one(queue)
        await clock.move(ms=LEASE_MS)
    assert await lease_ids(queue, 1) == []
    buried = await state(queue, "j1")
    assert (buried.phase, buried.reason) == (JobPhase.DEAD_LETTERED, "3 workers were lost while running it")
    assert [a.cls for a in buried.attempts] == [FailureClass.CRASH] * 3


async def test_a_crash_is_charged_up_to_the_last_heartbeat(queue: Queue, clock: Clock) -> None:
    await submit(queue, "j1")
    lease = await lease_one(queue)
    await clock.move(ms=2_000)
    await queue.heartbeat(POOL, WORKER, {"j1": lease.lease_id})
    await clock.move(ms=LEASE_MS)
    await queue.sweep(POOL)
    assert (await state(queue, "j1")).slot_us == 2_000_000


async def test_sweeps_are_bounded(queue: Queue, clock: Clock) -> None:
    await submit(queue, *(f"j{number}" for number in range(250)))
    await queue.lease(POOL, WORKER, 250)
    await clock.move(ms=LEASE_MS)
    assert [(s.expired, s.more) for s in [await queue.sweep(POOL), await queue.sweep(POOL)]] == [
        (200, True),
        (50, False),
    ]


async def test_workers_not_heard_of_are_forgotten(queue: Queue, clock: Clock) -> None:
    await queue.lease(POOL, WORKER, 4)
    assert [w.name for w in (await queue.inspect_pool(POOL)).workers] == ["w1"]
    await clock.move(ms=61_000)
    assert (await queue.sweep(POOL)).collected == 1
    assert (await queue.inspect_pool(POOL)).workers == []


@pytest.mark.usefixtures("clock")
async def test_a_lease_whose_answer_was_lost_is_answered_again(queue: Queue, connection: Connection) -> None:
    await submit(queue, "j1", "j2", "j3")
    call = ("lease", META, "w1", "node1", 2, "token")
    first, again = await connection.run(*call), await connection.run(*call)
    assert again == first
    assert len(first[0]) == 2
    assert (await queue.inspect_pool(POOL)).running == 2
    await queue.complete(POOL, "j1", "token-1", None, 0)
    assert len((await connection.run(*call))[0]) == 1


async def test_the_lease_that_ended_a_job_may_call_again(queue: Queue, raw: Redis, clock: Clock) -> None:
    del clock  # it stands still, so that nothing but the calls could change what is stored
    await submit(queue, "done", "failed", "released", "cancelled")
    done, failed, released, cancelled = (await queue.lease(POOL, WORKER, 4)).jobs
    before: dict[str, object] = {}
    for repeat in range(2):
        assert await queue.complete(POOL, "done", done.lease_id, b"r", 5)
        outcome = await queue.fail(POOL, failed, Failure(FailureClass.APP, "boom", 5))
        assert outcome.kind is FailKind.RETRY
        assert await queue.release(POOL, "released", released.lease_id, 5)
        assert await queue.cancelled(POOL, "cancelled", cancelled.lease_id, 5)
        if repeat == 0:
            before = await snapshot(raw)
    assert await snapshot(raw) == before
    assert not await queue.release(POOL, "done", done.lease_id, 5), "another verb is not the same call"


async def test_the_clock_never_falls(queue: Queue, clock: Clock) -> None:
    await submit(queue, "j1")
    await clock.move(ms=-60_000)
    lease = await lease_one(queue)
    assert lease.leased_at_ms == clock.now_ms + 60_000


async def test_the_cap_holds_always(queue: Queue, clock: Clock) -> None:
    await queue.configure_tenant(POOL, "a", TenantConfig(in_flight=2))
    await submit(queue, "j1", "j2", "j3", "j4")
    first, second = (await queue.lease(POOL, WORKER, 4)).jobs
    assert await lease_ids(queue, 4) == []
    await queue.complete(POOL, first.job_id, first.lease_id, None, 0)
    third = (await queue.lease(POOL, WORKER, 4)).jobs
    assert [lease.job_id for lease in third] == ["j3"]
    await queue.release(POOL, second.job_id, second.lease_id, 0)
    assert await lease_ids(queue, 4) == ["j2"]
    await queue.configure_tenant(POOL, "a", TenantConfig(in_flight=1))
    await clock.move(ms=LEASE_MS)
    assert await lease_ids(queue, 4) == ["j2"]
    await queue.configure_tenant(POOL, "a", TenantConfig(in_flight=None))
    assert await lease_ids(queue, 4) == ["j3", "j4"]
