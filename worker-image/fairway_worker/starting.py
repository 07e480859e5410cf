"""Makes a run of a lease: reads the job's body and chooses what runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from fairway.api.body import JobBody
from fairway_worker.commands import CommandExecution
from fairway_worker.context import Context, JobInfo
from fairway_worker.errors import Permanent
from fairway_worker.execution import Execution, Refused
from fairway_worker.handlers import HandlerExecution
from fairway_worker.outcome import StopReason
from fairway_worker.progress import ProgressReporter
from fairway_worker.running import JobRun

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairway.queue import Lease, Queue
    from fairway_worker.app import Worker


class Starter:
    """Knows the handlers and the environment that jobs of this worker run with."""

    def __init__(self, app: Worker, queue: Queue, environment: Mapping[str, str]) -> None:
        self._app = app
        self._queue = queue
        self._environment = environment

    def prepare(self, lease: Lease) -> JobRun:
        """Return a run that is not started yet; what cannot be run becomes one that fails and says why."""
        try:
            body = JobBody.from_bytes(lease.body)
        except ValidationError as error:
            unread = Permanent(
                f"this worker cannot read the job, which a newer version may have made: {error}"
            )
            return JobRun(lease, Refused(unread))
        progress = ProgressReporter(
            lambda fraction, message: self._queue.progress(
                lease.pool, lease.job_id, lease.lease_id, fraction, message
            ),
            lambda: run.stop(StopReason.LOST, 0),
        )
        context = Context(_info(lease, body), progress.report)
        execution = self._choose(body, lease.type, context)
        run = JobRun(lease, execution, name=body.name or "", cancel_grace_s=body.cancel_grace_ms / 1000)
        run.ended.add_done_callback(lambda _: progress.close())
        return run

    def _choose(self, body: JobBody, name: str, context: Context) -> Execution:
        if body.command is not None:
            return CommandExecution(body.command, body.payload, context, self._environment)
        handler = self._app.handlers.get(name)
        if handler is None:
            known = ", ".join(sorted(self._app.handlers)) or "none"
            return Refused(Permanent(f'no handler named "{name}" in this worker (it has: {known})'))
        return HandlerExecution(handler, context, body.payload)


def _info(lease: Lease, body: JobBody) -> JobInfo:
    return JobInfo(
        job_id=lease.job_id,
        type=lease.type,
        tenant=lease.tenant,
        account=lease.account,
        attempt=lease.attempt,
        first_attempt=lease.first_attempt,
        deadline=body.deadline,
        affinity=body.affinity,
    )
