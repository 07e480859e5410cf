"""What a handler is given beside its payload: who it works for, how to report, what is asked of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from fairway_worker.errors import NotAvailable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from datetime import datetime

MAX_MESSAGE_LENGTH = 1024


@dataclass(frozen=True, slots=True)
class JobInfo:
    """What is known of a job for all of one attempt."""

    job_id: str
    type: str
    tenant: str
    account: str
    attempt: int
    first_attempt: bool
    deadline: datetime | None = None
    affinity: str | None = None


class Reported:
    """What `progress` returns: an async handler may await it, a plain one leaves it."""

    def __await__(self) -> Generator[None, None, None]:
        yield  # one turn of the loop, so that a handler that only reports still lets others run


class Context:
    """One attempt at one job. Its methods may be called from a handler's thread as well as from its task."""

    def __init__(self, info: JobInfo, report: Callable[[float, str], None]) -> None:
        self._info = info
        self._report = report
        self._cancelled = False

    @property
    def job_id(self) -> str:
        """The job's id, the same on every attempt: use it to make effects idempotent."""
        return self._info.job_id

    @property
    def type(self) -> str:
        """The job's type: the handler's name."""
        return self._info.type

    @property
    def tenant(self) -> str:
        """Who is charged."""
        return self._info.tenant

    @property
    def account(self) -> str:
        """On which account inside the tenant."""
        return self._info.account

    @property
    def attempt(self) -> int:
        """Which attempt this is, from 1."""
        return self._info.attempt

    @property
    def first_attempt(self) -> bool:
        """Whether no worker had this job before. False: some of the work may already be done."""
        return self._info.first_attempt

    @property
    def deadline(self) -> datetime | None:
        """When the job's result is no longer wanted, if its author said so; nothing enforces it yet."""
        return self._info.deadline

    @property
    def affinity(self) -> str | None:
        """The affinity key that the job carries, if any."""
        return self._info.affinity

    @property
    def cancelled(self) -> bool:
        """Whether the handler is asked to stop: the job was cancelled, timed out, or its worker has to go."""
        return self._cancelled

    @property
    def checkpoint_requested(self) -> bool:
        """Whether a checkpoint is asked for. Nothing asks for one in this version, so it is False."""
        return False

    @property
    def checkpoint_due(self) -> bool:
        """Whether it is time for a checkpoint. None is ever due in this version, so it is False."""
        return False

    def progress(self, fraction: float, message: str = "") -> Reported:
        """Tell how far the job is, from 0 to 1. Cheap: only the latest is sent, at most twice a second.

        It does not wait for Redis. An async handler may await it, which lets other handlers run.
        """
        if math.isnan(fraction):
            raise ValueError("progress takes a number from 0 to 1, not nan")
        self._report(min(1.0, max(0.0, float(fraction))), message[:MAX_MESSAGE_LENGTH])
        return Reported()

    def checkpoint(self, state: bytes) -> NoReturn:
        """Save the state that a later attempt goes on from. Not available in this version."""
        del state
        raise NotAvailable("ctx.checkpoint()")

    def load_checkpoint(self) -> NoReturn:
        """Return what `checkpoint` saved last. Not available in this version."""
        raise NotAvailable("ctx.load_checkpoint()")

    def checkpoint_dir(self) -> NoReturn:
        """Return a directory that is saved as a checkpoint. Not available in this version."""
        raise NotAvailable("ctx.checkpoint_dir()")

    @property
    def affinity_changed(self) -> NoReturn:
        """Whether this worker last served another affinity key. Not available in this version."""
        raise NotAvailable("ctx.affinity_changed")

    @property
    def trace(self) -> NoReturn:
        """The submitter's trace. Not available in this version."""
        raise NotAvailable("ctx.trace")

    def ask_to_stop(self) -> None:
        """Make `cancelled` true; the runtime's, not the handler's."""
        self._cancelled = True
