"""What goes into the queue and what comes out of it. Times are ms since the epoch unless a name says µs."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from fairway.policy.retry import AttemptCounts, RetryRules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairway.api.phases import EventVerb, FailureClass, JobPhase


class Algorithm(StrEnum):
    """In which order a pool's tenants are served."""

    FAIR = "fair"
    FIFO = "fifo"


@dataclass(frozen=True, slots=True)
class PoolConfig:
    """What the queue has to know of a pool. `events_kept` caps its event stream."""

    lease_ms: int
    suspended: bool = False
    max_workers_lost: int = 5
    result_ttl_ms: int = 24 * 3600 * 1000
    dead_letter_ttl_ms: int = 7 * 24 * 3600 * 1000
    algorithm: Algorithm = Algorithm.FAIR
    events_kept: int = 10_000


@dataclass(frozen=True, slots=True)
class TenantConfig:
    """What the queue has to know of a tenant in one pool. `in_flight` is its cap there; None: no cap."""

    weight: int = 1
    suspended: bool = False
    in_flight: int | None = None


@dataclass(frozen=True, slots=True)
class Submission:
    """A job on its way in. `origin` names the object it was born from ("namespace/name"), or is empty."""

    id: str
    tenant: str
    account: str
    type: str
    body: bytes
    estimate_us: int
    timeout_ms: int
    retry: RetryRules = field(default_factory=RetryRules)
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Submitted:
    """The answer to a submission; `position` counts from 1 in the tenant's queue, None when not waiting."""

    job_id: str
    phase: JobPhase
    position: int | None
    duplicate: bool


@dataclass(frozen=True, slots=True)
class WorkerIdentity:
    """Who asks: a name that no other worker has (the pod's), and the node it runs on."""

    name: str
    node: str = ""


@dataclass(frozen=True, slots=True)
class Lease:
    """One job in a worker's hands, until `lease_ms` after the last heartbeat."""

    pool: str
    job_id: str
    lease_id: str
    tenant: str
    account: str
    type: str
    body: bytes
    attempt: int
    timeout_ms: int
    lease_ms: int
    leased_at_ms: int
    created_at_ms: int
    counts: AttemptCounts
    retry: RetryRules

    @property
    def first_attempt(self) -> bool:
        """Whether no worker had this job before."""
        return self.attempt == 1


@dataclass(frozen=True, slots=True)
class Leased:
    """What a worker got. `next_due_ms`: in how many ms something here comes due by itself; None: nothing."""

    jobs: list[Lease]
    next_due_ms: int | None


class SignalKind(StrEnum):
    """Why a waiting worker is woken."""

    WAKE = "wake"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class Signal:
    """One message from a worker's inbox: there may be work, or a job it runs is to be cancelled."""

    kind: SignalKind
    job_id: str | None = None


class Ask(StrEnum):
    """What a heartbeat brings back for one job."""

    CONTINUE = "continue"
    CANCEL = "cancel"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Failure:
    """How an attempt failed. `retry_after_ms` is the job's own wish for the pause, if it has one."""

    cls: FailureClass
    error: str
    ran_us: int
    retry_after_ms: int | None = None


class FailKind(StrEnum):
    """What became of a failed attempt."""

    LOST = "lost"
    RETRY = "retry"
    BURIED = "buried"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class FailOutcome:
    """What became of a failed attempt; `retry_at_ms` is set for a retry, `reason` for a burial."""

    kind: FailKind
    retry_at_ms: int | None = None
    reason: str = ""

    @property
    def lost(self) -> bool:
        """Whether the lease was not the current one, so that nothing was changed."""
        return self.kind is FailKind.LOST


class CancelOutcome(StrEnum):
    """What a cancel met: a waiting job (gone), a running one (its worker is told), a finished one, none."""

    CANCELLED = "cancelled"
    ASKED = "asked"
    FINISHED = "finished"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Swept:
    """How much one bounded pass did; `more` tells that another pass would find more."""

    expired: int
    promoted: int
    collected: int
    more: bool = False


@dataclass(frozen=True, slots=True)
class AttemptRecord:
    """One attempt. `ended_at_ms` and `cls` are None while it runs."""

    number: int
    worker: str
    node: str
    started_at_ms: int
    ended_at_ms: int | None
    cls: FailureClass | None
    counted: bool
    error: str = ""


@dataclass(frozen=True, slots=True)
class JobState:
    """All there is to know of a job. `due_at_ms` is set while it waits for its next attempt's time."""

    id: str
    pool: str
    tenant: str
    account: str
    type: str
    phase: JobPhase
    position: int | None
    attempts: list[AttemptRecord]
    result: bytes | None
    created_at_ms: int
    started_at_ms: int | None
    finished_at_ms: int | None
    slot_us: int
    progress: float | None
    message: str
    origin: str
    cancel_requested: bool
    reason: str = ""
    due_at_ms: int | None = None


@dataclass(frozen=True, slots=True)
class WorkerState:
    """One worker that was heard of lately; `busy` of its `slots` have a job."""

    name: str
    node: str
    slots: int
    busy: int


@dataclass(frozen=True, slots=True)
class TenantState:
    """One tenant's part of a pool; `slot_us` is what its ended attempts used."""

    name: str
    weight: int
    queued: int
    running: int
    slot_us: int


@dataclass(frozen=True, slots=True)
class PoolState:
    """A pool at a glance. `delayed` jobs wait for the time of their next attempt."""

    queued: int
    delayed: int
    running: int
    dead_lettered: int
    oldest_age_ms: int
    workers: list[WorkerState]
    tenants: list[TenantState]


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a reader of events stands: the last sequence number it has, in one life (`epoch`) of the pool.

    A pool's event number is its entry's id in the stream, so one number serves as both.
    """

    epoch: str
    sequence: int

    @classmethod
    def from_beginning(cls) -> Cursor:
        """Return a cursor before the first event that is still kept."""
        return cls(epoch="", sequence=0)

    @classmethod
    def from_now(cls) -> Cursor:
        """Return a cursor that the first `Queue.events` call turns into the end of the stream."""
        return cls(epoch="", sequence=-1)


@dataclass(frozen=True, slots=True)
class Event:
    """One transition. `data` holds what else is known, always with `phase`: the job's phase after it."""

    sequence: int
    verb: EventVerb
    job_id: str
    at_ms: int
    tenant: str
    data: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Events after a cursor. `gap`: some before them were missed, so read the state again."""

    events: list[Event]
    cursor: Cursor
    gap: bool
