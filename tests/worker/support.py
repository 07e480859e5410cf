"""What the worker's tests share: jobs, workers in this process and in their own, and waiting."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fairway.api.body import JobBody
from fairway.api.ids import new_job_id
from fairway.api.phases import JobPhase
from fairway.queue import JobState, Queue, RetryRules, Submission
from fairway_worker.builtin import worker as builtin
from fairway_worker.runtime import Runtime
from fairway_worker.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    from fairway_worker import Worker

T = TypeVar("T")
TENANT = "team"
LEASE_MS = 30_000
QUICK = RetryRules(max_attempts=2, backoff_ms=(20,), jitter=0.0)
WAIT_S = 30.0


@dataclass(frozen=True)
class Bench:
    """A pool in a real queue, and what tests do with it."""

    queue: Queue
    url: str
    pool: str

    async def submit(
        self,
        kind: str = "command",
        *,
        command: list[str] | None = None,
        payload: dict[str, Any] | None = None,
        timeout_ms: int = 60_000,
        cancel_grace_ms: int = 60_000,
    ) -> str:
        """Put a job into the pool, and return its id."""
        body = JobBody(
            type=kind,
            command=command,
            payload=payload or {},
            timeout_ms=timeout_ms,
            cancel_grace_ms=cancel_grace_ms,
            name=f"{TENANT}/some-job",
        )
        job_id = new_job_id(self.pool)
        submission = Submission(
            id=job_id,
            tenant=TENANT,
            account="alice",
            type=kind,
            body=body.to_bytes(),
            estimate_us=1_000_000,
            timeout_ms=timeout_ms,
            retry=QUICK,
        )
        await self.queue.submit(self.pool, submission)
        return job_id

    async def shell(self, script: str, **options: Any) -> str:
        """The same, for a shell script."""
        return await self.submit(command=["sh", "-c", script], **options)

    async def state(self, job_id: str) -> JobState:
        """Return where a job stands."""
        return (await self.queue.inspect_jobs(self.pool, [job_id]))[job_id]

    async def reaches(self, job_id: str, phase: JobPhase) -> JobState:
        """Wait for a phase; any other end of the job is a failure at once."""

        async def there() -> JobState | None:
            state = await self.state(job_id)
            if state.phase is not phase:
                assert not state.phase.finished, f"{state} instead of {phase}"
                return None
            return state

        return await until(there, f"{job_id} to be {phase}")

    async def fails(self, job_id: str) -> JobState:
        """Wait for the dead letters."""
        return await self.reaches(job_id, JobPhase.DEAD_LETTERED)

    async def succeeds(self, job_id: str) -> Any:
        """Wait for success, and return the result."""
        result = (await self.reaches(job_id, JobPhase.SUCCEEDED)).result
        return None if result is None else json.loads(result)

    async def starts(self, job_id: str) -> None:
        """Wait until a worker has it."""
        await self.reaches(job_id, JobPhase.RUNNING)

    def settings(self, **changes: Any) -> Settings:
        """Return the settings of a worker for this pool."""
        return Settings(pool=self.pool, redis_url=self.url, health_port=0, **changes)

    @asynccontextmanager
    async def worker(self, app: Worker = builtin, **changes: Any) -> AsyncIterator[Runtime]:
        """A worker in this process, with its own connection; drained at the end, at once if need be."""
        async with Queue.connect(self.url) as queue:
            runtime = Runtime(app, self.settings(**changes), queue)
            task = asyncio.create_task(runtime.run())
            try:
                yield runtime
            finally:
                runtime.drain()
                runtime.drain()
                await task

    def environment(self, **changes: str) -> dict[str, str]:
        """Return the environment of a worker process for this pool."""
        own = {
            "FAIRWAY_POOL": self.pool,
            "FAIRWAY_REDIS_URL": self.url,
            "FAIRWAY_HEALTH_PORT": "0",
            "FAIRWAY_WORKER_NAME": "test-worker",
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }
        return os.environ | own | changes

    @contextmanager
    def process(self, log: Path, *handlers: str, **changes: str) -> Iterator[subprocess.Popen[bytes]]:
        """A worker in a process of its own, its log in a file; killed at the end if it is still there."""
        with log.open("wb") as output:
            worker = subprocess.Popen(
                worker_command("run", *handlers),
                env=self.environment(TMPDIR=str(log.parent), **changes),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            try:
                yield worker
            finally:
                worker.kill()
                worker.wait()


def worker_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "fairway_worker.cli", *arguments]


def log_lines(log: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


async def until(look: Callable[[], Awaitable[T | None]], what: str, timeout_s: float = WAIT_S) -> T:
    """Return the first true thing that `look` sees."""
    try:
        async with asyncio.timeout(timeout_s):
            while True:
                if seen := await look():
                    return seen
                await asyncio.sleep(0.01)
    except TimeoutError:
        raise AssertionError(f"waited {timeout_s:g} s for {what}") from None


async def until_true(look: Callable[[], bool], what: str, timeout_s: float = WAIT_S) -> None:
    """Wait until `look` says so."""

    async def seen() -> bool:
        return look()

    await until(seen, what, timeout_s)


def content(path: Path) -> str:
    """Return what a file holds, nothing while it is not there."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def process_lives(pid: int) -> bool:
    """Tell whether a process runs; one that ended and only waits to be reaped does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}
