"""What the operator knows of every Job object, kept small: a finished one is little more than its name."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairway.api.ids import object_job_id, pool_of
from fairway.api.phases import ConditionType, JobPhase
from fairway.kube.client import Identity
from fairway.kube.objects import holds, parse_timestamp, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FINISHED = frozenset(str(phase) for phase in JobPhase if phase.finished)


@dataclass(slots=True)
class JobRecord:
    """One Job object."""

    namespace: str
    name: str
    uid: str
    created_ms: int
    version: int = 0
    generation: int = 0
    cancel: bool = False
    spec: Mapping[str, Any] | None = None
    """Kept until the queue has the job; read again from the API server where it is needed later."""
    status: Mapping[str, Any] = field(default_factory=dict)
    job_id: str | None = None
    notes: str = ""
    """What of the spec does not act, for the message of the condition Admitted."""
    deleted: bool = False
    submitted: bool = False
    """Whether the queue was seen to have the job."""
    cancel_sent: bool = False
    """Whether the queue was told to cancel it."""
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while the status is written: two patches of one object are never under way."""
    waiting_since_ms: int | None = None
    """When the job was first found to have no pool or no tenant."""

    @property
    def finished(self) -> bool:
        """Whether the status says that the job is over; then nothing about it changes any more."""
        return self.status.get("phase") in _FINISHED

    @property
    def admitted(self) -> bool:
        """Whether a queue had the job at some time, as its status tells."""
        return holds(self.status, ConditionType.ADMITTED)

    @property
    def pool(self) -> str | None:
        """The pool of the job's id."""
        return pool_of(self.job_id) if self.job_id else None

    @property
    def identity(self) -> Identity:
        """Which object it is."""
        return Identity(self.name, self.uid, self.namespace)

    @property
    def origin(self) -> str:
        """Which object it is, as the queue remembers it."""
        return f"{self.namespace}/{self.name}/{self.uid}"

    def id_in(self, pool: str) -> str:
        """Return the job's id in a pool."""
        return object_job_id(self.namespace, self.name, self.uid, self.created_ms, pool)


class Jobs:
    """All Job objects, by uid and by job id."""

    def __init__(self) -> None:
        self._by_uid: dict[str, JobRecord] = {}
        self._by_job_id: dict[str, JobRecord] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._by_uid)

    def get(self, uid: str) -> JobRecord | None:
        """Return the record of an object."""
        return self._by_uid.get(uid)

    def of(self, job_id: str) -> JobRecord | None:
        """Return the record of the object behind a job of the queue."""
        return self._by_job_id.get(job_id)

    def unfinished(self) -> Iterator[JobRecord]:
        """Yield the records of jobs that are not over; the collection may change meanwhile."""
        return iter([record for record in self._by_uid.values() if not record.finished])

    def observe(self, found: Mapping[str, Any], *, deleted: bool = False) -> JobRecord:
        """Take in an object as the API server showed it, unless something newer is known."""
        metadata = found["metadata"]
        record = self._by_uid.get(metadata["uid"])
        if record is None:
            created = parse_timestamp(metadata["creationTimestamp"])
            record = JobRecord(metadata["namespace"], metadata["name"], metadata["uid"], created)
            self._by_uid[record.uid] = record
        version = version_of(metadata)
        if version >= record.version:
            record.version = version
            self._take(record, found)
        record.deleted = record.deleted or deleted
        return record

    def assign(self, record: JobRecord, job_id: str) -> None:
        """Tie a job of the queue to its object."""
        record.job_id = job_id
        self._by_job_id[job_id] = record

    def forget(self, record: JobRecord) -> None:
        """Drop an object that is gone."""
        self._by_uid.pop(record.uid, None)
        if record.job_id:
            self._by_job_id.pop(record.job_id, None)

    def _take(self, record: JobRecord, found: Mapping[str, Any]) -> None:
        spec = found.get("spec") or {}
        record.generation = found["metadata"].get("generation", 0)
        record.cancel = bool(spec.get("cancel"))
        record.status = found.get("status") or {}
        known = record.job_id or record.status.get("jobID")
        if known is None and spec.get("pool"):
            known = record.id_in(spec["pool"])
        if known is not None:
            self.assign(record, known)
        record.spec = None if record.submitted or record.finished else spec
        if record.finished:
            record.status = {
                name: record.status[name] for name in ("phase", "jobID") if name in record.status
            }
