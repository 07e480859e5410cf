"""A job's life, verb by verb."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from fairway.api.phases import FailureClass, JobPhase
from fairway.queue import (
    Ask,
    Failure,
    PoolConfig,
    Queue,
    QueueError,
    RetryRules,
    Submission,
    TenantConfig,
)
from tests.queue.support import (
    LEASE_MS,
    OTHER,
    POOL,
    SECOND_US,
    WORKER,
    job,
    lease_ids,
    lease_one,
    state,
    submit,
)

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from tests.queue.support import Clock


async def test_submit_answers_with_phase_and_position(queue: Queue) -> None:
    first = await queue.submit(POOL, job("j1"))
    second = await queue.submit(POOL, job("j2"))
    assert (first.phase, first.position, first.duplicate) == (JobPhase.QUEUED, 1, False)
    assert (second.phase, second.position, second.duplicate) == (JobPhase.QUEUED, 2, False)


async def test_submit_is_idempotent_by_id(queue: Queue) -> None:
    await submit(queue, "j1", "j2")
    again = await queue.submit(POOL, job("j2", "b"))
    assert (again.phase, again.position, again.duplicate) == (JobPhase.QUEUED, 2, True)
    assert await lease_ids(queue, 5) == ["j1", "j2"]
    running = await queue.submit(POOL, job("j1"))
    assert (running.phase, running.position, running.duplicate) == (JobPhase.RUNNING, None, True)
    assert (await state(queue, "j2")).tenant == "a"


async def test_a_lease_carries_what_a_worker_needs(queue: Queue, clock: Clock) -> None:
    rules = RetryRules(max_attempts=7, backoff_ms=(10, 20), jitter=0.5)
    await queue.submit(POOL, job("j1", retry=rules))
    await clock.move(ms=5)
    lease = await lease_one(queue)
    assert (lease.pool, lease.job_id, lease.tenant, lease.account) == (POOL, "j1", "a", "acc")
    assert (lease.type, lease.body, lease.timeout_ms) == ("echo", b'{"n":1}', 30_000)
    assert (lease.attempt, lease.first_attempt) == (1, True)
    assert lease.lease_ms == LEASE_MS
    assert (lease.created_at_ms, lease.leased_at_ms) == (clock.now_ms - 5, clock.now_ms)
    assert lease.retry == rules


async def test_jobs_of_a_tenant_go_in_order_of_arrival(queue: Queue) -> None:
    await submit(queue, "z", "m", "a")
    assert await lease_ids(queue, 2) == ["z", "m"]
    assert await lease_ids(queue, 2) == ["a"]


async def test_complete_keeps_the_result_and_the_attempt(queue: Queue, clock: Clock) -> None:
    await submit(queue, "j1")
    lease = await lease_one(queue)
    await clock.move(ms=1500)
    assert await queue.complete(POOL, "j1", lease.lease_id, b'{"x":1}', ran_us=1_400_000)
    done = await state(queue, "j1")
    assert (done.phase, done.result, done.slot_us) == (JobPhase.SUCCEEDED, b'{"x":1}', 1_400_000)
    assert (done.started_at_ms, done.finished_at_ms) == (clock.now_ms - 1500, clock.now_ms)
    assert [(a.number, a.worker, a.node, a.cls, a.counted) for a in done.attempts] == [
        (1, "w1", "node1", FailureClass.OK, True),
    ]


async def test_no_result_is_not_an_empty_one(queue: Queue) -> None:
    await submit(queue, "none", "empty")
    for result in (None, b""):
        lease = await lease_one(queue)
        assert await queue.complete(POOL, lease.job_id, lease.lease_id, result, 0)
    assert (await state(queue, "none")).result is None
    assert (await state(queue, "empty")).result == b""


async def test_results_vanish_after_their_time(queue: Queue, raw: Redis) -> None:
    await queue.configure_pool(POOL, PoolConfig(lease_ms=LEASE_MS, result_ttl_ms=60_000))
    await submit(queue, "j1")
    lease = await lease_one(queue)
    await queue.complete(POOL, "j1", lease.lease_id, None, 0)
    assert 50_000 < await raw.pttl(f"fw:{{{POOL}}}:job:j1") <= 60_000


async def test_a_result_ttl_of_zero_leaves_nothing_for_ever(queue: Queue, raw: Redis) -> None:
    await queue.configure_pool(POOL, PoolConfig(lease_ms=LEASE_MS, result_ttl_ms=0))
    await submit(queue, "j1")
    lease = await lease_one(queue)
    await queue.complete(POOL, "j1", lease.lease_id, None, 0)
    assert await raw.pttl(f"fw:{{{POOL}}}:job:j1") > 0


async def test_release_puts_a_job_in_front_without_counting(queue: Queue) -> None:
    await submit(queue, "j1", "j2", "j3")
    first = await lease_one(queue)
    second = await lease_one(queue)
    assert await queue.release(POOL, second.job_id, second.lease_id, 0)
    assert await queue.release(POOL, first.job_id, first.lease_id, 0)
    leases = (await queue.lease(POOL, WORKER, 3)).jobs
    assert [lease.job_id for lease in leases] == ["j1", "j2", "j3"]
    assert (leases[0].attempt, leases[0].counts.app) == (2, 0)
    attempts = (await state(queue, "j1")).attempts
    assert [(a.cls, a.counted, a.ended_at_ms is None) for a in attempts] == [
        (FailureClass.RELEASED, False, False),
        (None, False, True),
    ]


async def test_progress_is_seen_and_forgotten_with_the_attempt(queue: Queue) -> None:
    await submit(queue, "j1")
    lease = await lease_one(queue)
    assert await queue.progress(POOL, "j1", lease.lease_id, 0.25, "epoch 3")
    seen = await state(queue, "j1")
    assert (seen.progress, seen.message) == (0.25, "epoch 3")
    await queue.release(POOL, "j1", lease.lease_id, 0)
    gone = await state(queue, "j1")
    assert (gone.progress, gone.message) == (None, "")


async def test_an_attempt_is_never_longer_than_redis_saw(queue: Queue, clock: Clock) -> None:
    await submit(queue, "j1")
    lease = await lease_one(queue)
    await clock.move(ms=100)
    await queue.complete(POOL, "j1", lease.lease_id, None, ran_us=3600 * SECOND_US)
    assert (await state(queue, "j1")).slot_us == 100_000


async def test_suspended_pool_and_tenant_dispatch_nothing(queue: Queue) -> None:
    await queue.configure_pool(POOL, PoolConfig(lease_ms=LEASE_MS, suspended=True))
    await submit(queue, "j1")
    assert await lease_ids(queue, 1) == []
    await queue.configure_pool(POOL, PoolConfig(lease_ms=LEASE_MS))
    await queue.configure_tenant(POOL, "a", TenantConfig(suspended=True))
    assert await lease_ids(queue, 1) == []
    await queue.configure_tenant(POOL, "a", TenantConfig())
    assert await lease_ids(queue, 1) == ["j1"]


async def test_running_jobs_go_on_in_a_suspended_pool(queue: Queue) -> None:
    await submit(queue, "j1")
    lease = await lease_one(queue)
    await queue.configure_pool(POOL, PoolConfig(lease_ms=LEASE_MS, suspended=True))
    assert await queue.heartbeat(POOL, WORKER, {"j1": lease.lease_id}) == {"j1": Ask.CONTINUE}
    assert await queue.complete(POOL, "j1", lease.lease_id, None, 0)


async def test_inspect_pool_counts(queue: Queue, clock: Clock) -> None:
    await submit(queue, "j1", "j2", "j3", "j4", "j5")
    await submit(queue, "k1", tenant="b")
    for cls in (FailureClass.APP, FailureClass.PERMANENT):
        lease = next(x for x in (await queue.lease(POOL, OTHER, 2)).jobs if x.tenant == "a")
        await queue.fail(POOL, lease, Failure(cls, "boom", 0))
    await clock.move(ms=700)
    pool = await queue.inspect_pool(POOL)
    assert (pool.queued, pool.delayed, pool.running, pool.dead_lettered) == (2, 1, 2, 1)
    assert pool.oldest_age_ms == 700
    assert [(w.name, w.node, w.slots, w.busy) for w in pool.workers] == [("w2", "node2", 3, 2)]
    tenants = [(t.name, t.weight, t.queued, t.running) for t in pool.tenants]
    assert tenants == [("a", 1, 2, 1), ("b", 3, 0, 1)]


async def test_slot_time_of_tenants_is_exact(queue: Queue, clock: Clock) -> None:
    await submit(queue, "j1", "j2")
    for ran_us in (1_234_567, 7):
        lease = await lease_one(queue)
        await clock.move(ms=2000)
        await queue.complete(POOL, lease.job_id, lease.lease_id, None, ran_us)
    tenants = {tenant.name: tenant.slot_us for tenant in (await queue.inspect_pool(POOL)).tenants}
    assert tenants == {"a": 1_234_574, "b": 0}


async def test_live_objects_lists_unfinished_jobs_of_objects(queue: Queue) -> None:
    for number in range(3):
        await queue.submit(POOL, job(f"j{number}", origin=f"ns/{number}"))
    await queue.submit(POOL, job("http"))
    lease = await lease_one(queue)
    await queue.complete(POOL, lease.job_id, lease.lease_id, None, 0)
    cursor, found = await queue.live_objects(POOL, 0)
    assert cursor == 0
    assert sorted(found) == [("j1", "ns/1"), ("j2", "ns/2")]


async def test_inspect_jobs_leaves_out_what_it_does_not_know(queue: Queue) -> None:
    ids = [f"j{number}" for number in range(150)]
    await submit(queue, *ids)
    found = await queue.inspect_jobs(POOL, [*ids, "nobody"])
    assert list(found) == ids
    assert (found["j149"].position, found["j149"].origin, found["j149"].attempts) == (150, "", [])


async def test_pools_are_listed_and_removed_with_all_they_own(queue: Queue, raw: Redis) -> None:
    await queue.configure_pool("q", PoolConfig(lease_ms=LEASE_MS))
    assert await queue.pools() == ["p", "q"]
    await submit(queue, *(f"j{number}" for number in range(1_200)))
    leases = (await queue.lease(POOL, WORKER, 2)).jobs
    await queue.fail(POOL, leases[0], Failure(FailureClass.APP, "boom", 0))
    await queue.fail(POOL, leases[1], Failure(FailureClass.PERMANENT, "boom", 0))
    await queue.remove_pool(POOL)
    await queue.remove_pool(POOL)
    assert await queue.pools() == ["q"]
    assert [key async for key in raw.scan_iter("fw:{p}:*")] == []


async def test_a_removal_that_was_cut_off_is_ended_by_configuring_again(queue: Queue, raw: Redis) -> None:
    await submit(queue, "j1")
    await raw.hset("fw:{p}:meta", "removing", "1")
    with pytest.raises(QueueError) as refused:
        await queue.submit(POOL, job("j2"))
    assert refused.value.code == "UNKNOWN_POOL"
    await queue.configure_pool(POOL, PoolConfig(lease_ms=LEASE_MS))
    assert (await queue.inspect_pool(POOL)).queued == 0


async def test_unknown_pool_and_tenant_are_refused_with_a_code(bare_queue: Queue, raw: Redis) -> None:
    with pytest.raises(QueueError) as refused:
        await bare_queue.submit("nowhere", job("j1"))
    assert refused.value.code == "UNKNOWN_POOL"
    assert str(refused.value) == "pool nowhere is not known to the queue"
    assert await raw.dbsize() == 0
    await bare_queue.configure_pool(POOL, PoolConfig(lease_ms=LEASE_MS))
    with pytest.raises(QueueError) as refused:
        await bare_queue.submit(POOL, job("j1", "stranger"))
    assert refused.value.code == "UNKNOWN_TENANT"
    assert await bare_queue.inspect_jobs(POOL, ["j1"]) == {}


@pytest.mark.parametrize(
    "submission",
    [
        Submission("j", "a", "", "t", b"x" * 600_000, 1, 1),
        Submission("j", "a", "", "t", b"x", -1, 1),
        Submission("j", "a", "", "t", b"x", 1, -1),
    ],
)
async def test_bad_submissions_are_refused(queue: Queue, submission: Submission) -> None:
    with pytest.raises(QueueError) as refused:
        await queue.submit(POOL, submission)
    assert refused.value.code == "INVALID_PAYLOAD"


async def test_a_weight_below_one_is_refused(queue: Queue) -> None:
    with pytest.raises(QueueError) as refused:
        await queue.configure_tenant(POOL, "a", TenantConfig(weight=0))
    assert refused.value.code == "INVALID_WEIGHT"
