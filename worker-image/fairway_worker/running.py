"""One job's run: started, given its time, asked to end when it must, and judged."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Final

from fairway.api.phases import FailureClass
from fairway_worker.outcome import Failed, Outcome, Stopped, StopReason, Succeeded, failed

if TYPE_CHECKING:
    from fairway.queue import Lease
    from fairway_worker.execution import Execution

STOP_GRACE_S: Final = 5.0
"""How long a job that timed out, or whose worker has to go, may take to end by itself."""

KILL_GRACE_S: Final = 5.0
"""How long after a kill a job may still be there before it counts as one that cannot be ended."""

_log = logging.getLogger(__name__)


class JobRun:
    """A leased job in this worker, from its lease until the queue knows its end."""

    def __init__(
        self, lease: Lease, execution: Execution, *, name: str = "", cancel_grace_s: float = 0.0
    ) -> None:
        self.lease = lease
        self.name = name
        """`namespace/name` of the Job object, if it was born from one."""
        self.cancel_grace_s = cancel_grace_s
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when the job runs no more, before the queue is told."""
        self.stuck = False
        """Whether it goes on although it was killed: only the end of the process can end it."""
        self._execution = execution
        self._leased = time.monotonic()
        self._reason: StopReason | None = None
        self._kill_at = float("inf")
        self._changed = asyncio.Event()

    @property
    def ran_us(self) -> int:
        """For how long this worker has had the job."""
        return round((time.monotonic() - self._leased) * 1_000_000)

    @property
    def lost(self) -> bool:
        """Whether the lease is known to be somebody else's, or nobody's."""
        return self._reason is StopReason.LOST

    def stop(self, reason: StopReason, grace_s: float) -> None:
        """End the run: it is asked to, and killed after the grace. A later call may only make it sooner."""
        self._reason = reason if self._reason is None else max(self._reason, reason)
        self._kill_at = min(self._kill_at, time.monotonic() + grace_s)
        self._changed.set()

    async def outcome(self) -> Outcome:
        """Run the job and return how it ended. One that was stopped before its start is not started."""
        try:
            return await self._outcome()
        finally:
            self.ended.set_result(None)

    async def _outcome(self) -> Outcome:
        if self._reason is not None:
            return Stopped(self._reason)
        task = asyncio.create_task(self._execution.run())
        try:
            await self._until_over(task)
            asked = not task.done()
            if asked:
                await self._end(task)
        finally:
            if not task.done():
                self._execution.kill()
        if asked and self._reason is not None:
            _swallow(task)
            return self._stopped(self._reason)
        return _judge(task)

    async def _until_over(self, task: asyncio.Task[bytes | None]) -> None:
        """Return when the job has ended or has to be ended."""
        timeout_ms = self.lease.timeout_ms
        timeout_at = time.monotonic() + timeout_ms / 1000 if timeout_ms > 0 else float("inf")
        while not task.done() and self._reason is None:
            if time.monotonic() >= timeout_at:
                self.stop(StopReason.TIMEOUT, STOP_GRACE_S)
            else:
                await self._pause(task, timeout_at)

    async def _end(self, task: asyncio.Task[bytes | None]) -> None:
        self._execution.ask_to_end()
        while not task.done() and time.monotonic() < self._kill_at:
            await self._pause(task, self._kill_at)
        if task.done():
            return
        self._execution.kill()
        await asyncio.wait({task}, timeout=KILL_GRACE_S)
        self.stuck = not task.done()

    async def _pause(self, task: asyncio.Task[bytes | None], until: float) -> None:
        """Wait for the job's end, another `stop`, or the time."""
        self._changed.clear()
        changed = asyncio.ensure_future(self._changed.wait())
        seconds = None if until == float("inf") else max(0.0, until - time.monotonic())
        try:
            await asyncio.wait({task, changed}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            changed.cancel()

    def _stopped(self, reason: StopReason) -> Outcome:
        if reason is not StopReason.TIMEOUT:
            return Stopped(reason)
        words = self._execution.last_words()
        said = f"; it last said:\n{words}" if words else ""
        sentence = f"it ran longer than its timeout of {self.lease.timeout_ms / 1000:g} s{said}"
        return Failed(FailureClass.TIMEOUT, sentence)


def _judge(task: asyncio.Task[bytes | None]) -> Outcome:
    try:
        return Succeeded(task.result())
    except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - each is some failure of the job
        return failed(error)


def _swallow(task: asyncio.Task[bytes | None]) -> None:
    """Take note of how a stopped job ended, which nobody asks for, so that asyncio does not complain."""

    def look(ended: asyncio.Task[bytes | None]) -> None:
        if not ended.cancelled() and (error := ended.exception()) is not None:
            _log.debug("a stopped job ended with %s: %s", type(error).__name__, error)

    task.add_done_callback(look)
