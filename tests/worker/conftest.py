"""A real Redis for the session, and a pool of its own for every test."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest

from fairway.queue import PoolConfig, Queue, TenantConfig
from hack.redis_server import RedisServer, running_redis
from tests.worker.support import LEASE_MS, TENANT, Bench

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def own_redis(tmp_path: Path) -> Iterator[RedisServer]:
    """A server that the test may stop and start; it keeps what it has, as ours in the cluster does."""
    server = RedisServer(tmp_path / "redis", "--appendonly", "yes", "--appendfsync", "always")
    server.start()
    yield server
    server.stop()


async def make_bench(url: str, lease_ms: int) -> Bench:
    queue = Queue.connect(url)
    pool = f"pool-{secrets.token_hex(4)}"
    await queue.configure_pool(pool, PoolConfig(lease_ms=lease_ms))
    await queue.configure_tenant(pool, TENANT, TenantConfig())
    return Bench(queue, url, pool)


@pytest.fixture
async def bench(redis_url: str) -> AsyncIterator[Bench]:
    """A pool with a lease that no test outlives by accident."""
    bench = await make_bench(redis_url, LEASE_MS)
    yield bench
    await bench.queue.aclose()


@pytest.fixture
async def frail_bench(own_redis: RedisServer) -> AsyncIterator[Bench]:
    """The same, on a Redis of its own."""
    bench = await make_bench(own_redis.url, LEASE_MS)
    yield bench
    await bench.queue.aclose()
