"""Cancelling: at once when waiting, by the worker when running, never run again afterwards."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from fairway.api.phases import FailureClass, JobPhase
from fairway.queue import Ask, CancelOutcome, FailKind, Failure, Queue, Signal, SignalKind
from tests.queue.support import LEASE_MS, OTHER, POOL, WORKER, lease_ids, lease_one, state, submit

if TYPE_CHECKING:
    from tests.queue.support import Clock


async def test_a_waiting_job_is_gone_at_once(queue: Queue) -> None:
    await submit(queue, "j1", "j2")
    assert await queue.cancel(POOL, "j1", "not needed") is CancelOutcome.CANCELLED
    assert await lease_ids(queue, 2) == ["j2"]
    cancelled = await state(queue, "j1")
    assert (cancelled.phase, cancelled.reason, cancelled.attempts) == (JobPhase.CANCELLED, "not needed", [])
    assert cancelled.finished_at_ms is not None


async def test_a_job_that_waits_for_its_retry_is_gone_at_once(queue: Queue, clock: Clock) -> None:
    await submit(queue, "j1")
    lease = await lease_one(queue)
    await queue.fail(POOL, lease, Failure(FailureClass.APP, "boom", 0))
    assert await queue.cancel(POOL, "j1", "") is CancelOutcome.CANCELLED
    await clock.move(ms=10_000)
    assert await lease_ids(queue, 1) == []
    pool = await queue.inspect_pool(POOL)
    assert (pool.queued, pool.delayed, pool.running) == (0, 0, 0)


async def test_the_last_job_takes_its_tenant_out_of_the_order(queue: Queue) -> None:
    await submit(queue, "j1")
    await submit(queue, "k1", tenant="b")
    await queue.cancel(POOL, "j1", "")
    assert await lease_ids(queue, 5) == ["k1"]


async def test_a_running_job_is_asked_through_inbox_and_heartbeat(queue: Queue) -> None:
    await submit(queue, "j1")
    lease = await lease_one(queue)
    assert await queue.cancel(POOL, "j1", "stop") is CancelOutcome.ASKED
    assert await queue.wait(POOL, WORKER.name, 5) == [Signal(SignalKind.CANCEL, "j1")]
    assert await queue.heartbeat(POOL, WORKER, {"j1": lease.lease_id}) == {"j1": Ask.CANCEL}
    asked = await state(queue, "j1")
    assert (asked.phase, asked.cancel_requested) == (JobPhase.RUNNING, True)
    assert await queue.cancelled(POOL, "j1", lease.lease_id, 5)
    gone = await state(queue, "j1")
    assert (gone.phase, gone.reason) == (JobPhase.CANCELLED, "stop")
    assert [a.cls for a in gone.attempts] == [FailureClass.CANCELLED]


async def test_a_job_asked_to_cancel_is_never_dispatched_again(queue: Queue, clock: Clock) -> None:
    await submit(queue, "crashes", "fails", "released")
    crashes, fails, released = (await queue.lease(POOL, WORKER, 3)).jobs
    for job_id in ("crashes", "fails", "released"):
        await queue.cancel(POOL, job_id, "stop")
    outcome = await queue.fail(POOL, fails, Failure(FailureClass.APP, "boom", 0))
    assert outcome.kind is FailKind.CANCELLED
    assert await queue.release(POOL, "released", released.lease_id, 0)
    await clock.move(ms=LEASE_MS)
    assert await lease_ids(queue, 3) == []
    found = await queue.inspect_jobs(POOL, [crashes.job_id, fails.job_id, released.job_id])
    assert {found_state.phase for found_state in found.values()} == {JobPhase.CANCELLED}


async def test_a_job_that_is_done_before_the_worker_stops_it_is_done(queue: Queue) -> None:
    await submit(queue, "j1")
    lease = await lease_one(queue)
    await queue.cancel(POOL, "j1", "stop")
    assert await queue.complete(POOL, "j1", lease.lease_id, b"1", 0)
    assert (await state(queue, "j1")).phase is JobPhase.SUCCEEDED
    assert await queue.cancel(POOL, "j1", "stop") is CancelOutcome.FINISHED


async def test_cancelling_again_and_cancelling_nothing(queue: Queue) -> None:
    await submit(queue, "j1")
    assert await queue.cancel(POOL, "j1", "") is CancelOutcome.CANCELLED
    assert await queue.cancel(POOL, "j1", "") is CancelOutcome.CANCELLED
    assert await queue.cancel(POOL, "nobody", "") is CancelOutcome.UNKNOWN


@pytest.mark.parametrize("round_number", range(10))
async def test_a_cancel_that_races_a_lease_is_told_or_wins(queue: Queue, round_number: int) -> None:
    jobs = [f"r{round_number}-{number}" for number in range(20)]
    await submit(queue, *jobs)
    leasing = [queue.lease(POOL, OTHER, 4) for _ in range(5)]
    cancelling = [queue.cancel(POOL, job_id, "race") for job_id in jobs]
    leased_jobs, outcomes = await asyncio.gather(asyncio.gather(*leasing), asyncio.gather(*cancelling))
    leases = {lease.job_id: lease.lease_id for leased in leased_jobs for lease in leased.jobs}
    asks = await queue.heartbeat(POOL, OTHER, leases)
    for job_id, outcome in zip(jobs, outcomes, strict=True):
        if job_id in leases:
            assert (outcome, asks[job_id]) == (CancelOutcome.ASKED, Ask.CANCEL)
        else:
            assert outcome is CancelOutcome.CANCELLED
