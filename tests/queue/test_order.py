"""Whose turn it is: fair by weight and slot-time, in virtual time."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from fairway.queue import Algorithm, PoolConfig, Queue, TenantConfig
from tests.queue.support import LEASE_MS, POOL, SECOND_US, WORKER, job, lease_ids, lease_one, submit

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from tests.queue.support import Clock

FAIR = PoolConfig(lease_ms=LEASE_MS)
FIFO = PoolConfig(lease_ms=LEASE_MS, algorithm=Algorithm.FIFO)


async def run_one_slot(queue: Queue, clock: Clock, took_us: dict[str, int], until_us: int) -> Counter[str]:
    """Run jobs on one slot, tenants never short of them, and return the slot-time each tenant got."""
    used: Counter[str] = Counter()
    while used.total() < until_us:
        lease = await lease_one(queue)
        await clock.move(us=took_us[lease.tenant])
        await queue.complete(POOL, lease.job_id, lease.lease_id, None, took_us[lease.tenant])
        await queue.submit(POOL, job(f"{lease.job_id}+", lease.tenant))
        used[lease.tenant] += took_us[lease.tenant]
    return used


async def test_slot_time_is_shared_by_weight_whatever_the_jobs_take(queue: Queue, clock: Clock) -> None:
    """Counting jobs, or charging estimates without settling, would give both the same time."""
    await submit(queue, "a1", "a2")
    await submit(queue, "b1", "b2", tenant="b")
    used = await run_one_slot(queue, clock, {"a": 300_000, "b": 100_000}, 40 * SECOND_US)
    # The bound of one slot: an estimate of a second charged to each, and as much not yet given back.
    bound_us = 4 * SECOND_US
    assert abs(used["b"] / 3 - used["a"]) <= bound_us
    assert used["a"] > 8 * SECOND_US


async def test_who_was_away_brings_no_credit(queue: Queue, clock: Clock) -> None:
    await submit(queue, "a1", "a2")
    took_us = {"a": 500_000, "b": 500_000}
    await run_one_slot(queue, clock, took_us, 30 * SECOND_US)
    await submit(queue, "b1", "b2", tenant="b")
    used = await run_one_slot(queue, clock, took_us, 20 * SECOND_US)
    assert abs(used["b"] / 3 - used["a"]) <= 4 * SECOND_US


async def test_who_worked_alone_is_not_punished_for_it(queue: Queue, clock: Clock) -> None:
    await submit(queue, "b1", "b2", tenant="b")
    took_us = {"a": 500_000, "b": 500_000}
    await run_one_slot(queue, clock, took_us, 60 * SECOND_US)
    await submit(queue, "a1", "a2")
    used = await run_one_slot(queue, clock, took_us, 20 * SECOND_US)
    assert used["b"] > used["a"]


async def test_who_waits_is_never_lifted(queue: Queue) -> None:
    """An estimate given back leaves a tenant behind the others: that is its due, not credit from idling."""
    await queue.configure_tenant(POOL, "b", TenantConfig(weight=1))
    await queue.submit(POOL, job("a1", estimate_us=10 * SECOND_US))
    await submit(queue, "a2", "a3", "a4")
    await submit(queue, "b1", "b2", "b3", "b4", "b5", "b6", tenant="b")
    overestimated = await lease_one(queue)
    assert await lease_ids(queue, 5) == ["b1", "b2", "b3", "b4", "b5"]
    await queue.complete(POOL, "a1", overestimated.lease_id, None, 0)
    assert await lease_ids(queue, 4) == ["a2", "a3", "a4", "b6"]


async def test_an_overrun_is_charged_while_it_runs(queue: Queue, clock: Clock) -> None:
    await submit(queue, "long")
    lease = await lease_one(queue)
    for _ in range(10):
        await clock.move(ms=9_000)
        await queue.heartbeat(POOL, WORKER, {"long": lease.lease_id})
    await submit(queue, "a1", "a2", "a3")
    await submit(queue, "b1", "b2", "b3", "b4", "b5", "b6", tenant="b")
    assert await lease_ids(queue, 7) == ["b1", "b2", "b3", "b4", "b5", "b6", "a1"]


async def test_ties_go_by_arrival_not_by_name(queue: Queue) -> None:
    await submit(queue, "b1", tenant="b")
    await submit(queue, "a1")
    assert await lease_ids(queue, 2) == ["b1", "a1"]


async def test_fractions_of_a_heavy_weight_are_carried(queue: Queue, raw: Redis, clock: Clock) -> None:
    """A thousand charges of a microsecond at weight 1000 are one whole microsecond of the counter."""
    await queue.configure_tenant(POOL, "heavy", TenantConfig(weight=1000))
    for number in range(1000):
        await queue.submit(POOL, job(f"j{number}", "heavy", estimate_us=1))
    for lease in (await queue.lease(POOL, WORKER, 1000)).jobs:
        await clock.move(us=1)
        await queue.complete(POOL, lease.job_id, lease.lease_id, None, 1)
    read = await raw.hmget("fw:{p}:tenant:heavy", "c", "rem", "u", "used")
    assert read == ["1", "0", "1000", "1000"]


async def test_the_ledger_is_what_was_used_and_what_is_open(queue: Queue, raw: Redis, clock: Clock) -> None:
    await submit(queue, "j1", "j2", "j3")
    first, second, _ = (await queue.lease(POOL, WORKER, 3)).jobs
    await clock.move(us=123_457)
    await queue.complete(POOL, first.job_id, first.lease_id, None, 123_456)
    await queue.release(POOL, second.job_id, second.lease_id, 77)
    charged, used = await raw.hmget("fw:{p}:tenant:a", "u", "used")
    assert int(used or 0) == 123_456 + 77
    assert int(charged or 0) == int(used or 0) + SECOND_US


async def test_numbers_of_sixteen_digits_stay_whole(queue: Queue, raw: Redis) -> None:
    """Far beyond what a counter is allowed to reach, every microsecond still counts."""
    near_limit = 9_007_199_252_000_001
    await raw.hset("fw:{p}:tenant:a", mapping={"c": str(near_limit), "u": str(near_limit)})
    await submit(queue, "j1")
    await queue.lease(POOL, WORKER, 1)
    assert await raw.hmget("fw:{p}:tenant:a", "c", "u") == [str(near_limit + SECOND_US)] * 2
    assert await raw.hget("fw:{p}:meta", "v") == str(near_limit)


async def test_a_new_weight_counts_from_the_next_lease(queue: Queue, clock: Clock) -> None:
    await submit(queue, "a1", "a2")
    await submit(queue, "b1", "b2", tenant="b")
    took_us = {"a": 500_000, "b": 500_000}
    await run_one_slot(queue, clock, took_us, 10 * SECOND_US)
    await queue.configure_tenant(POOL, "b", TenantConfig(weight=1))
    used = await run_one_slot(queue, clock, took_us, 20 * SECOND_US)
    assert abs(used["b"] - used["a"]) <= 4 * SECOND_US


async def test_fifo_serves_by_arrival_alone(queue: Queue) -> None:
    await queue.configure_pool(POOL, FIFO)
    await submit(queue, "a1", "a2", "a3")
    await submit(queue, "b1", tenant="b")
    await submit(queue, "a4")
    assert await lease_ids(queue, 10) == ["a1", "a2", "a3", "b1", "a4"]


async def test_the_algorithm_changes_while_jobs_wait_and_run(queue: Queue, clock: Clock) -> None:
    await submit(queue, "a1", "a2", "a3", "a4")
    await submit(queue, "b1", "b2", "b3", "b4", "b5", "b6", tenant="b")
    assert await lease_ids(queue, 3) == ["a1", "b1", "b2"]
    await queue.configure_pool(POOL, FIFO)
    fifo = await lease_one(queue)
    assert fifo.job_id == "a2"
    await queue.configure_pool(POOL, FAIR)
    await clock.move(us=SECOND_US)
    await queue.complete(POOL, fifo.job_id, fifo.lease_id, None, SECOND_US)
    # What fifo gave to a moved nobody: b3 makes it even, then arrival decides.
    assert await lease_ids(queue, 10) == ["b3", "a3", "b4", "b5", "b6", "a4"]


async def test_fifo_respects_caps(queue: Queue) -> None:
    await queue.configure_pool(POOL, FIFO)
    await queue.configure_tenant(POOL, "a", TenantConfig(in_flight=1))
    await submit(queue, "a1", "a2")
    await submit(queue, "b1", tenant="b")
    assert await lease_ids(queue, 10) == ["a1", "b1"]
