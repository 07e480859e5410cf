"""The groups of settings inside a JobPool's spec."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, Field, WithJsonSchema, model_validator

from fairway.api import durations
from fairway.api.defaults import (
    LONG_CHECKPOINT_EVERY,
    LONG_JOB,
    MAX_REPLICAS,
    pool_default,
)
from fairway.api.durations import Duration, parse_duration
from fairway.api.model import NOT_YET, AnyObject, ApiModel, Rule, Share, says
from fairway.api.quantities import Quantity
from fairway.api.shared import SecretKey

LEASE_ADVICE = "a lease must be at least 1s: write a duration such as 10s, 90s or 5m"
REPLICAS_ADVICE = (
    f"minReplicas must not be above maxReplicas ({MAX_REPLICAS} when unset): "
    "lower minReplicas or raise maxReplicas"
)
_SECOND_MS = 1000


class QueueSettings(ApiModel):
    """Bounds and retention of the pool's queue."""

    max_queued: Annotated[
        int | None,
        says(
            "Jobs that may wait; more are refused.",
            default=pool_default("queue.maxQueued"),
            pending=NOT_YET,
            ge=0,
            le=10**12,
        ),
    ] = None
    max_bytes: Annotated[
        Quantity | None,
        says(
            "Bytes of jobs that may be held; more are refused.",
            default=pool_default("queue.maxBytes"),
            pending=NOT_YET,
        ),
    ] = None
    result_ttl: Annotated[
        Duration | None,
        says(
            "How long a finished job's result is kept.",
            default=pool_default("queue.resultTTL"),
            alias="resultTTL",
        ),
    ] = None
    dead_letter_retention: Annotated[
        Duration | None,
        says("How long a dead letter is kept.", default=pool_default("queue.deadLetterRetention")),
    ] = None
    promote_per_second: Annotated[
        int | None,
        says(
            "Due jobs that join the queue each second, at most.",
            default=pool_default("queue.promotePerSecond"),
            pending=NOT_YET,
            ge=1,
            le=10**9,
        ),
    ] = None
    jitter: Annotated[
        Duration | None,
        says(
            "Jobs due far ahead start up to so much earlier or later.",
            default=pool_default("queue.jitter"),
            pending=NOT_YET,
        ),
    ] = None
    jitter_beyond: Annotated[
        Duration | None,
        says("How far ahead is far.", default=pool_default("queue.jitterBeyond"), pending=NOT_YET),
    ] = None
    refuse_without_workers: Annotated[
        bool | None,
        says(
            "Refuse jobs while the pool has no worker and no way to get one.",
            default=pool_default("queue.refuseWithoutWorkers"),
            pending=NOT_YET,
        ),
    ] = None


def _check_lease(text: str) -> str:
    if parse_duration(text) < _SECOND_MS:
        raise ValueError(LEASE_ADVICE)
    return text


_Lease = Annotated[
    Duration,
    AfterValidator(_check_lease),
    WithJsonSchema(
        {
            "type": "string",
            "maxLength": durations.MAX_LENGTH,
            "pattern": durations.PATTERN,
            "x-fairway-type": "duration",
            "x-kubernetes-validations": [
                {"rule": f"self.matches(r'{durations.PATTERN}')", "message": durations.ADVICE},
                {
                    # CEL's own durations know no days, so those are told apart by their text.
                    "rule": f"!self.matches(r'{durations.PATTERN}') || (self.contains('d') "
                    "? !self.matches(r'^0+(\\.0+)?d') : duration(self) >= duration('1s'))",
                    "message": LEASE_ADVICE,
                },
            ],
        }
    ),
]


class Liveness(ApiModel):
    """When a worker counts as lost."""

    lease: Annotated[
        _Lease | None,
        says(
            "How long a worker may be silent before its jobs go to another; renewed at a third of it. "
            "At least 1s.",
            default=pool_default("liveness.lease"),
        ),
    ] = None


class Checkpoint(ApiModel):
    """Whether, when and where jobs save their progress."""

    mode: Annotated[
        Literal["none", "optional", "required"] | None,
        says(
            "required: jobs expected to take over 5 min must checkpoint to be resumable.",
            default=pool_default("checkpoint.mode"),
        ),
    ] = None
    every: Annotated[
        Duration | None,
        says(
            "How often a job should checkpoint.",
            default=f"{pool_default('checkpoint.every')}; in class long {LONG_CHECKPOINT_EVERY} "
            f"for jobs expected to take over {LONG_JOB}",
        ),
    ] = None
    store: Annotated[
        str | None,
        says(
            "Where to: redis, file:///path, s3://…, gs://… or az://….",
            default=pool_default("checkpoint.store"),
            max_length=1024,
            pattern="^(redis|(file|s3|gs|az)://.+)$",
        ),
    ] = None
    keep: Annotated[
        int | None,
        says(
            "How many checkpoints of a job are kept.", default=pool_default("checkpoint.keep"), ge=1, le=100
        ),
    ] = None
    secret_ref: Annotated[SecretKey | None, says("Credentials of the store.")] = None
    endpoint: Annotated[str | None, says("Address of an S3-compatible store.", max_length=1024)] = None


