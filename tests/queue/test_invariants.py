"""Random histories: whatever is called in whatever order, the books agree and no job is lost."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from fairway.api.phases import FailureClass, JobPhase
from fairway.queue import Algorithm, Failure, Lease, PoolConfig, Queue, TenantConfig, WorkerIdentity
from tests.queue.support import LEASE_MS, POOL, job

if TYPE_CHECKING:
    from redis.asyncio import Redis

    from fairway.queue import TenantState
    from tests.queue.support import Clock

STEPS = 300
WORKERS = [WorkerIdentity(f"w{number}") for number in range(3)]
FAILURES = [FailureClass.APP, FailureClass.TIMEOUT, FailureClass.DEPENDENCY, FailureClass.PERMANENT]


class History:
    """Calls the queue at random. It remembers every lease it ever got, so that stale ones are used too."""

    def __init__(self, queue: Queue, clock: Clock, seed: int) -> None:
        self.queue = queue
        self.clock = clock
        self.random = random.Random(seed)  # noqa: S311 - a history that can be repeated
        self.submitted: list[str] = []
        self.leases: list[Lease] = []

    async def step(self) -> None:
        """Do one thing at random, most often what moves jobs along."""
        steps = [
            self.submit,
            self.lease,
            self.end,
            self.heartbeat,
            self.pass_time,
            self.cancel,
            self.configure,
        ]
        await self.random.choices(steps, weights=[8, 8, 8, 3, 3, 1, 1])[0]()

    async def submit(self) -> None:
        """Submit a new job, or one that is known."""
        tenant = self.random.choice("ab")
        known = self.submitted and self.random.random() < 0.1
        job_id = self.random.choice(self.submitted) if known else f"j{len(self.submitted)}"
        await self.queue.submit(POOL, job(job_id, tenant, estimate_us=self.random.randrange(3_000_000)))
        if not known:
            self.submitted.append(job_id)

    async def lease(self) -> None:
        """Take some jobs."""
        leased = await self.queue.lease(POOL, self.random.choice(WORKERS), self.random.randrange(4))
        self.leases += leased.jobs

    async def end(self) -> None:
        """End an attempt, one way or another, with a lease that may be stale."""
        if not self.leases:
            return
        lease = self.random.choice(self.leases[-8:])
        ran_us = self.random.randrange(5_000_000)
        match self.random.randrange(4):
            case 0:
                await self.queue.fail(POOL, lease, Failure(self.random.choice(FAILURES), "boom", ran_us))
            case 1:
                await self.queue.release(POOL, lease.job_id, lease.lease_id, ran_us)
            case _:
                await self.queue.complete(POOL, lease.job_id, lease.lease_id, None, ran_us)

    async def heartbeat(self) -> None:
        """Renew some leases."""
        recent = {lease.job_id: lease.lease_id for lease in self.leases[-6:]}
        await self.queue.heartbeat(POOL, self.random.choice(WORKERS), recent)

    async def pass_time(self) -> None:
        """Let time pass, sometimes long enough for leases to run out, sometimes backwards."""
        await self.clock.move(ms=self.random.choice([7, 900, 2_500, LEASE_MS + 1, -300]))

    async def cancel(self) -> None:
        """Cancel any job."""
        if self.submitted:
            await self.queue.cancel(POOL, self.random.choice(self.submitted), "random")

    async def configure(self) -> None:
        """Change weights, caps, suspensions, the algorithm."""
        cap = self.random.choice([None, 1, 3])
        tenant = TenantConfig(self.random.randrange(1, 9), self.random.random() < 0.2, cap)
        await self.queue.configure_tenant(POOL, self.random.choice("ab"), tenant)
        algorithm = self.random.choice(list(Algorithm))
        suspended = self.random.random() < 0.2
        await self.queue.configure_pool(POOL, PoolConfig(LEASE_MS, suspended, algorithm=algorithm))


async def check(queue: Queue, raw: Redis, submitted: list[str]) -> None:
    """Compare everything that is written down twice."""
    found = await queue.inspect_jobs(POOL, submitted)
    assert list(found) == submitted
    phases = Counter(state.phase for state in found.values())
    pool = await queue.inspect_pool(POOL)
    assert pool.queued == phases[JobPhase.QUEUED]
    assert pool.delayed == phases[JobPhase.SCHEDULED]
    assert pool.running == phases[JobPhase.RUNNING] == sum(worker.busy for worker in pool.workers)
    assert pool.dead_lettered == phases[JobPhase.DEAD_LETTERED]
    eligible = 0
    for tenant in pool.tenants:
        own = [state for state in found.values() if state.tenant == tenant.name]
        assert tenant.queued == sum(state.phase is JobPhase.QUEUED for state in own)
        assert tenant.running == sum(state.phase is JobPhase.RUNNING for state in own)
        assert tenant.slot_us == sum(state.slot_us for state in own)
        running = [state.id for state in own if state.phase is JobPhase.RUNNING]
        eligible += await check_books(raw, tenant, running)
    assert await raw.zcard("fw:{p}:turns") == await raw.zcard("fw:{p}:heads") == eligible


async def check_books(raw: Redis, tenant: TenantState, running: list[str]) -> bool:
    """Compare a tenant's ledger with its running jobs, and its place in the order with its eligibility.

    Answers whether it is eligible.
    """
    book = await raw.hgetall(f"fw:{{p}}:tenant:{tenant.name}")
    open_us = [int(await raw.hget(f"fw:{{p}}:job:{job_id}", "charged") or 0) for job_id in running]
    assert int(book["u"]) == tenant.slot_us + sum(open_us), "the ledger is what was used and what is open"
    below_cap = book["cap"] == "" or tenant.running < int(book["cap"])
    eligible = tenant.queued > 0 and book["suspended"] == "0" and below_cap
    assert (book["member"] != "") == eligible
    if eligible:
        assert await raw.zscore("fw:{p}:turns", book["member"]) == int(book["c"])
        assert await raw.zscore("fw:{p}:heads", tenant.name) == int(str(book["member"]).split(":")[0])
    return eligible


@pytest.mark.parametrize("seed", range(8))
async def test_the_books_agree_whatever_happens(queue: Queue, raw: Redis, clock: Clock, seed: int) -> None:
    history = History(queue, clock, seed)
    virtual_time = 0.0
    for number in range(STEPS):
        await history.step()
        if number % 10 == 0:
            await check(queue, raw, history.submitted)
            now = float(await raw.hget("fw:{p}:meta", "v") or 0)
            assert now >= virtual_time, "virtual time never falls"
            virtual_time = now
    await check(queue, raw, history.submitted)
    ended = {state.phase for state in (await queue.inspect_jobs(POOL, history.submitted)).values()}
    assert {JobPhase.SUCCEEDED, JobPhase.CANCELLED} <= ended, "a history in which too little happens"
