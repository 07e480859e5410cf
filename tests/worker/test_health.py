"""/healthz and /readyz, as a kubelet asks."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from tests.worker.support import Bench, until, until_true

if TYPE_CHECKING:
    from fairway_worker.runtime import Runtime
    from hack.redis_server import RedisServer


async def get(runtime: Runtime, path: str) -> tuple[int, str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", runtime.health.port)
    writer.write(f"GET {path} HTTP/1.1\r\nHost: here\r\n\r\n".encode())
    answer = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    return int(answer.split()[1]), answer.rpartition("\r\n\r\n")[2].strip()


async def test_a_worker_is_ready_when_its_queue_answered(bench: Bench) -> None:
    async with bench.worker() as runtime:
        await until_true(lambda: not runtime.not_ready(), "the worker to be ready")
        assert await get(runtime, "/healthz") == (200, "ok")
        assert await get(runtime, "/readyz?verbose") == (200, "ok")
        assert (await get(runtime, "/"))[0] == 404


async def test_an_idle_worker_is_not_ready_while_redis_is_away_a_busy_one_stays_so(
    frail_bench: Bench, own_redis: RedisServer
) -> None:
    async with frail_bench.worker(concurrency=2) as runtime:
        await until_true(lambda: not runtime.not_ready(), "the worker to be ready")
        own_redis.stop()

        async def away() -> bool:
            return await get(runtime, "/readyz") == (503, "Redis is away")

        await until(away, "the idle worker to be not ready")
        assert (await get(runtime, "/healthz"))[0] == 200
        own_redis.start()
        job = await frail_bench.shell("sleep 1000")
        await frail_bench.starts(job)
        own_redis.kill()
        assert (await get(runtime, "/readyz"))[0] == 200
        own_redis.start()
