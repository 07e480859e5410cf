"""JobPool: workers of one kind, the queue before them, and how both behave."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from fairway.api import names
from fairway.api.defaults import DEFAULT_CLASS, PoolClass, pool_default
from fairway.api.durations import Duration
from fairway.api.jobpool_jobs import MAX_TYPES, Crash, JobDefaults, JobType, Poison, PriorityDelays
from fairway.api.jobpool_parts import Breaker, Checkpoint, Drain, Liveness, QueueSettings, Scaling, Workers
from fairway.api.kind import Column, KindInfo, Metadata, Scale
from fairway.api.model import NOT_YET, AnyObject, ApiModel, Rule, Word, says
from fairway.api.shared import Conditions

NAME_ADVICE = (
    f"a JobPool's name must be at most {names.MAX_POOL_NAME} characters of a-z, 0-9 and -, "
    "starting and ending with a letter or digit: it becomes part of its worker pods' names"
)


class JobPoolSpec(ApiModel):
    """How the pool's workers and its queue behave."""

    class_: Annotated[
        PoolClass | None,
        says(
            "How long its jobs usually run: short (under 1 s), medium (to 1 min) or long. "
            "Most defaults come from it.",
            default=DEFAULT_CLASS.value,
            alias="class",
        ),
    ] = None
    algorithm: Annotated[
        Literal["fair", "fifo"] | None,
        says(
            "fair: tenants share by weight. fifo: first come, first served.",
            default=pool_default("algorithm"),
        ),
    ] = None
    suspend: Annotated[
        bool | None, says("True: nothing is dispatched; running jobs go on.", default=pool_default("suspend"))
    ] = None
    capabilities: Annotated[
        Annotated[list[Word], Field(max_length=64, json_schema_extra={"x-kubernetes-list-type": "set"})]
        | None,
        says("What its workers can do, for Jobs that require it."),
    ] = None
    types: Annotated[
        Annotated[
            list[JobType],
            Field(
                max_length=MAX_TYPES,
                json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
            ),
        ]
        | None,
        says("Job types that live here."),
    ] = None
    queue: Annotated[QueueSettings | None, says("Bounds and retention of the queue.")] = None
    priority: Annotated[
        PriorityDelays | None,
        says(
            "Head starts among a tenant's own jobs: each priority is served as if it came so much later.",
            pending=NOT_YET,
        ),
    ] = None
    liveness: Annotated[Liveness | None, says("When a worker counts as lost.")] = None
    checkpoint: Annotated[
        Checkpoint | None, says("Whether, when and where jobs save their progress.", pending=NOT_YET)
    ] = None
    breaker: Annotated[
        Breaker | None, says("When the pool takes no more jobs because too many fail.", pending=NOT_YET)
    ] = None
    scaling: Annotated[Scaling | None, says("How many workers the pool has.")] = None
    defaults: Annotated[JobDefaults | None, says("For types that say nothing.")] = None
    cancel_grace_period: Annotated[
        Duration | None,
        says(
            "How long a cancelled job may take to end before it is killed.",
            default=pool_default("cancelGracePeriod"),
        ),
    ] = None
    crash: Annotated[Crash | None, says("Jobs that lose their workers.")] = None
    poison: Annotated[Poison | None, says("Types that mostly fail.", pending=NOT_YET)] = None
    affinity_slack: Annotated[
        Duration | None,
        says(
            "Slot-time per slot that affinity may bend the order by.",
            default=pool_default("affinitySlack"),
            pending=NOT_YET,
        ),
    ] = None
    stuck_after: Annotated[
        Duration | None,
        says(
            "A job without any change for so long is looked after.",
            default=pool_default("stuckAfter"),
            pending=NOT_YET,
        ),
    ] = None
    drain: Annotated[Drain | None, says("What happens to running jobs when their worker must go.")] = None
    workers: Annotated[Workers | None, says("The pods that run the jobs.")] = None


class JobPoolStatus(ApiModel):
    """How the pool is doing."""

    observed_generation: Annotated[int | None, says("The generation of the spec that is in force.")] = None
    effective: Annotated[
        AnyObject | None, says("Every setting in force, defaults included, under the names of the spec.")
    ] = None
    conditions: Annotated[
        Conditions | None, says("Ready: its workers are set up. Scaling and Breaker: how those stand.")
    ] = None
    queued: Annotated[int | None, says("Jobs that wait.", ge=0)] = None
    scheduled: Annotated[int | None, says("Jobs that are due later, retries among them.", ge=0)] = None
    running: Annotated[int | None, says("Jobs that run.", ge=0)] = None
    dead_lettered: Annotated[int | None, says("Dead letters that are kept.", ge=0)] = None
    oldest_job_age_seconds: Annotated[float | None, says("Age of the oldest waiting job.", ge=0)] = None
    desired_replicas: Annotated[int | None, says("Workers there should be.", ge=0)] = None
    replicas: Annotated[int | None, says("Workers there are.", ge=0)] = None
    ready_replicas: Annotated[int | None, says("Workers that are ready.", ge=0)] = None
    busy_slots: Annotated[int | None, says("Slots of workers that run a job.", ge=0)] = None
    total_slots: Annotated[int | None, says("Slots of workers.", ge=0)] = None
    selector: Annotated[str | None, says("Label selector of the worker pods, for autoscalers.")] = None


class JobPool(ApiModel):
    """Workers of one kind with the queue before them, shared by tenants."""

    info: ClassVar[KindInfo] = KindInfo(
        kind="JobPool",
        plural=names.JOBPOOLS,
        singular="jobpool",
        short_names=("jp",),
        namespaced=False,
        columns=(
            Column("Ready", ".status.conditions[?(@.type=='Ready')].status"),
            Column("Class", ".status.effective.class"),
            Column("Queued", ".status.queued", type="integer"),
            Column("Running", ".status.running", type="integer"),
            Column("Workers", ".status.readyReplicas", type="integer"),
            Column("Age", ".metadata.creationTimestamp", type="date"),
            Column("Desired", ".status.desiredReplicas", type="integer", wide=True),
            Column("Busy", ".status.busySlots", type="integer", wide=True),
            Column("Slots", ".status.totalSlots", type="integer", wide=True),
            Column("Scheduled", ".status.scheduled", type="integer", wide=True),
            Column("Dead letters", ".status.deadLettered", type="integer", wide=True),
            Column("Oldest", ".status.oldestJobAgeSeconds", type="number", wide=True),
            Column("Message", ".status.conditions[?(@.type=='Ready')].message", wide=True),
        ),
        scale=Scale(".spec.scaling.replicas", ".status.replicas", ".status.selector"),
        root_rules=(
            Rule(
                f"self.metadata.name.size() <= {names.MAX_POOL_NAME} "
                "&& self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
                NAME_ADVICE,
                at=".metadata.name",
            ),
        ),
    )

    metadata: Metadata = Field(default_factory=Metadata)
    spec: Annotated[JobPoolSpec, says("How the pool's workers and its queue behave.")] = Field(
        default_factory=JobPoolSpec
    )
    status: Annotated[JobPoolStatus | None, says("How the pool is doing; written by the operator.")] = None
