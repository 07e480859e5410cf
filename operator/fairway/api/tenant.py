"""Tenant: somebody who shares pools with others, and what they are promised and held to."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from fairway.api import names
from fairway.api.defaults import DEFAULT_TIER, TENANT_BY_TIER, WEBHOOK_EVENTS, Tier, in_words, tenant_default
from fairway.api.durations import Duration
from fairway.api.kind import Column, KindInfo, Metadata
from fairway.api.model import NOT_YET, UNWRITTEN, AnyObject, ApiModel, Name, Rule, Share, Text, says
from fairway.api.rates import Rate
from fairway.api.shared import Conditions, SecretKey

SHARES_ADVICE = (
    "minimumShare must not be above maximumShare (by the tier when unset): "
    "lower minimumShare or raise maximumShare"
)
NAME_ADVICE = "a Tenant's name must be at most 63 characters: it becomes a label of pods"

_Count = Annotated[int, Field(ge=0, le=10**12)]


class Reservation(ApiModel):
    """Workers of a pool that serve this tenant only."""

    pool: Annotated[Name, says("The JobPool.")]
    replicas: Annotated[int, says("How many workers.", ge=0, le=10_000)]
    overflow: Annotated[
        bool | None, says("What they cannot take joins the shared queue.", default="true")
    ] = None


class Limits(ApiModel):
    """Limits of the whole tenant."""

    submissions: Annotated[
        Rate | None,
        says(
            "Jobs that may be submitted; null: no limit.",
            default=tenant_default("limits.submissions"),
            pending=NOT_YET,
            none_by_null=True,
        ),
    ] = None
    queued: Annotated[
        _Count | None,
        says(
            "Jobs that may wait in a pool; null: no limit.",
            default=tenant_default("limits.queued"),
            pending=NOT_YET,
            none_by_null=True,
        ),
    ] = None
    in_flight: Annotated[
        _Count | None,
        says(
            "Jobs that may run in a pool at once; null: no limit.",
            default=tenant_default("limits.inFlight"),
            none_by_null=True,
        ),
    ] = None


class Accounts(ApiModel):
    """The accounts inside the tenant, and the limits of each."""

    from_: Annotated[
        Literal["namespace", "spec", "claim"] | None,
        says(
            "Where a job's account comes from: its namespace, its spec.account, or a claim of the HTTP "
            "caller's token.",
            default=tenant_default("accounts.from"),
            alias="from",
        ),
    ] = None
    claim: Annotated[
        Text | None,
        says(
            "The claim that names the account, with from: claim.",
            default=tenant_default("accounts.claim"),
            pending=NOT_YET,
        ),
    ] = None
    submissions: Annotated[
        Rate | None,
        says(
            "Jobs that an account may submit; null: no limit.",
            default=tenant_default("accounts.submissions"),
            pending=NOT_YET,
            none_by_null=True,
        ),
    ] = None
    queued: Annotated[
        _Count | None,
        says(
            "Jobs of an account that may wait in a pool; null: no limit.",
            default=tenant_default("accounts.queued"),
            pending=NOT_YET,
            none_by_null=True,
        ),
    ] = None
    in_flight: Annotated[
        _Count | None,
        says(
            "Jobs of an account that may run in a pool at once; null: no limit.",
            default=tenant_default("accounts.inFlight"),
            pending=NOT_YET,
            none_by_null=True,
        ),
    ] = None


class ApiKey(ApiModel):
    """A key that HTTP callers act for the tenant with."""

    secret_ref: Annotated[SecretKey, says("The Secret that holds the key.")]


class TenantWebhook(ApiModel):
    """Who is told about the tenant's jobs."""

    url: Annotated[str, says("Where to send it.", max_length=2048, pattern="^https?://.+$")]
    secret_ref: Annotated[SecretKey | None, says("The key that signs it.", default="unsigned")] = None
    events: Annotated[
        Annotated[
            list[
                Literal[
                    "submitted",
                    "dispatched",
                    "succeeded",
                    "failed",
                    "retried",
                    "dead-lettered",
                    "cancelled",
                    "expired",
                ]
            ],
            Field(max_length=16, json_schema_extra={"x-kubernetes-list-type": "set"}),
        ]
        | None,
        says("What to tell.", default=in_words(list(WEBHOOK_EVENTS))),
    ] = None


def _default_share(name: str) -> str:
    """CEL for a share that comes from the tier, written from the table of tiers."""
    by_tier = f"{TENANT_BY_TIER[DEFAULT_TIER][name]}"
    for tier in Tier:
        if tier is not DEFAULT_TIER:
            by_tier = f"(has(self.tier) && self.tier == '{tier}' ? {TENANT_BY_TIER[tier][name]} : {by_tier})"
    return by_tier


def _share(name: str) -> str:
    return f"(has(self.{name}) ? self.{name} : {_default_share(name)})"


