"""The states of a job, the classes of its failures, the verbs of its life, and users' words for them."""

from enum import StrEnum


class JobPhase(StrEnum):
    """Where a job stands; `status.phase` of a Job."""

    PENDING = "Pending"
    SCHEDULED = "Scheduled"
    QUEUED = "Queued"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    DEAD_LETTERED = "DeadLettered"
    CANCELLED = "Cancelled"
    EXPIRED = "Expired"
    FAILED = "Failed"
    """Refused for good: it never reached a queue."""

    @property
    def finished(self) -> bool:
        """Whether the job will not change any more (a dead letter may still be replayed)."""
        return self in _FINISHED


_FINISHED = frozenset(
    {
        JobPhase.SUCCEEDED,
        JobPhase.DEAD_LETTERED,
        JobPhase.CANCELLED,
        JobPhase.EXPIRED,
        JobPhase.FAILED,
    }
)


class FailureClass(StrEnum):
    """How an attempt ended; `class` of an attempt."""

    OK = "OK"
    APP = "APP"
    CRASH = "CRASH"
    TIMEOUT = "TIMEOUT"
    RESOURCE = "RESOURCE"
    DEPENDENCY = "DEPENDENCY"
    PERMANENT = "PERMANENT"
    POISON = "POISON"
    HANG = "HANG"
    RELEASED = "RELEASED"
    CANCELLED = "CANCELLED"


class EventVerb(StrEnum):
    """What happened to a job; the script, the method and the event of one step share the word."""

    SUBMIT = "submit"
    PROMOTE = "promote"
    LEASE = "lease"
    PROGRESS = "progress"
    CHECKPOINT = "checkpoint"
    RELEASE = "release"
    COMPLETE = "complete"
    FAIL = "fail"
    RETRY = "retry"
    BURY = "bury"
    REPLAY = "replay"
    CANCEL = "cancel"
    EXPIRE = "expire"

    @property
    def users_word(self) -> str:
        """What users read for it in events, webhooks and metrics."""
        return USERS_WORDS[self]


USERS_WORDS: dict[EventVerb, str] = {
    EventVerb.SUBMIT: "submitted",
    EventVerb.PROMOTE: "promoted",
    EventVerb.LEASE: "dispatched",
    EventVerb.PROGRESS: "progressed",
    EventVerb.CHECKPOINT: "checkpointed",
    EventVerb.RELEASE: "released",
    EventVerb.COMPLETE: "succeeded",
    EventVerb.FAIL: "failed",
    EventVerb.RETRY: "retried",
    EventVerb.BURY: "dead-lettered",
    EventVerb.REPLAY: "replayed",
    EventVerb.CANCEL: "cancelled",
    EventVerb.EXPIRE: "expired",
}
"""The one table from our verbs to the words that users read."""


class ConditionType(StrEnum):
    """Conditions on our objects."""

    ADMITTED = "Admitted"
    COMPLETE = "Complete"
    FAILED = "Failed"
    READY = "Ready"
    SCALING = "Scaling"
    BREAKER = "Breaker"
