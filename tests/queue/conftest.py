"""A real Redis server for the session; every test gets it empty, and may leave nothing outside `fw:`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from redis.asyncio import Redis

from fairway.queue import PoolConfig, Queue, TenantConfig
from fairway.queue.connection import Connection
from hack.redis_server import running_redis
from tests.queue.support import LEASE_MS, POOL, Clock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_redis(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
async def raw(redis_url: str) -> AsyncIterator[Redis]:
    """A plain client, to look behind the queue's back."""
    client = Redis.from_url(redis_url, decode_responses=True)
    await client.flushall()
    yield client
    leaked = [key async for key in client.scan_iter() if not key.startswith("fw:")]
    await client.aclose()
    assert not leaked, f"keys outside of fw: were left behind: {leaked}"


@pytest.fixture
async def bare_queue(redis_url: str, raw: Redis) -> AsyncIterator[Queue]:
    """A queue without any pool."""
    del raw  # it empties the server
    async with Queue.connect(redis_url) as queue:
        yield queue


@pytest.fixture
async def connection(redis_url: str) -> AsyncIterator[Connection]:
    """What the queue runs its scripts through, to call one as nobody should, or twice."""
    connection = Connection(redis_url)
    yield connection
    await connection.aclose()


@pytest.fixture
async def queue(bare_queue: Queue) -> Queue:
    """A queue with one pool and the tenants a (weight 1) and b (weight 3)."""
    await bare_queue.configure_pool(POOL, PoolConfig(lease_ms=LEASE_MS))
    await bare_queue.configure_tenant(POOL, "a", TenantConfig(weight=1))
    await bare_queue.configure_tenant(POOL, "b", TenantConfig(weight=3))
    return bare_queue


@pytest.fixture
async def clock(queue: Queue, raw: Redis) -> Clock:
    """The pool's clock, standing still until it is moved."""
    del queue  # it makes the pool
    clock = Clock(raw)
    await clock.move(ms=0)
    return clock
