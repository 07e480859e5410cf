"""How fast the queue is and what it costs Redis, with one submitter and one worker on one machine.

Redis runs as the chart runs it (append-only file, fsync every second), the payload has 200 bytes, the handler
does nothing. Medians of several rounds: these are figures to compare runs of one machine with, no bars.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from redis.asyncio import Redis

from fairway.api.body import JobBody
from fairway.api.ids import new_job_id
from fairway.queue import PoolConfig, Queue, Submission, TenantConfig, WorkerIdentity
from hack.bench.figures import Figure
from hack.redis_server import running_redis

if TYPE_CHECKING:
    from collections.abc import Awaitable

POOL = "bench"
TENANTS = 10
JOBS = 5_000
ROUNDS = 3
IN_FLIGHT = 50
PAYLOAD_BYTES = 200
MICROSECONDS = 1_000_000


def measure() -> list[Figure]:
    """Runs the rounds and returns the medians."""
    with tempfile.TemporaryDirectory() as folder:
        settings = ["--appendonly", "yes", "--appendfsync", "everysec", "--save", ""]
        with running_redis(Path(folder), *settings) as url:
            rounds = [asyncio.run(_round(url, number)) for number in range(1, ROUNDS + 1)]
    units = {name: unit for name, (_, unit) in rounds[0].items()}
    return [
        Figure(name, statistics.median(found[name][0] for found in rounds), unit)
        for name, unit in units.items()
    ]


async def _round(url: str, number: int) -> dict[str, tuple[float, str]]:
    redis = Redis.from_url(url)
    async with Queue.connect(url) as queue:
        await redis.flushall()
        await queue.configure_pool(POOL, PoolConfig(lease_ms=60_000))
        for tenant in range(TENANTS):
            await queue.configure_tenant(POOL, f"tenant-{tenant}", TenantConfig())
        empty, cpu = await _memory(redis), await _cpu(redis)
        submitted = await _timed(_submit_all(queue))
        bytes_a_job = (await _memory(redis) - empty) / JOBS
        drained = await _timed(_drain(queue))
        used = await _cpu(redis) - cpu
    await redis.aclose()
    print(f"  round {number} of {ROUNDS}: {JOBS} jobs in {submitted + drained:.1f} s", flush=True)
    return {
        "submit": (JOBS / submitted, "jobs/s"),
        "lease and complete": (JOBS / drained, "jobs/s"),
        "redis CPU, all verbs": (used * MICROSECONDS / JOBS, "µs a job"),
        "memory of a waiting job": (bytes_a_job, "bytes"),
    }


async def _submit_all(queue: Queue) -> None:
    payload = {"text": "x" * PAYLOAD_BYTES}
    body = JobBody(type="echo", payload=payload, timeout_ms=30_000, cancel_grace_ms=5_000).to_bytes()
    room = asyncio.Semaphore(IN_FLIGHT)

    async def submit(number: int) -> None:
        async with room:
            tenant = f"tenant-{number % TENANTS}"
            job = Submission(new_job_id(POOL), tenant, "bench", "echo", body, 1_000, 30_000)
            await queue.submit(POOL, job)

    async with asyncio.TaskGroup() as group:
        for number in range(JOBS):
            group.create_task(submit(number))


async def _drain(queue: Queue) -> None:
    worker = WorkerIdentity("bench-worker")
    done = 0
    while done < JOBS:
        leased = await queue.lease(POOL, worker, IN_FLIGHT)
        async with asyncio.TaskGroup() as group:
            for job in leased.jobs:
                group.create_task(queue.complete(POOL, job.job_id, job.lease_id, json.dumps({}).encode(), 0))
        done += len(leased.jobs)


async def _timed(work: Awaitable[None]) -> float:
    started = time.perf_counter()
    await work
    return time.perf_counter() - started


async def _memory(redis: Redis) -> float:
    return float((await redis.info("memory"))["used_memory"])


async def _cpu(redis: Redis) -> float:
    found = await redis.info("cpu")
    return float(found["used_cpu_user"]) + float(found["used_cpu_sys"])
