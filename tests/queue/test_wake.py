"""Idle workers block on their inbox: no polling, and no work that nobody is told of."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from fairway.api.phases import FailureClass
from fairway.queue import Failure, PoolConfig, Queue, Signal, SignalKind, TenantConfig, WorkerIdentity
from tests.queue.support import LEASE_MS, OTHER, POOL, WORKER, lease_ids, lease_one, submit, until

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from tests.queue.support import Clock

WAKE = [Signal(SignalKind.WAKE)]
LONG_S = 20.0


async def idle(queue: Queue, *workers: WorkerIdentity) -> None:
    for worker in workers:
        assert (await queue.lease(POOL, worker, 1)).jobs == []


async def inboxes(raw: Redis) -> dict[str, list[bytes | str]]:
    keys = [key async for key in raw.scan_iter("fw:{p}:inbox:*")]
    return {key.rsplit(":", 1)[1]: await raw.lrange(key, 0, -1) for key in keys}


async def test_a_submission_wakes_a_blocked_worker(queue: Queue, raw: Redis) -> None:
    await idle(queue, WORKER)
    waiting = asyncio.create_task(queue.wait(POOL, WORKER.name, LONG_S))

    async def blocked() -> bool:
        return bool((await raw.info("clients"))["blocked_clients"])

    await until(blocked, "the worker to block")
    await submit(queue, "j1")
    assert await asyncio.wait_for(waiting, LONG_S) == WAKE
    assert await lease_ids(queue, 1) == ["j1"]


async def test_waiting_holds_up_no_other_call(queue: Queue, raw: Redis) -> None:
    waits = [asyncio.create_task(queue.wait(POOL, f"w{number}", LONG_S)) for number in range(40)]

    async def all_blocked() -> bool:
        return bool((await raw.info("clients"))["blocked_clients"] == len(waits))

    await until(all_blocked, "every wait to block")
    await submit(queue, *(f"j{number}" for number in range(20)))
    for wait in waits:
        wait.cancel()
    ended = await asyncio.gather(*waits, return_exceptions=True)
    assert {type(outcome) for outcome in ended} == {asyncio.CancelledError}


async def test_a_wait_ends_by_itself(queue: Queue) -> None:
    assert await queue.wait(POOL, WORKER.name, 0) == []
    assert await queue.wait(POOL, WORKER.name, 0.05) == []


async def test_one_job_wakes_one_worker(queue: Queue, raw: Redis) -> None:
    await idle(queue, WORKER, OTHER)
    await submit(queue, "j1")
    assert sum(map(len, (await inboxes(raw)).values())) == 1
    await submit(queue, "j2", "j3")
    assert await inboxes(raw) == {"w1": ["wake"], "w2": ["wake"]}
    assert 0 < await raw.pttl("fw:{p}:inbox:w1") <= 600_000


async def test_a_busy_worker_is_not_woken(queue: Queue, raw: Redis) -> None:
    await idle(queue, WORKER)
    await submit(queue, "j1")
    await queue.wait(POOL, WORKER.name, 1)
    await lease_one(queue)
    await submit(queue, "j2")
    assert await inboxes(raw) == {}


async def test_whoever_leaves_work_behind_wakes_the_next(queue: Queue, raw: Redis) -> None:
    """Also when the first one that was woken has died: the wake is handed on."""
    await queue.configure_tenant(POOL, "a", TenantConfig(suspended=True))
    await idle(queue, OTHER)
    await submit(queue, "j1", "j2", "j3")
    assert await inboxes(raw) == {}
    await queue.configure_pool(POOL, PoolConfig(lease_ms=LEASE_MS, suspended=True))
    await queue.configure_tenant(POOL, "a", TenantConfig())
    assert await inboxes(raw) == {}
    await raw.hset("fw:{p}:meta", "suspended", "0")
    await lease_one(queue)
    assert await inboxes(raw) == {"w2": ["wake"]}


@pytest.mark.parametrize("change", ["pool", "tenant", "cap"])
async def test_what_makes_work_possible_wakes(queue: Queue, raw: Redis, change: str) -> None:
    suspended = PoolConfig(lease_ms=LEASE_MS, suspended=change == "pool")
    await queue.configure_pool(POOL, suspended)
    await queue.configure_tenant(POOL, "a", TenantConfig(suspended=change == "tenant", in_flight=1))
    await submit(queue, "j1", "j2")
    held = (await queue.lease(POOL, OTHER, 1)).jobs
    await idle(queue, WORKER)
    assert await inboxes(raw) == {}
    match change:
        case "pool":
            await queue.configure_pool(POOL, PoolConfig(lease_ms=LEASE_MS))
        case "tenant":
            await queue.configure_tenant(POOL, "a", TenantConfig(in_flight=1))
        case _:
            await queue.complete(POOL, held[0].job_id, held[0].lease_id, None, 0)
    assert "w1" in await inboxes(raw) or "w2" in await inboxes(raw)


async def test_retries_releases_and_expiries_wake(queue: Queue, clock: Clock) -> None:
    await submit(queue, "expires", "retried", "released")
    _, retried, released = (await queue.lease(POOL, OTHER, 3)).jobs
    await queue.fail(POOL, retried, Failure(FailureClass.APP, "boom", 0))
    await idle(queue, WORKER)
    await queue.release(POOL, "released", released.lease_id, 0)
    assert await queue.wait(POOL, WORKER.name, 1) == WAKE
    await lease_one(queue)
    await idle(queue, WORKER)
    await clock.move(ms=1_000)
    await queue.sweep(POOL)
    assert await queue.wait(POOL, WORKER.name, 1) == WAKE
    await lease_one(queue)
    await idle(queue, WORKER)
    await clock.move(ms=LEASE_MS)
    await queue.sweep(POOL)
    assert await queue.wait(POOL, WORKER.name, 1) == WAKE


async def test_a_worker_that_has_been_silent_is_not_relied_on(queue: Queue, raw: Redis, clock: Clock) -> None:
    await idle(queue, WORKER, OTHER)
    await clock.move(ms=50_000)
    await submit(queue, "j1")
    assert await inboxes(raw) == {"w1": ["wake"], "w2": ["wake"]}