class Breaker(ApiModel):
    """When the pool takes no more jobs because its infrastructure fails."""

    error_rate: Annotated[
        Share | None, says("Part of its jobs that must fail.", default=pool_default("breaker.errorRate"))
    ] = None
    window: Annotated[Duration | None, says("Over how long.", default=pool_default("breaker.window"))] = None
    half_open_after: Annotated[
        Duration | None,
        says("How long until a probe is let in.", default=pool_default("breaker.halfOpenAfter")),
    ] = None
    minimum_jobs: Annotated[
        int | None,
        says(
            "Fewer jobs than this prove nothing.",
            default=pool_default("breaker.minimumJobs"),
            ge=1,
            le=1_000_000,
        ),
    ] = None
    minimum_tenants: Annotated[
        int | None,
        says(
            "Failures of fewer tenants than this do not count.",
            default=pool_default("breaker.minimumTenants"),
            ge=1,
            le=1_000_000,
        ),
    ] = None


class Scaling(ApiModel):
    """How many workers the pool has."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "(has(self.minReplicas) ? self.minReplicas : 0) <= "
            f"(has(self.maxReplicas) ? self.maxReplicas : {MAX_REPLICAS})",
            REPLICAS_ADVICE,
            at=".minReplicas",
        ),
    )

    mode: Annotated[
        Literal["queueAge", "external"] | None,
        says(
            "queueAge: Fairway scales by the age of the queue. external: something else sets `replicas`.",
            default=pool_default("scaling.mode"),
            pending=NOT_YET,
        ),
    ] = None
    min_replicas: Annotated[
        int | None,
        says(
            "Workers to keep; until scaling acts, a pool runs this many, and at least 1.",
            default=pool_default("scaling.minReplicas"),
            ge=0,
            le=10_000,
        ),
    ] = None
    max_replicas: Annotated[
        int | None,
        says(
            "Workers at most.", default=pool_default("scaling.maxReplicas"), pending=NOT_YET, ge=0, le=10_000
        ),
    ] = None
    target_queue_age: Annotated[
        Duration | None,
        says(
            "Workers are added to keep waits below this.",
            default=pool_default("scaling.targetQueueAge"),
            pending=NOT_YET,
        ),
    ] = None
    warm: Annotated[
        Share | None,
        says(
            "Part of the busy slots to keep free in advance.",
            default=pool_default("scaling.warm"),
            pending=NOT_YET,
        ),
    ] = None
    idle_for: Annotated[
        Duration | None,
        says("An idle worker is kept this long.", default=pool_default("scaling.idleFor"), pending=NOT_YET),
    ] = None
    stabilization: Annotated[
        Duration | None,
        says(
            "Scaling down looks back this far.",
            default=pool_default("scaling.stabilization"),
            pending=NOT_YET,
        ),
    ] = None
    replicas: Annotated[
        int | None,
        says(
            "What the scale subresource sets; read only in mode external.",
            default=pool_default("scaling.replicas"),
            pending=NOT_YET,
            ge=0,
            le=10_000,
        ),
    ] = None

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        highest = MAX_REPLICAS if self.max_replicas is None else self.max_replicas
        if (self.min_replicas or 0) > highest:
            raise ValueError(REPLICAS_ADVICE)
        return self


class Drain(ApiModel):
    """What happens to running jobs when their worker must go."""

    checkpoint_timeout: Annotated[
        Duration | None,
        says(
            "How long a job may take to checkpoint.",
            default=pool_default("drain.checkpointTimeout"),
            pending=NOT_YET,
        ),
    ] = None
    grace_period: Annotated[
        Duration | None,
        says("How long running jobs may go on.", default=pool_default("drain.gracePeriod")),
    ] = None
    unsaved: Annotated[
        Literal["finish", "rerun"] | None,
        says(
            "What becomes of jobs without a checkpoint: let them finish, or run them again.",
            default=pool_default("drain.unsaved"),
            pending=NOT_YET,
        ),
    ] = None


class Workers(ApiModel):
    """The pods that run the jobs."""

    concurrency: Annotated[
        int | None,
        says(
            "Jobs that a worker runs at once.", default=pool_default("workers.concurrency"), ge=1, le=10_000
        ),
    ] = None
    namespace: Annotated[
        Annotated[str, Field(max_length=63, pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?$")] | None,
        says(
            "Where the pods run; one of the namespaces that the chart was told to allow.",
            default="the namespace of Fairway itself",
        ),
    ] = None
    template: Annotated[
        AnyObject | None,
        says(
            'A PodTemplateSpec; its container named "worker" runs the jobs.',
            default="one container with Fairway's worker image",
        ),
    ] = None
