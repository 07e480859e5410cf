"""The connection: errors in our own words, restarts survived, nothing acknowledged lost."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from fairway.api.phases import JobPhase
from fairway.queue import Cursor, PoolConfig, Queue, QueueError, QueueUnavailable, TenantConfig
from hack.redis_server import RedisServer, running_redis
from tests.queue.support import LEASE_MS, META, POOL, WORKER, job, lease_one, state, submit, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from redis.asyncio import Redis

    from fairway.queue.connection import Connection

CONFIG = PoolConfig(lease_ms=LEASE_MS)


@pytest.fixture
def durable(tmp_path: Path) -> Iterator[RedisServer]:
    """A server that writes every change to disk before it answers."""
    server = RedisServer(tmp_path / "data", "--appendonly", "yes", "--appendfsync", "always")
    server.start()
    yield server
    server.stop()


async def test_no_server_is_said_in_our_own_words(tmp_path: Path) -> None:
    with running_redis(tmp_path / "gone") as url:
        pass
    async with Queue.connect(url) as queue:
        calls = [
            queue.ping(),
            queue.pools(),
            queue.submit(POOL, job("j1")),
            queue.wait(POOL, "w1", 1),
            queue.events(POOL, Cursor.from_beginning(), 10),
        ]
        for outcome in await asyncio.gather(*calls, return_exceptions=True):
            assert isinstance(outcome, QueueUnavailable)
            assert outcome.code == "QUEUE_UNAVAILABLE"
            assert "Redis does not answer" in str(outcome)


async def test_a_password_is_used_and_a_wrong_one_told(tmp_path: Path) -> None:
    with running_redis(tmp_path / "locked", "--requirepass", "secret") as url:
        async with Queue.connect(url, password="secret") as queue:  # noqa: S106 - the test's own server
            await queue.configure_pool(POOL, CONFIG)
            assert await queue.pools() == [POOL]
        async with Queue.connect(url, password="wrong") as queue:  # noqa: S106 - the test's own server
            with pytest.raises(QueueUnavailable, match=r"(?i)password"):
                await queue.pools()


async def test_a_user_limited_to_one_pool_can_work_in_it(queue: Queue, raw: Redis, redis_url: str) -> None:
    await queue.configure_pool("q", CONFIG)
    await submit(queue, "j1")
    await raw.acl_setuser("w", enabled=True, passwords="+pw", keys=["fw:{p}:*"], categories=["+@all"])
    try:
        async with Queue.connect(redis_url, username="w", password="pw") as limited:  # noqa: S106 - as above
            lease = await lease_one(limited)
            await limited.heartbeat(POOL, WORKER, {"j1": lease.lease_id})
            assert await limited.complete(POOL, "j1", lease.lease_id, None, 0)
            assert await limited.wait(POOL, WORKER.name, 0) == []
            with pytest.raises(QueueError) as refused:
                await limited.lease("q", WORKER, 1)
            assert refused.value.code == "FORBIDDEN"
    finally:
        await raw.acl_deluser("w")


async def test_a_full_redis_takes_no_jobs_but_drains(queue: Queue, raw: Redis) -> None:
    await submit(queue, "j1")
    await raw.config_set("maxmemory", "1")
    try:
        with pytest.raises(QueueError) as refused:
            await queue.submit(POOL, job("j2"))
        assert refused.value.code == "STORE_FULL"
        lease = await lease_one(queue)
        assert await queue.complete(POOL, "j1", lease.lease_id, None, 0)
    finally:
        await raw.config_set("maxmemory", "0")


async def test_scripts_forgotten_by_redis_are_sent_again(queue: Queue, raw: Redis) -> None:
    await submit(queue, "j1")
    await raw.script_flush()
    await submit(queue, "j2")
    assert (await queue.inspect_pool(POOL)).queued == 2


@pytest.mark.usefixtures("queue")
async def test_a_wrong_call_of_ours_names_file_and_line(connection: Connection) -> None:
    with pytest.raises(QueueError, match=r"shared/jobs\.lua:\d+: attempt to concatenate") as failed:
        await connection.run("complete", META)
    assert failed.value.code == "INTERNAL"


async def test_a_restart_is_survived_by_every_kind_of_call(durable: RedisServer) -> None:
    async with Queue.connect(durable.url) as queue:
        await queue.configure_pool(POOL, CONFIG)
        await queue.configure_tenant(POOL, "a", TenantConfig())
        await submit(queue, "j1")
        lease = await lease_one(queue)
        assert await queue.wait(POOL, WORKER.name, 0) == []
        durable.kill()
        await asyncio.to_thread(durable.start)
        assert await queue.wait(POOL, WORKER.name, 0) == []
        assert (await queue.events(POOL, Cursor.from_beginning(), 0)).cursor.sequence == 2
        assert await queue.complete(POOL, "j1", lease.lease_id, b"1", 0)


async def test_nothing_acknowledged_is_lost_when_redis_is_killed(durable: RedisServer) -> None:
    async with Queue.connect(durable.url) as queue:
        await queue.configure_pool(POOL, CONFIG)
        await queue.configure_tenant(POOL, "a", TenantConfig())
        submitted: set[str] = set()
        completed: set[str] = set()
        work = [submit_until_down(queue, name, submitted) for name in ("x", "y")]
        work.append(complete_until_down(queue, completed))
        running = asyncio.gather(*work)

        async def enough() -> bool:
            return len(completed) >= 50

        await until(enough, "some jobs to be completed")
        durable.kill()
        await running
    await asyncio.to_thread(durable.start)
    async with Queue.connect(durable.url) as queue:
        found = await queue.inspect_jobs(POOL, submitted)
        assert set(found) == submitted
        assert {found[job_id].phase for job_id in completed} == {JobPhase.SUCCEEDED}
        assert {(await state(queue, job_id)).result for job_id in completed} == {b"done"}
        ran_again = set()
        while jobs := (await queue.lease(POOL, WORKER, 100)).jobs:
            ran_again |= {lease.job_id for lease in jobs}
        assert not ran_again & completed


async def submit_until_down(queue: Queue, name: str, acknowledged: set[str]) -> None:
    number = 0
    try:
        while True:
            number += 1
            await queue.submit(POOL, job(f"{name}{number}"))
            acknowledged.add(f"{name}{number}")
    except QueueUnavailable:
        return


async def complete_until_down(queue: Queue, acknowledged: set[str]) -> None:
    try:
        while True:
            for lease in (await queue.lease(POOL, WORKER, 5)).jobs:
                if await queue.complete(POOL, lease.job_id, lease.lease_id, b"done", 1):
                    acknowledged.add(lease.job_id)
    except QueueUnavailable:
        return
