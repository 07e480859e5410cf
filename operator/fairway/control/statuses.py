"""Writes the statuses of Jobs: a change waits up to a second for the next, the last state wins.

A job that starts and ends within the second costs one write. The end of a job is written at once.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Any

from fairway.api import names
from fairway.control.job_status import Writing, job_status
from fairway.control.workqueue import WorkQueue
from fairway.queue import QueueError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairway.control.jobs import JobRecord, Jobs
    from fairway.kube.client import Kube
    from fairway.queue import Queue

logger = logging.getLogger(__name__)

_COALESCE_S = 1.0
_WRITERS = 32


class Statuses:
    """The only writer of Jobs' statuses."""

    def __init__(self, kube: Kube, queue: Queue, jobs: Jobs, coalesce_s: float = _COALESCE_S) -> None:
        self._coalesce_s = coalesce_s
        self._kube = kube
        self._queue = queue
        self.jobs = jobs
        self.work: WorkQueue[str] = WorkQueue("writing a Job's status", self._refresh, _WRITERS)
        self.lost: Callable[[JobRecord], None] = lambda _: None
        """Told of a job that its queue does not have, or no longer."""

    def refresh(self, record: JobRecord, *, at_once: bool = False) -> None:
        """Have the status written that the queue's state of the job asks for."""
        if not record.finished:
            self.work.add(record.uid, 0.0 if at_once else self._coalesce_s)

    async def put(self, record: JobRecord, status: Mapping[str, Any]) -> bool:
        """Write a status now; False: the object is gone. The status of a finished job is left as it is."""
        async with record.writing:
            return await self._put(record, status)

    def writing(self, record: JobRecord) -> Writing:
        """Return what every status of a job says."""
        return Writing(record.generation, round(time.time() * 1000), record.notes)

    async def _refresh(self, uid: str) -> None:
        record = self.jobs.get(uid)
        if record is None or record.deleted:
            return
        async with record.writing:
            # Read inside, so that of two writes the later one has the later state.
            if record.finished or record.job_id is None or record.pool is None:
                return
            try:
                found = await self._queue.inspect_jobs(record.pool, [record.job_id])
            except QueueError as error:
                if error.code != "UNKNOWN_POOL":
                    raise
                found = {}
            state = found.get(record.job_id)
            if state is None:
                self.lost(record)
                return
            await self._put(record, job_status(state, record.status, self.writing(record)))

    async def _put(self, record: JobRecord, status: Mapping[str, Any]) -> bool:
        if record.finished or dict(status) == dict(record.status):
            return True
        answer = await self._kube.replace_status(names.JOBS, record.identity, status)
        if answer is None:
            record.deleted = True
            self.lost(record)
            return False
        self.jobs.observe(answer)
        logger.debug("a Job is %s", status.get("phase"), extra={"job": record.origin, "id": record.job_id})
        return True
