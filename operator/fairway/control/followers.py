"""Follows the events of every pool's queue and has the statuses of the Jobs behind them written."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from fairway.api.phases import JobPhase
from fairway.control.workqueue import Backoff
from fairway.queue import Cursor, QueueError

if TYPE_CHECKING:
    from collections.abc import Callable

    from fairway.control.statuses import Statuses
    from fairway.queue import EventBatch, Queue

logger = logging.getLogger(__name__)

_BLOCK_MS = 5000


class Followers:
    """One task per pool."""

    def __init__(self, queue: Queue, statuses: Statuses) -> None:
        self._queue = queue
        self._statuses = statuses
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.unconfigured: Callable[[str], None] = lambda _: None
        """Told of a pool that the queue does not know."""

    def ensure(self, pool: str) -> None:
        """Follow a pool, if it is not followed already."""
        task = self._tasks.get(pool)
        if task is None or task.done():
            self._tasks[pool] = asyncio.create_task(self._follow(pool), name=f"follower of {pool}")

    def drop(self, pool: str) -> None:
        """Follow a pool no longer."""
        if task := self._tasks.pop(pool, None):
            task.cancel()

    async def stop(self) -> None:
        """Follow nothing any more."""
        tasks = list(self._tasks.values())
        for pool in list(self._tasks):
            self.drop(pool)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _follow(self, pool: str) -> None:
        cursor, missed, failures, backoff = Cursor.from_now(), True, 0, Backoff(longest_s=5.0)
        while True:
            try:
                batch = await self._queue.events(pool, cursor, _BLOCK_MS)
            except QueueError as error:
                failures += 1
                missed = True
                if failures == 1:
                    logger.warning("events of a pool cannot be read: %s", error, extra={"pool": pool})
                if error.code == "UNKNOWN_POOL":
                    cursor = Cursor.from_now()
                    self.unconfigured(pool)
                await asyncio.sleep(backoff.pause(failures))
                continue
            failures = 0
            cursor = batch.cursor
            if missed or batch.gap:
                # The cursor is past what was missed already, so nothing falls between it and this look.
                self._look_at_all(pool)
                missed = False
            self._pass_on(batch)

    def _look_at_all(self, pool: str) -> None:
        for record in self._statuses.jobs.unfinished():
            if record.submitted and record.pool == pool:
                self._statuses.refresh(record)

    def _pass_on(self, batch: EventBatch) -> None:
        for event in batch.events:
            record = self._statuses.jobs.of(event.job_id)
            if record is not None:
                phase = event.data.get("phase", "")
                over = phase in set(JobPhase) and JobPhase(phase).finished
                self._statuses.refresh(record, at_once=over)