class TenantSpec(ApiModel):
    """What the tenant is promised and held to."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(f"{_share('minimumShare')} <= {_share('maximumShare')}", SHARES_ADVICE),
    )

    tier: Annotated[
        Tier | None,
        says("free, standard, pro or enterprise. Most defaults come from it.", default=DEFAULT_TIER.value),
    ] = None
    weight: Annotated[
        int | None,
        says(
            "Its part of a pool beside others: twice the weight, twice the slot-time.",
            default=tenant_default("weight"),
            ge=1,
            le=1_000_000,
        ),
    ] = None
    suspend: Annotated[
        bool | None,
        says("True: none of its jobs is dispatched; running ones go on.", default=tenant_default("suspend")),
    ] = None
    namespaces: Annotated[
        Annotated[list[Name], Field(max_length=4096, json_schema_extra={"x-kubernetes-list-type": "set"})]
        | None,
        says("Namespaces whose Jobs may charge this tenant."),
    ] = None
    minimum_share: Annotated[
        Share | None,
        says(
            "Part of a pool's slots that it gets whatever the others do.",
            default=tenant_default("minimumShare"),
            pending=NOT_YET,
        ),
    ] = None
    maximum_share: Annotated[
        Share | None,
        says(
            "Part of a pool's slots that it never passes.",
            default=tenant_default("maximumShare"),
            pending=NOT_YET,
        ),
    ] = None
    reservations: Annotated[
        Annotated[
            list[Reservation],
            Field(
                max_length=256,
                json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["pool"]},
            ),
        ]
        | None,
        says("Workers that serve this tenant only.", pending=NOT_YET),
    ] = None
    limits: Annotated[Limits | None, says("Limits of the whole tenant.")] = None
    idempotency_window: Annotated[
        Duration | None,
        says(
            "How long an idempotency key is remembered.",
            default=tenant_default("idempotencyWindow"),
            pending=NOT_YET,
        ),
    ] = None
    accounts: Annotated[Accounts | None, says("The accounts inside the tenant, and the limits of each.")] = (
        None
    )
    api_keys: Annotated[
        Annotated[list[ApiKey], Field(max_length=256)] | None,
        says("Keys that HTTP callers act for the tenant with.", pending=NOT_YET),
    ] = None
    webhook: Annotated[TenantWebhook | None, says("Who is told about its jobs.", pending=NOT_YET)] = None
    retry_budget: Annotated[
        float | None,
        says(
            "Retries for each first dispatch, at most.",
            default=tenant_default("retryBudget"),
            pending=NOT_YET,
            ge=0,
            le=1000,
        ),
    ] = None

    @model_validator(mode="after")
    def _shares_in_order(self) -> Self:
        by_tier = TENANT_BY_TIER[self.tier or DEFAULT_TIER]
        lowest = by_tier["minimumShare"] if self.minimum_share is None else self.minimum_share
        highest = by_tier["maximumShare"] if self.maximum_share is None else self.maximum_share
        if lowest > highest:
            raise ValueError(SHARES_ADVICE)
        return self


class TenantPoolStatus(ApiModel):
    """How the tenant is doing in one pool."""

    name: Annotated[str, says("The JobPool.")]
    queued: Annotated[int | None, says("Its jobs that wait.", ge=0)] = None
    running: Annotated[int | None, says("Its jobs that run.", ge=0)] = None
    slot_seconds: Annotated[float | None, says("Worker time that it was charged.", ge=0)] = None
    share: Annotated[float | None, says("Its part of the slots in use.", ge=0)] = None
    lag_seconds: Annotated[float | None, says("How far it is behind its fair part.", pending=UNWRITTEN)] = (
        None
    )
    lag_bound_seconds: Annotated[
        float | None, says("How far it can be behind, at most.", pending=UNWRITTEN)
    ] = None


class TenantStatus(ApiModel):
    """How the tenant is doing."""

    observed_generation: Annotated[int | None, says("The generation of the spec that is in force.")] = None
    effective: Annotated[
        AnyObject | None, says("Every setting in force, defaults included, under the names of the spec.")
    ] = None
    conditions: Annotated[Conditions | None, says("Ready: its settings are in force in every pool.")] = None
    queued: Annotated[int | None, says("Its jobs that wait, in all pools.", ge=0)] = None
    running: Annotated[int | None, says("Its jobs that run, in all pools.", ge=0)] = None
    pools: Annotated[
        Annotated[
            list[TenantPoolStatus],
            Field(
                max_length=1024,
                json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
            ),
        ]
        | None,
        says("How it is doing in each pool that it uses."),
    ] = None


class Tenant(ApiModel):
    """Somebody who shares pools with others: a weight, limits, and the namespaces whose Jobs it pays for."""

    info: ClassVar[KindInfo] = KindInfo(
        kind="Tenant",
        plural=names.TENANTS,
        singular="tenant",
        short_names=("ten",),
        namespaced=False,
        columns=(
            Column("Ready", ".status.conditions[?(@.type=='Ready')].status"),
            Column("Tier", ".status.effective.tier"),
            Column("Weight", ".status.effective.weight", type="integer"),
            Column("Queued", ".status.queued", type="integer"),
            Column("Running", ".status.running", type="integer"),
            Column("Age", ".metadata.creationTimestamp", type="date"),
            Column("Suspended", ".spec.suspend", type="boolean", wide=True),
            Column("Namespaces", ".spec.namespaces", wide=True),
        ),
        root_rules=(Rule("self.metadata.name.size() <= 63", NAME_ADVICE, at=".metadata.name"),),
    )

    metadata: Metadata = Field(default_factory=Metadata)
    spec: Annotated[TenantSpec, says("What the tenant is promised and held to.")] = Field(
        default_factory=TenantSpec
    )
    status: Annotated[TenantStatus | None, says("How the tenant is doing; written by the operator.")] = None
