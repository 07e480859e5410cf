"""The rooms beside the operator's, in memory: an API server and a queue that do as they are told."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fairway.api.phases import JobPhase
from fairway.queue import CancelOutcome, JobState, QueueError, Submitted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from fairway.kube.client import Identity
    from fairway.queue import Submission

_PATIENCE_S = 5.0


async def until(condition: Callable[[], object]) -> None:
    """Wait for a condition; a test that waits in vain fails."""
    async with asyncio.timeout(_PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - what is waited for sets no event
            await asyncio.sleep(0.005)


def state_of(submission: Submission, phase: JobPhase = JobPhase.QUEUED, **changes: Any) -> JobState:
    """Return what a queue knows of a job that was just submitted."""
    known: dict[str, Any] = {
        "id": submission.id,
        "pool": submission.id.split("-", 1)[1],
        "tenant": submission.tenant,
        "account": submission.account,
        "type": submission.type,
        "phase": phase,
        "position": 1 if phase is JobPhase.QUEUED else None,
        "attempts": [],
        "result": None,
        "created_at_ms": 0,
        "started_at_ms": None,
        "finished_at_ms": None,
        "slot_us": 0,
        "progress": None,
        "message": "",
        "origin": submission.origin,
        "cancel_requested": False,
        **changes,
    }
    return JobState(**known)


@dataclass
class MemoryQueue:
    """A queue of waiting jobs. `errors` are raised by the next calls, one each."""

    jobs: dict[str, JobState] = field(default_factory=dict)
    submissions: list[Submission] = field(default_factory=list)
    cancels: list[tuple[str, str]] = field(default_factory=list)
    errors: list[QueueError] = field(default_factory=list)

    async def submit(self, pool: str, submission: Submission) -> Submitted:
        """Take a job once."""
        await self._answer(pool)
        known = submission.id in self.jobs
        if not known:
            self.submissions.append(submission)
            self.jobs[submission.id] = state_of(submission)
        return Submitted(submission.id, JobPhase.QUEUED, 1, known)

    async def cancel(self, pool: str, job_id: str, reason: str) -> CancelOutcome:
        """Drop a job."""
        await self._answer(pool)
        self.cancels.append((job_id, reason))
        return CancelOutcome.CANCELLED if self.jobs.pop(job_id, None) else CancelOutcome.UNKNOWN

    async def inspect_jobs(self, pool: str, ids: Iterable[str]) -> dict[str, JobState]:
        """Return what is there."""
        await self._answer(pool)
        return {job_id: self.jobs[job_id] for job_id in ids if job_id in self.jobs}

    async def _answer(self, _pool: str) -> None:
        await asyncio.sleep(0)
        if self.errors:
            raise self.errors.pop(0)


@dataclass
class MemoryKube:
    """An API server with Job objects; each write is kept in `writes`."""

    objects: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    writes: list[dict[str, Any]] = field(default_factory=list)
    version: int = 1

    def create(self, name: str, spec: Mapping[str, Any], uid: str = "", **status: Any) -> dict[str, Any]:
        """Return a new Job object in namespace team-a."""
        self.version += 1
        made = {
            "metadata": {
                "name": name,
                "namespace": "team-a",
                "uid": uid or f"uid-of-{name}",
                "generation": 1,
                "resourceVersion": str(self.version),
                "creationTimestamp": "2027-01-15T08:00:00Z",
            },
            "spec": dict(spec),
            "status": status,
        }
        self.objects[("team-a", name)] = made
        return made

    async def get(self, _plural: str, name: str, namespace: str | None = None) -> dict[str, Any] | None:
        """Return an object."""
        await asyncio.sleep(0)
        return self.objects.get((namespace or "", name))

    async def replace_status(
        self, _plural: str, found: Identity, status: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """Write a status, if the uid is right."""
        await asyncio.sleep(0)
        live = self.objects.get((found.namespace or "", found.name))
        if live is None or live["metadata"]["uid"] != found.uid:
            return None
        self.version += 1
        metadata = {**live["metadata"], "resourceVersion": str(self.version)}
        written = {**live, "metadata": metadata, "status": dict(status)}
        self.objects[(found.namespace or "", found.name)] = written
        self.writes.append(dict(status))
        return written
