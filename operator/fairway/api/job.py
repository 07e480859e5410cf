"""Job: one piece of work, and what became of it."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AwareDatetime, BeforeValidator, Field, WithJsonSchema, model_validator

from fairway.api import names
from fairway.api.defaults import SCHEDULE, in_words
from fairway.api.durations import Duration
from fairway.api.kind import Column, KindInfo, Metadata
from fairway.api.model import (
    NOT_YET,
    REFUSED,
    UNWRITTEN,
    AnyObject,
    AnyValue,
    ApiModel,
    Name,
    Rule,
    Text,
    Word,
    says,
)
from fairway.api.phases import FailureClass, JobPhase
from fairway.api.shared import Conditions, Resources, SecretKey

PRIORITY_ADVICE = "write high, medium, low, or a number from 1 to 9 without quotes"
NEEDS_WORK = (
    "a Job needs a type or a command: set spec.type to a handler's name, or spec.command to a program"
)
IMMUTABLE = (
    "a Job's spec cannot change once made, except cancel and ttlAfterFinished: "
    "delete it and create another, or use a new name"
)
CANCEL_STAYS = "a cancelled Job stays cancelled: create another instead of setting cancel back to false"
TIMEOUT_ADVICE = "no attempt ends in no time: write a timeout longer than 0s, or leave it out"
_CHANGEABLE = frozenset({"cancel", "ttlAfterFinished"})

MAX_COMMAND_WORDS = 1024
MAX_ATTEMPTS_SHOWN = 100


def _check_priority(value: Any) -> Any:
    # bool is an int in Python, but `priority: true` is no priority.
    if value in ("high", "medium", "low") or (type(value) is int and 1 <= value <= 9):  # noqa: PLR2004 -- 1..9 is the rule itself
        return value
    raise ValueError(f"{value!r} is not a priority: {PRIORITY_ADVICE}")


Priority = Annotated[
    Literal["high", "medium", "low"] | int,
    BeforeValidator(_check_priority),
    WithJsonSchema(
        {
            "x-kubernetes-int-or-string": True,
            "maxLength": 16,
            "x-fairway-type": "high, medium, low or 1..9",
            "x-kubernetes-validations": [
                {
                    "rule": "type(self) == int ? self >= 1 && self <= 9 : self in ['high', 'medium', 'low']",
                    "message": PRIORITY_ADVICE,
                }
            ],
        }
    ),
]


class Schedule(ApiModel):
    """When to make a job of this Job again and again."""

    cron: Annotated[str, says("Minute, hour, day, month and weekday, as cron reads them.", max_length=128)]
    time_zone: Annotated[
        str | None, says("Time zone of `cron`.", default=in_words(SCHEDULE["timeZone"]), max_length=64)
    ] = None
    concurrency_policy: Annotated[
        Literal["Allow", "Forbid", "Replace"] | None,
        says("What happens when the one before still runs.", default=in_words(SCHEDULE["concurrencyPolicy"])),
    ] = None
    starting_deadline: Annotated[
        Duration | None,
        says("A start missed by more than this is skipped.", default=in_words(SCHEDULE["startingDeadline"])),
    ] = None
    successful_history: Annotated[
        int | None,
        says(
            "How many succeeded jobs are kept.",
            default=in_words(SCHEDULE["successfulHistory"]),
            ge=0,
            le=1000,
        ),
    ] = None
    failed_history: Annotated[
        int | None,
        says("How many failed jobs are kept.", default=in_words(SCHEDULE["failedHistory"]), ge=0, le=1000),
    ] = None


class JobWebhook(ApiModel):
    """Who is told when the job ends."""

    url: Annotated[str, says("Where to send it.", max_length=2048, pattern="^https?://.+$")]
    secret_ref: Annotated[SecretKey | None, says("The key that signs it.", default="unsigned")] = None


class JobSpec(ApiModel):
    """What to run, where, and on whose account."""

    type: Annotated[
        Word | None,
        says("Name of the handler that runs the job.", default="`command` where a command is set"),
    ] = None
    command: Annotated[
        Annotated[
            list[Annotated[str, Field(max_length=32768)]], Field(min_length=1, max_length=MAX_COMMAND_WORDS)
        ]
        | None,
        says("Program and arguments, started by the worker without a shell."),
    ] = None
    payload: Annotated[
        AnyObject | None,
        says("Any JSON object, given to the handler; at most 256 KiB.", default="{}"),
    ] = None
    pool: Annotated[
        Name | None,
        says(
            "The JobPool to run in.",
            default="the pool that registers the type, else one with what it requires",
        ),
    ] = None
    requires: Annotated[
        Annotated[list[Word], Field(max_length=32, json_schema_extra={"x-kubernetes-list-type": "set"})]
        | None,
        says("Capabilities that the pool must have."),
    ] = None
    tenant: Annotated[
        Name | None, says("The Tenant that is charged.", default="the one Tenant that lists this namespace")
    ] = None
    account: Annotated[
        Text | None,
        says(
            "The account inside the Tenant; only where the Tenant says accounts.from: spec.",
            default="the namespace",
        ),
    ] = None
    priority: Annotated[
        Priority | None,
        says(
            "high, medium, low or 1 (first) to 9, among the tenant's own jobs.",
            default="medium",
            pending=NOT_YET,
        ),
    ] = None
    affinity: Annotated[
        Text | None,
        says(
            "A key (a model, a data set): workers that just served it are given more of it.", pending=NOT_YET
        ),
    ] = None
    execute_at: Annotated[
        AwareDatetime | None, says("Not before this time.", default="now", pending=REFUSED)
    ] = None
    exact_time: Annotated[
        bool | None, says("True: executeAt is kept to without jitter.", default="false", pending=NOT_YET)
    ] = None
    not_after: Annotated[
        AwareDatetime | None, says("A job that would start later than this is skipped.", pending=REFUSED)
    ] = None
    deadline: Annotated[
        Duration | None,
        says(
            "Waiting or running, the job is ended so long after executeAt, else after its creation.",
            pending=NOT_YET,
        ),
    ] = None
    timeout: Annotated[
        Duration | None, says("How long one attempt may run.", default="its type's, else the pool's")
    ] = None
    idempotency_key: Annotated[
        str | None,
        says(
            "The same key within the tenant's window is the same job.",
            pending=NOT_YET,
            min_length=1,
            max_length=256,
        ),
    ] = None
    cancel: Annotated[
        bool | None, says("Set true to cancel the job; deleting the Job cancels it too.", default="false")
    ] = None
    max_wait: Annotated[
        Duration | None,
        says("Refuse or expire rather than wait longer; 0s: only if a slot is free now.", pending=NOT_YET),
    ] = None
    resources: Annotated[
        Resources | None, says("What the job may use.", default="its type's", pending=NOT_YET)
    ] = None
    schedule: Annotated[Schedule | None, says("Run again and again.", pending=REFUSED)] = None
    webhook: Annotated[JobWebhook | None, says("Who is told when the job ends.", pending=NOT_YET)] = None
    ttl_after_finished: Annotated[
        Duration | None,
        says(
            "Delete the Job so long after it finished. Mind that GitOps would create, and so run, it again.",
            default="it is kept",
            pending=NOT_YET,
        ),
    ] = None

    @model_validator(mode="after")
    def _needs_work(self) -> Self:
        if self.type is None and self.command is None:
            raise ValueError(NEEDS_WORK)
        return self

    @property
    def effective_type(self) -> str:
        """The type, which a command alone need not name."""
        return self.type or names.COMMAND_TYPE


def _spec_rules() -> tuple[Rule, ...]:
    """Rules of a Job's spec; the one on changes names every field, so it is made from them.

    The API server compares objects of unknown fields by the number of their keys and the values of those
    they share, so a payload with a renamed key passes as unchanged: the job runs with the first one anyhow.
    """
    fixed = [
        field.alias
        for field in JobSpec.model_fields.values()
        if field.alias and field.alias not in _CHANGEABLE
    ]
    same = [
        f"has(self.{x}) == has(oldSelf.{x}) && (!has(self.{x}) || self.{x} == oldSelf.{x})" for x in fixed
    ]
    cancelled = "has({0}.cancel) && {0}.cancel"
    return (
        Rule("has(self.type) || has(self.command)", NEEDS_WORK),
        Rule(" && ".join(same), IMMUTABLE),
        Rule("!has(self.timeout) || self.timeout.matches('[1-9]')", TIMEOUT_ADVICE, at=".timeout"),
        Rule(f"!({cancelled.format('oldSelf')}) || ({cancelled.format('self')})", CANCEL_STAYS, at=".cancel"),
    )


JobSpec.rules = _spec_rules()


class Attempt(ApiModel):
    """One try at a job."""

    number: Annotated[int, says("Which one, from 1.", ge=1)]
    worker: Annotated[str | None, says("The worker pod.")] = None
    node: Annotated[str | None, says("The worker's node.")] = None
    started_at: Annotated[datetime | None, says("When it was dispatched.")] = None
    ended_at: Annotated[datetime | None, says("When it ended.")] = None
    class_: Annotated[FailureClass | None, says("How it ended.", alias="class")] = None
    counted: Annotated[bool | None, says("Whether it used up one of the job's attempts.")] = None
    error: Annotated[str | None, says("What went wrong.")] = None
    resumed_from: Annotated[str | None, says("The checkpoint it went on from.", pending=UNWRITTEN)] = None


class JobStatus(ApiModel):
    """What became of a job."""

    observed_generation: Annotated[
        int | None, says("The generation of the spec that this status is about.")
    ] = None
    phase: Annotated[JobPhase | None, says("Where the job stands.")] = None
    job_id: Annotated[str | None, says("The id that HTTP and the worker see too.", alias="jobID")] = None
    position: Annotated[
        int | None, says("Place in the tenant's queue when the phase last changed, from 1.", ge=0)
    ] = None
    estimated_start: Annotated[
        datetime | None, says("When it will likely start, as of the last change of phase.", pending=UNWRITTEN)
    ] = None
    reason: Annotated[str | None, says("Why, as one word for programs.")] = None
    message: Annotated[str | None, says("Why, as a sentence for people.")] = None
    attempts: Annotated[
        Annotated[
            list[Attempt],
            Field(
                max_length=MAX_ATTEMPTS_SHOWN,
                json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["number"]},
            ),
        ]
        | None,
        says("The tries so far, the last 100 of them."),
    ] = None
    progress: Annotated[float | None, says("How far it is, from 0 to 1.", ge=0, le=1)] = None
    result: Annotated[AnyValue, says("What the handler returned.")] = None
    started_at: Annotated[datetime | None, says("When its first attempt started.")] = None
    finished_at: Annotated[datetime | None, says("When it was over.")] = None
    slot_seconds: Annotated[float | None, says("Worker time that it was charged.", ge=0)] = None
    conditions: Annotated[
        Conditions | None,
        says("Admitted: a queue has it. Complete: it succeeded. Failed: it ended in any other way."),
    ] = None


class Job(ApiModel):
    """One piece of work for a JobPool, charged to a Tenant."""

    info: ClassVar[KindInfo] = KindInfo(
        kind="Job",
        plural=names.JOBS,
        singular="job",
        short_names=("fj", "fjob"),
        namespaced=True,
        columns=(
            Column("Phase", ".status.phase"),
            Column("Type", ".spec.type"),
            Column("Pool", ".spec.pool"),
            Column("Attempts", ".status.attempts[-1:].number", type="integer"),
            Column("Age", ".metadata.creationTimestamp", type="date"),
            Column("Tenant", ".spec.tenant", wide=True),
            Column("Worker", ".status.attempts[-1:].worker", wide=True),
            Column("Job ID", ".status.jobID", wide=True),
            Column("Message", ".status.message", wide=True),
        ),
    )

    metadata: Metadata = Field(default_factory=Metadata)
    spec: Annotated[JobSpec, says("What to run, where, and on whose account.")]
    status: Annotated[JobStatus | None, says("What became of the job; written by the operator.")] = None
