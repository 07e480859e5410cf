"""Brings Job objects into the queue, and takes them out again when they are cancelled or deleted.

One key per Job object: what is to be done is decided from its latest state when its turn comes, so an
admission and a cancel of the same Job never overtake each other, and a Job deleted before its turn is never
submitted.
"""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fairway.api import names
from fairway.api.codes import Refusal, RefusalCode, refuse
from fairway.api.job import JobSpec
from fairway.control.job_status import cancelled_status, recorded_status, refused_status
from fairway.control.state import sentence
from fairway.control.submission import Placement, build_submission, check, ignored_fields
from fairway.control.workqueue import TryAgain, WorkQueue
from fairway.policy.routing import charge, route
from fairway.queue import CancelOutcome, QueueError, QueueUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from fairway.control.job_status import Writing
    from fairway.control.jobs import JobRecord, Jobs
    from fairway.control.settings import AdmissionSettings
    from fairway.control.state import Cluster
    from fairway.control.statuses import Statuses
    from fairway.kube.client import Kube
    from fairway.queue import Queue

logger = logging.getLogger(__name__)

_WORKERS = 16
_FAIL_AT_ONCE = frozenset({RefusalCode.TENANT_FORBIDDEN, RefusalCode.ACCOUNT_FORBIDDEN})
"""Waiting would only hide the mistake: nobody is about to create what is missing."""
_WAIT_ON = frozenset({RefusalCode.POOL_NOT_READY, RefusalCode.STORE_FULL, RefusalCode.QUEUE_UNAVAILABLE})
"""Somebody else has to mend these; the job waits however long that takes."""
_NOT_CONFIGURED = frozenset({"UNKNOWN_POOL", "UNKNOWN_TENANT", "POOL_BEING_REMOVED"})
"""The queue does not have what the cluster has: it is configured again, and the job is not refused."""


