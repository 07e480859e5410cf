"""What the queue's tests share: a pool's name, jobs, workers, and a clock that stands still."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fairway.queue import Lease, Queue, RetryRules, Submission, WorkerIdentity

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from redis.asyncio import Redis

    from fairway.queue import JobState

POOL = "p"
LEASE_MS = 10_000
META = f"fw:{{{POOL}}}:meta"
WORKER = WorkerIdentity("w1", "node1")
OTHER = WorkerIdentity("w2", "node2")
SECOND_US = 1_000_000


class Clock:
    """Sets the clock that the scripts read, so that no test waits for time to pass."""

    def __init__(self, raw: Redis) -> None:
        self._raw = raw
        self.now_us = 1_800_000_000_000_000

    @property
    def now_ms(self) -> int:
        """What the scripts read now, in ms."""
        return self.now_us // 1000

    async def move(self, *, ms: int = 0, us: int = 0) -> None:
        """Let time pass."""
        self.now_us += ms * 1000 + us
        await self._raw.hset(META, "clock", str(self.now_us))


def job(
    job_id: str,
    tenant: str = "a",
    *,
    estimate_us: int = SECOND_US,
    retry: RetryRules | None = None,
    origin: str = "",
) -> Submission:
    return Submission(
        id=job_id,
        tenant=tenant,
        account="acc",
        type="echo",
        body=b'{"n":1}',
        estimate_us=estimate_us,
        timeout_ms=30_000,
        retry=retry or RetryRules(max_attempts=3, backoff_ms=(1_000, 5_000), jitter=0.0),
        origin=origin,
    )


async def submit(queue: Queue, *ids: str, tenant: str = "a") -> None:
    for job_id in ids:
        await queue.submit(POOL, job(job_id, tenant))


async def lease_one(queue: Queue, worker: WorkerIdentity = WORKER) -> Lease:
    leased = await queue.lease(POOL, worker, 1)
    assert len(leased.jobs) == 1, "a job was expected to be ready"
    return leased.jobs[0]


async def lease_ids(queue: Queue, slots: int, worker: WorkerIdentity = WORKER) -> list[str]:
    return [lease.job_id for lease in (await queue.lease(POOL, worker, slots)).jobs]


async def state(queue: Queue, job_id: str) -> JobState:
    return (await queue.inspect_jobs(POOL, [job_id]))[job_id]


async def snapshot(raw: Redis) -> dict[str, object]:
    """Return everything stored, so that a test can say that nothing changed."""
    stored: dict[str, object] = {}
    async for key in raw.scan_iter():
        match await raw.type(key):
            case "hash":
                stored[key] = await raw.hgetall(key)
            case "zset":
                stored[key] = await raw.zrange(key, 0, -1, withscores=True)
            case "set":
                stored[key] = await raw.smembers(key)
            case "list":
                stored[key] = await raw.lrange(key, 0, -1)
            case "stream":
                stored[key] = await raw.xrange(key)
    return stored


async def until(look: Callable[[], Awaitable[object]], what: str, timeout_s: float = 20) -> None:
    """Wait until `look` answers something true."""
    try:
        async with asyncio.timeout(timeout_s):
            while not await look():  # noqa: ASYNC110 - what is waited for happens in Redis: nobody sets an event
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"waited {timeout_s:g} s for {what}") from None
