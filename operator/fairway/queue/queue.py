"""The queue: one typed method per verb, each the only caller of the Lua script with the same name."""

from __future__ import annotations

import random
import secrets
from typing import TYPE_CHECKING, Any, Self

from fairway.api.phases import FailureClass
from fairway.policy.retry import Retry, decide
from fairway.queue import codec
from fairway.queue.connection import Connection, pool_key
from fairway.queue.errors import QueueError
from fairway.queue.events import read_events
from fairway.queue.model import (
    Ask,
    CancelOutcome,
    FailKind,
    FailOutcome,
    Leased,
    PoolState,
    Signal,
    Submitted,
    Swept,
    TenantState,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import TracebackType

    from fairway.queue.model import (
        Cursor,
        EventBatch,
        Failure,
        JobState,
        Lease,
        PoolConfig,
        Submission,
        TenantConfig,
        WorkerIdentity,
    )

_POOLS_KEY = "fw:pools"  # the one key that spans pools: only the operator reads and writes it
_INSPECT_PAGE = 100
_SCAN_PAGE = 500
_INBOX_PAGE = 100
_SHORTEST_WAIT_S = 0.01  # to Redis 0 means for ever
_LONGEST_WAIT_S = 30.0


class Queue:
    """All pools of one Redis. Make it with `Queue.connect`; it connects on its first call.

    Every method raises `QueueUnavailable` when Redis does not answer (it was already retried then) and
    `QueueError` with a code when the call is refused; `UNKNOWN_POOL` from every method that names a pool.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    @classmethod
    def connect(cls, url: str, username: str | None = None, password: str | None = None) -> Self:
        """Return a queue at `url` (redis:// or rediss://). Nothing is sent before the first call."""
        return cls(Connection(url, username=username, password=password))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close every connection."""
        await self._connection.aclose()

    async def ping(self) -> None:
        """Return when Redis answers."""
        await self._connection.command("PING")

    # -- configuration -------------------------------------------------------------------------------------

    async def configure_pool(self, pool: str, config: PoolConfig) -> None:
        """Make a pool, or change it while jobs wait and run."""
        arguments = codec.pool_arguments(config, epoch=secrets.token_hex(8))
        try:
            await self._run("configure_pool", pool, *arguments)
        except QueueError as error:
            if error.code != "POOL_BEING_REMOVED":
                raise
            await self.remove_pool(pool)  # an earlier removal was cut off half way
            await self._run("configure_pool", pool, *arguments)
        await self._connection.command("SADD", _POOLS_KEY, pool)

    async def configure_tenant(self, pool: str, tenant: str, config: TenantConfig) -> None:
        """Make a tenant known to a pool, or change it while its jobs wait and run."""
        await self._run("configure_tenant", pool, tenant, *codec.tenant_arguments(config))

    async def remove_pool(self, pool: str) -> None:
        """Remove a pool with all its jobs, in bounded steps. Results already there vanish with their time."""
        try:
            while int(await self._run("remove_pool", pool)):
                pass
        except QueueError as error:
            if error.code != "UNKNOWN_POOL":
                raise
        await self._connection.command("SREM", _POOLS_KEY, pool)

    async def pools(self) -> list[str]:
        """Return the names of the configured pools, sorted."""
        names: Iterable[bytes] = await self._connection.command("SMEMBERS", _POOLS_KEY)
        return sorted(name.decode() for name in names)

    # -- a job's life --------------------------------------------------------------------------------------

    async def submit(self, pool: str, submission: Submission) -> Submitted:
        """Put a job into its tenant's queue. A second submission of the same id changes nothing."""
        answer = await self._run("submit", pool, *codec.submission_arguments(submission))
        return codec.submitted(submission.id, answer)

    async def lease(self, pool: str, worker: WorkerIdentity, slots: int) -> Leased:
        """Take up to `slots` jobs, all the free slots that the worker has; with none there it counts as idle.

        An idle worker then calls `wait`. The token makes the call repeatable: a lost answer is given again.
        """
        answer = await self._run("lease", pool, worker.name, worker.node, slots, secrets.token_hex(16))
        return codec.leased(pool, answer)

    async def wait(self, pool: str, worker_name: str, timeout_s: float) -> list[Signal]:
        """Block until something is in the worker's inbox, at most `timeout_s`; an empty list is a timeout.

        Never longer than half a minute: an idle worker shows that it is alive by leasing again.
        """
        inbox = pool_key(pool, f"inbox:{worker_name}")
        timeout_s = min(max(timeout_s, _SHORTEST_WAIT_S), _LONGEST_WAIT_S)
        first = await self._connection.block("BLPOP", inbox, f"{timeout_s:.3f}", timeout_s=timeout_s)
        if first is None:
            return []
        more = await self._connection.command("LPOP", inbox, _INBOX_PAGE) or []
        return [codec.signal(message) for message in (first[1], *more)]

    async def heartbeat(
        self,
        pool: str,
        worker: WorkerIdentity,
        leases: Mapping[str, str],
    ) -> dict[str, Ask]:
        """Renew all leases (job id -> lease id) of a worker, and learn what is asked of each job."""
        pairs = [part for pair in leases.items() for part in pair]
        answer = await self._run("heartbeat", pool, worker.name, worker.node, *pairs)
        return {job_id: Ask(ask.decode()) for job_id, ask in zip(leases, answer, strict=True)}

    async def complete(
        self, pool: str, job_id: str, lease_id: str, result: bytes | None, ran_us: int
    ) -> bool:
        """End a job well. False: the lease was lost, nothing changed."""
        has_result = 0 if result is None else 1
        return bool(await self._run("complete", pool, job_id, lease_id, ran_us, has_result, result or b""))

    async def fail(self, pool: str, lease: Lease, failure: Failure) -> FailOutcome:
        """End an attempt badly; what follows is decided by `policy.retry` and applied if the lease holds."""
        if failure.cls is FailureClass.CANCELLED:
            held = await self.cancelled(pool, lease.job_id, lease.lease_id, failure.ran_us)
            return FailOutcome(FailKind.CANCELLED if held else FailKind.LOST)
        decision = decide(failure.cls, lease.counts, lease.retry, random.random())  # noqa: S311 - jitter only
        if isinstance(decision, Retry) and failure.retry_after_ms is not None:
            decision = Retry(max(0, failure.retry_after_ms))
        arguments = codec.failure_arguments(failure, decision)
        return codec.fail_outcome(await self._run("fail", pool, lease.job_id, lease.lease_id, *arguments))

    async def release(self, pool: str, job_id: str, lease_id: str, ran_us: int) -> bool:
        """Give a job back to the front of its tenant's queue, its attempt not counted. False: lost."""
        return bool(await self._run("release", pool, job_id, lease_id, ran_us))

    async def progress(self, pool: str, job_id: str, lease_id: str, fraction: float, message: str) -> bool:
        """Record how far a job is. False: lost."""
        return bool(await self._run("progress", pool, job_id, lease_id, f"{fraction:.6g}", message))

    async def cancel(self, pool: str, job_id: str, reason: str) -> CancelOutcome:
        """Cancel a job: a waiting one is gone at once, a running one's worker is told."""
        return CancelOutcome((await self._run("cancel", pool, job_id, reason)).decode())

    async def cancelled(self, pool: str, job_id: str, lease_id: str, ran_us: int) -> bool:
        """Acknowledge a cancel: the worker has stopped the job. False: lost."""
        return bool(await self._run("cancelled", pool, job_id, lease_id, ran_us))

    async def sweep(self, pool: str) -> Swept:
        """Do one bounded pass of what comes due by itself. Leases and heartbeats do small ones too."""
        expired, promoted, collected, more = (int(n) for n in await self._run("sweep", pool))
        return Swept(expired, promoted, collected, bool(more))

    # -- looking -------------------------------------------------------------------------------------------

    async def inspect_jobs(self, pool: str, ids: Iterable[str]) -> dict[str, JobState]:
        """Return the state of each job that is still known; missing ones are left out."""
        wanted = list(ids)
        found: dict[str, JobState] = {}
        for start in range(0, len(wanted), _INSPECT_PAGE):
            page = wanted[start : start + _INSPECT_PAGE]
            for job_id, answer in zip(page, await self._run("inspect_jobs", pool, *page), strict=True):
                if answer:
                    found[job_id] = codec.job_state(pool, job_id, answer)
        return found

    async def inspect_pool(self, pool: str) -> PoolState:
        """Return a pool's counts, workers and tenants, whatever the number of its jobs."""
        counts, workers = await self._run("inspect_pool", pool)
        tenants: dict[str, TenantState] = {}
        cursor = b"0"
        while True:
            cursor, page = await self._run("inspect_tenants", pool, cursor, _SCAN_PAGE)
            tenants.update((tenant.name, tenant) for tenant in map(codec.tenant_state, page))
            if cursor == b"0":
                return codec.pool_state(counts, workers, [tenants[name] for name in sorted(tenants)])

    async def live_objects(self, pool: str, cursor: int = 0) -> tuple[int, list[tuple[str, str]]]:
        """Return a page of unfinished jobs born from objects as (job id, origin), and the next cursor.

        Start with 0 and stop when 0 comes back; a job may come twice.
        """
        following, page = await self._run("live_objects", pool, cursor, _SCAN_PAGE)
        texts = [text.decode() for text in page]
        return int(following), list(zip(texts[::2], texts[1::2], strict=True))

    async def events(self, pool: str, after: Cursor, block_ms: int) -> EventBatch:
        """Return the events after a cursor, waiting up to `block_ms` for the first."""
        return await read_events(self._connection, pool, after, block_ms)

    async def _run(self, script: str, pool: str, *arguments: str | bytes | float) -> Any:
        return await self._connection.run(script, pool_key(pool, "meta"), *arguments)
