"""Failures: what is tried again, when, and what is buried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairway.api.phases import FailureClass, JobPhase
from fairway.queue import FailKind, Failure, PoolConfig, Queue, RetryRules
from tests.queue.support import LEASE_MS, POOL, WORKER, job, lease_ids, lease_one, state, submit

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from fairway.queue import FailOutcome
    from tests.queue.support import Clock


async def fail_next(queue: Queue, cls: FailureClass, retry_after_ms: int | None = None) -> FailOutcome:
    lease = await lease_one(queue)
    return await queue.fail(POOL, lease, Failure(cls, "boom", 10, retry_after_ms))


async def test_app_failures_back_off_then_are_buried(queue: Queue, clock: Clock) -> None:
    await submit(queue, "j1")
    for pause_ms in (1_000, 5_000):
        outcome = await fail_next(queue, FailureClass.APP)
        assert (outcome.kind, outcome.retry_at_ms) == (FailKind.RETRY, clock.now_ms + pause_ms)
        waiting = await state(queue, "j1")
        assert (waiting.phase, waiting.due_at_ms, waiting.position) == (
            JobPhase.SCHEDULED,
            outcome.retry_at_ms,
            None,
        )
        await clock.move(ms=pause_ms - 1)
        leased = await queue.lease(POOL, WORKER, 1)
        assert (leased.jobs, leased.next_due_ms) == ([], 1)
        await clock.move(ms=1)
    outcome = await fail_next(queue, FailureClass.APP)
    assert (outcome.kind, outcome.retry_at_ms, outcome.reason) == (
        FailKind.BURIED,
        None,
        "it failed 3 of 3 attempts",
    )
    buried = await state(queue, "j1")
    assert (buried.phase, buried.reason) == (JobPhase.DEAD_LETTERED, "it failed 3 of 3 attempts")
    assert [(a.number, a.cls, a.counted, a.error) for a in buried.attempts] == [
        (number, FailureClass.APP, True, "boom") for number in (1, 2, 3)
    ]


async def test_sweep_promotes_what_is_due(queue: Queue, clock: Clock) -> None:
    await submit(queue, "j1")
    await fail_next(queue, FailureClass.APP)
    assert (await queue.sweep(POOL)).promoted == 0
    await clock.move(ms=1_000)
    assert (await queue.sweep(POOL)).promoted == 1
    promoted = await state(queue, "j1")
    assert (promoted.phase, promoted.position, promoted.due_at_ms) == (JobPhase.QUEUED, 1, None)


async def test_a_retried_job_keeps_its_place_by_arrival(queue: Queue) -> None:
    await queue.submit(POOL, job("j1", retry=RetryRules(backoff_ms=())))
    await submit(queue, "j2")
    await fail_next(queue, FailureClass.APP)
    assert await lease_ids(queue, 2) == ["j1", "j2"]


@pytest.mark.parametrize("cls", [FailureClass.TIMEOUT, FailureClass.RESOURCE])
async def test_one_retry_after_timeout_or_resource(queue: Queue, clock: Clock, cls: FailureClass) -> None:
    await submit(queue, "j1")
    assert (await fail_next(queue, cls)).kind is FailKind.RETRY
    await clock.move(ms=1_000)
    lease = await lease_one(queue)
    assert lease.timeout_ms == (45_000 if cls is FailureClass.TIMEOUT else 30_000)
    assert (await queue.fail(POOL, lease, Failure(cls, "again", 10))).kind is FailKind.BURIED


@pytest.mark.parametrize("cls", [FailureClass.PERMANENT, FailureClass.HANG])
async def test_some_failures_are_final(queue: Queue, cls: FailureClass) -> None:
    await submit(queue, "j1")
    assert (await fail_next(queue, cls)).kind is FailKind.BURIED


async def test_dependency_failures_are_not_counted(queue: Queue, clock: Clock) -> None:
    await submit(queue, "j1")
    for _ in range(10):
        assert (await fail_next(queue, FailureClass.DEPENDENCY)).kind is FailKind.RETRY
        await clock.move(ms=5_000)
    lease = await lease_one(queue)
    assert (lease.attempt, lease.counts.app, lease.counts.dependency) == (11, 0, 10)
    assert not any(a.counted for a in (await state(queue, "j1")).attempts)


async def test_the_jobs_own_wish_for_the_pause_is_honoured(queue: Queue, clock: Clock) -> None:
    await submit(queue, "j1")
    outcome = await fail_next(queue, FailureClass.APP, retry_after_ms=77_000)
    assert outcome.retry_at_ms == clock.now_ms + 77_000


async def test_a_cancelled_class_ends_the_job_as_cancelled(queue: Queue) -> None:
    await submit(queue, "j1")
    assert (await fail_next(queue, FailureClass.CANCELLED)).kind is FailKind.CANCELLED
    assert (await state(queue, "j1")).phase is JobPhase.CANCELLED


async def test_dead_letters_keep_the_body_and_are_collected_after_their_time(
    queue: Queue,
    raw: Redis,
    clock: Clock,
) -> None:
    await queue.configure_pool(POOL, PoolConfig(lease_ms=LEASE_MS, dead_letter_ttl_ms=60_000))
    await submit(queue, "j1")
    await fail_next(queue, FailureClass.PERMANENT)
    assert await raw.hget("fw:{p}:job:j1", "body") == '{"n":1}'
    await clock.move(ms=59_999)
    assert (await queue.sweep(POOL)).collected == 0
    await clock.move(ms=1)
    await queue.sweep(POOL)
    assert await queue.inspect_jobs(POOL, ["j1"]) == {}
    assert (await queue.inspect_pool(POOL)).dead_lettered == 0


async def test_long_errors_keep_their_beginning_and_end(queue: Queue) -> None:
    await submit(queue, "j1")
    lease = await lease_one(queue)
    error = "exit 1:" + "ä" * 50_000 + "\x00\n\ud800the last line"
    await queue.fail(POOL, lease, Failure(FailureClass.PERMANENT, error, 10))
    kept = (await state(queue, "j1")).attempts[0].error
    assert kept.startswith("exit 1:ää")
    assert kept.endswith("ä\x00\n?the last line")
    assert len(kept.encode()) < 8_400


async def test_the_list_of_attempts_is_bounded(queue: Queue) -> None:
    await queue.submit(POOL, job("j1", retry=RetryRules(backoff_ms=())))
    for _ in range(55):
        await fail_next(queue, FailureClass.DEPENDENCY)
    attempts = (await state(queue, "j1")).attempts
    assert [a.number for a in attempts] == list(range(6, 56))