class Admission:
    """Decides on each Job object."""

    def __init__(
        self, kube: Kube, queue: Queue, cluster: Cluster, statuses: Statuses, settings: AdmissionSettings
    ) -> None:
        self._kube = kube
        self._queue = queue
        self._cluster = cluster
        self._statuses = statuses
        self._grace_ms = settings.unknown_grace_ms
        self._jobs: Jobs = statuses.jobs
        self.work: WorkQueue[str] = WorkQueue("admitting a Job", self._decide, _WORKERS)
        self.unconfigured: Callable[[str], None] = lambda _: None
        """Told of a pool that the cluster has and the queue does not, or not completely."""
        statuses.lost = self.resubmit

    def observe(self, found: Mapping[str, Any], *, deleted: bool = False) -> None:
        """Take in a Job object as the API server showed it."""
        record = self._jobs.observe(found, deleted=deleted)
        if deleted and record.finished:
            self._jobs.forget(record)
        elif deleted or not (record.finished or (record.submitted and record.cancel == record.cancel_sent)):
            self.work.add(record.uid)

    def reconsider(self, pool: str | None = None) -> None:
        """Look again at the jobs that no queue has, after pools or tenants changed; or at all of one pool."""
        for record in self._jobs.unfinished():
            if not record.submitted or (pool is not None and record.pool == pool):
                self.work.add(record.uid)

    def resubmit(self, record: JobRecord) -> None:
        """Have a job submitted again that its queue does not have."""
        record.submitted = record.cancel_sent = False
        self.work.add(record.uid)

    async def _decide(self, uid: str) -> None:
        record = self._jobs.get(uid)
        if record is None:
            return
        if record.deleted:
            await self._take_out(record)
        elif record.finished:
            return
        elif record.admitted and record.pool not in self._cluster.pools:
            told = f"The JobPool {record.pool} was deleted before the job was done."
            await self._statuses.put(record, cancelled_status("PoolDeleted", told, *self._before(record)))
        elif record.cancel and not record.cancel_sent:
            await self._cancel(record)
        elif not record.submitted:
            await self._admit(record)

    # -- out -----------------------------------------------------------------------------------------------

    async def _take_out(self, record: JobRecord) -> None:
        if record.job_id and record.pool and not record.finished:
            try:
                await self._queue.cancel(record.pool, record.job_id, "the Job object was deleted")
            except QueueError as error:
                if error.code != "UNKNOWN_POOL":
                    raise
        self._jobs.forget(record)

    async def _cancel(self, record: JobRecord) -> None:
        outcome = CancelOutcome.UNKNOWN
        if record.job_id and record.pool and record.pool in self._cluster.pools:
            with self._configured(record.pool):
                outcome = await self._queue.cancel(record.pool, record.job_id, "spec.cancel is true")
        if outcome is CancelOutcome.UNKNOWN:
            told = "Cancelled before a queue had it: spec.cancel is true."
            await self._statuses.put(record, cancelled_status("Cancelled", told, *self._before(record)))
            return
        record.cancel_sent = record.submitted = True
        self._statuses.refresh(record, at_once=True)

    # -- in ------------------------------------------------------------------------------------------------

    async def _admit(self, record: JobRecord) -> None:
        if record.status.get("jobID") and await self._has(record):
            return
        raw = await self._spec(record)
        if raw is None:
            return
        try:
            spec = JobSpec.model_validate(raw)
        except ValidationError as error:
            await self._refuse(record, refuse(RefusalCode.INVALID_JOB, reason=sentence(error)))
            return
        placement = self._place(record, spec)
        if isinstance(placement, Refusal):
            await self._refuse(record, placement)
            return
        await self._submit(record, spec, placement)

    async def _has(self, record: JobRecord) -> bool:
        """Tell whether the queue has the job already, as after a restart of the operator."""
        if record.pool is None or record.job_id is None or record.pool not in self._cluster.pools:
            return False
        with self._configured(record.pool):
            found = await self._queue.inspect_jobs(record.pool, [record.job_id])
        if record.job_id not in found:
            return False
        self._submitted(record)
        return True

    async def _spec(self, record: JobRecord) -> Mapping[str, Any] | None:
        """Return the spec; None: the object is gone."""
        if record.spec is not None:
            return record.spec
        live = await self._kube.get(names.JOBS, record.name, record.namespace)
        if live is None or live["metadata"]["uid"] != record.uid:
            record.deleted = True
            self.work.add(record.uid)
            return None
        found: Mapping[str, Any] = live.get("spec") or {}
        return found

    def _place(self, record: JobRecord, spec: JobSpec) -> Placement | Refusal:
        if refusal := check(spec):
            return refusal
        # A route that was written down stays: the queue of that pool may have the job already.
        declared = record.pool if record.status.get("jobID") else spec.pool
        routed = route(spec.model_copy(update={"pool": declared}), self._cluster.pool_offers())
        if isinstance(routed, Refusal):
            return routed
        view = self._cluster.pools[routed]
        if view.effective is None:
            return refuse(RefusalCode.POOL_NOT_READY, pool=routed, reason=view.problem)
        charged = charge(spec, record.namespace, self._cluster.tenant_offers())
        return charged if isinstance(charged, Refusal) else Placement(routed, charged)

    async def _submit(self, record: JobRecord, spec: JobSpec, placement: Placement) -> None:
        pool = self._cluster.pools[placement.pool].effective
        if pool is None:
            raise TryAgain(f"the JobPool {placement.pool} changed meanwhile")
        job_id = record.id_in(placement.pool)
        self._jobs.assign(record, job_id)
        # Where the job goes is written down before it goes there: it must never be routed anew.
        if spec.pool is None and record.status.get("jobID") != job_id:
            recorded = await self._statuses.put(record, recorded_status(job_id, *self._before(record)))
            if not recorded:
                return
        if ignored := ignored_fields(spec):
            record.notes = f"Not acting yet, and ignored: {', '.join(f'spec.{each}' for each in ignored)}."
        submission = build_submission(record, job_id, spec, placement, pool)
        try:
            with self._configured(placement.pool):
                await self._queue.submit(placement.pool, submission)
        except QueueError as error:
            await self._not_now(record, error)
            raise
        self._submitted(record)

    def _submitted(self, record: JobRecord) -> None:
        record.submitted = True
        record.spec = None
        record.waiting_since_ms = None
        self._statuses.refresh(record)
        if record.cancel:
            self.work.add(record.uid)

    # -- refused -------------------------------------------------------------------------------------------

    async def _refuse(self, record: JobRecord, refusal: Refusal) -> None:
        now_ms = round(time.time() * 1000)
        if record.waiting_since_ms is None:
            record.waiting_since_ms = now_ms
        left_ms = record.waiting_since_ms + self._grace_ms - now_ms
        waits = refusal.code in _WAIT_ON
        for_good = not waits and (not refusal.temporary or refusal.code in _FAIL_AT_ONCE or left_ms <= 0)
        status = refused_status(refusal, *self._before(record), for_good=for_good)
        if await self._statuses.put(record, status) and not for_good and not waits:
            self.work.add(record.uid, left_ms / 1000)
        if for_good:
            logger.info("a Job was refused: %s", refusal.sentence, extra={"job": record.origin})

    async def _not_now(self, record: JobRecord, error: QueueError) -> None:
        """Tell on the Job that the queue cannot take it now; it is tried again."""
        if record.admitted:
            return
        if isinstance(error, QueueUnavailable):
            refusal = refuse(RefusalCode.QUEUE_UNAVAILABLE)
        elif error.code == RefusalCode.STORE_FULL:
            refusal = Refusal(RefusalCode.STORE_FULL, str(error))
        else:
            return
        await self._statuses.put(record, refused_status(refusal, *self._before(record), for_good=False))

    def _before(self, record: JobRecord) -> tuple[Mapping[str, Any], Writing]:
        return record.status, self._statuses.writing(record)

    @contextmanager
    def _configured(self, pool: str) -> Iterator[None]:
        """Have the queue configured, and the call repeated, where it does not know what the cluster has."""
        try:
            yield
        except QueueError as error:
            if error.code not in _NOT_CONFIGURED:
                raise
            self.unconfigured(pool)
            raise TryAgain(f"the queue is not ready for pool {pool}: {error}") from error
