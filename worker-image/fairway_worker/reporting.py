"""Tells the queue how an attempt ended."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, assert_never

from fairway.queue import FailKind, Failure, QueueError
from fairway_worker.link import UNKNOWN_POOL
from fairway_worker.outcome import Failed, Outcome, Stopped, StopReason, Succeeded

if TYPE_CHECKING:
    import asyncio

    from fairway.queue import FailOutcome, Lease, Queue
    from fairway_worker.link import Link

_log = logging.getLogger(__name__)


class Reporter:
    """Reports ends to one queue; an absent Redis only makes it later."""

    def __init__(self, queue: Queue, link: Link, until: asyncio.Event) -> None:
        self._queue = queue
        self._link = link
        self._until = until

    async def report(self, lease: Lease, outcome: Outcome, ran_us: int) -> None:
        """Tell the queue, and the log.

        Raises:
            GaveUp: when Redis stayed away until the worker gave up waiting.
        """
        try:
            held = await self._tell(lease, outcome, ran_us)
        except QueueError as error:
            if error.code != UNKNOWN_POOL:
                raise
            held = False  # the pool is gone, and its jobs with it
        if not held:
            _log.warning("the lease was lost; what the job did here is discarded")

    async def _tell(self, lease: Lease, outcome: Outcome, ran_us: int) -> bool:
        """Return whether the lease still held."""
        queue, pool, job, key = self._queue, lease.pool, lease.job_id, lease.lease_id
        seconds = ran_us / 1_000_000
        match outcome:
            case Succeeded(result):
                held = await self._link.call(
                    lambda: queue.complete(pool, job, key, result, ran_us), until=self._until
                )
                return _told(held, f"completed after {seconds:.3f} s")
            case Failed():
                return await self._tell_failure(lease, outcome, ran_us)
            case Stopped(StopReason.LOST):
                return False
            case Stopped(StopReason.RELEASE):
                held = await self._link.call(lambda: queue.release(pool, job, key, ran_us), until=self._until)
                return _told(held, f"released after {seconds:.3f} s")
            case Stopped():
                held = await self._link.call(
                    lambda: queue.cancelled(pool, job, key, ran_us), until=self._until
                )
                return _told(held, f"cancelled after {seconds:.3f} s")
            case _:
                assert_never(outcome)

    async def _tell_failure(self, lease: Lease, failed: Failed, ran_us: int) -> bool:
        failure = Failure(failed.cls, failed.error, ran_us, failed.retry_after_ms)
        answer = await self._link.call(
            lambda: self._queue.fail(lease.pool, lease, failure), until=self._until
        )
        if answer.lost:
            return False
        _log.warning("failed (%s), %s: %s", failed.cls, _what_follows(answer), failed.error)
        return True


def _told(held: bool, sentence: str) -> bool:
    if held:
        _log.info("%s", sentence)
    return held


def _what_follows(answer: FailOutcome) -> str:
    match answer.kind:
        case FailKind.RETRY:
            return "to be tried again"
        case FailKind.BURIED:
            return f"dead-lettered: {answer.reason}"
        case _:
            return str(answer.kind)
