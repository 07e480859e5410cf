"""Settings in force: what a spec says, completed by the defaults of its class or tier."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from fairway.api import defaults
from fairway.api.defaults import PoolClass, Tier
from fairway.api.durations import parse_duration
from fairway.api.jobpool import JobPoolSpec
from fairway.api.model import NONE_BY_NULL, ApiModel
from fairway.api.shared import BackoffCurve
from fairway.api.tenant import TenantSpec

# No job gets more attempts than this (the schema's bound), so no longer list of waits is ever read.
_MAX_CURVE_STEPS = 100

# A backoff is a list or a curve, and a pod template is its author's: neither is mixed with what is below.
_WHOLE = frozenset({"backoff", "template"})


@dataclass(frozen=True, slots=True)
class TypeSettings:
    """How jobs of one type are run in a pool."""

    timeout_ms: int
    max_attempts: int
    backoff_ms: tuple[int, ...]
    """Waits before the second attempt, the third, …; the last one repeats."""
    jitter: float
    estimate_ms: int


@dataclass(frozen=True, slots=True)
class EffectivePool:
    """Every setting of a pool that acts, as numbers, and all of them as users write them."""

    class_: PoolClass
    suspended: bool
    lease_ms: int
    min_replicas: int
    concurrency: int
    namespace: str | None
    """None: the namespace of Fairway itself."""
    template: Mapping[str, Any] | None
    cancel_grace_ms: int
    max_workers_lost: int
    result_ttl_ms: int
    dead_letter_ttl_ms: int
    drain_grace_ms: int
    algorithm: str
    default_type: TypeSettings
    types: Mapping[str, TypeSettings]
    """The types that the pool registers."""
    settings: Mapping[str, Any]
    """Everything in force, under the names of the spec."""

    def for_type(self, name: str) -> TypeSettings:
        """Settings for a type, registered or not."""
        return self.types.get(name, self.default_type)

    def to_status(self) -> dict[str, Any]:
        """What `status.effective` shows: all but the pod template, which is long and all the user's."""
        workers = {name: value for name, value in self.settings["workers"].items() if name != "template"}
        return {**self.settings, "workers": workers}


@dataclass(frozen=True, slots=True)
class EffectiveTenant:
    """Every setting of a tenant that acts, and all of them as users write them."""

    tier: Tier
    weight: int
    suspended: bool
    namespaces: frozenset[str]
    in_flight: int | None
    accounts_from: str
    settings: Mapping[str, Any]
    """Everything in force, under the names of the spec."""

    def to_status(self) -> dict[str, Any]:
        """What `status.effective` shows."""
        return dict(self.settings)


def effective_pool(spec: JobPoolSpec) -> EffectivePool:
    """Complete a pool's spec by the defaults of its class."""
    pool_class = spec.class_ or defaults.DEFAULT_CLASS
    settings = _pool_settings(spec, pool_class)
    workers, queue = settings["workers"], settings["queue"]
    return EffectivePool(
        class_=pool_class,
        suspended=settings["suspend"],
        lease_ms=parse_duration(settings["liveness"]["lease"]),
        min_replicas=settings["scaling"]["minReplicas"],
        concurrency=workers["concurrency"],
        namespace=workers.get("namespace"),
        template=workers.get("template"),
        cancel_grace_ms=parse_duration(settings["cancelGracePeriod"]),
        max_workers_lost=settings["crash"]["maxWorkersLost"],
        result_ttl_ms=parse_duration(queue["resultTTL"]),
        dead_letter_ttl_ms=parse_duration(queue["deadLetterRetention"]),
        drain_grace_ms=parse_duration(settings["drain"]["gracePeriod"]),
        algorithm=settings["algorithm"],
        default_type=_type_settings(settings["defaults"]),
        types={known["name"]: _type_settings(known) for known in settings["types"]},
        settings=settings,
    )


def effective_tenant(spec: TenantSpec) -> EffectiveTenant:
    """Complete a tenant's spec by the defaults of its tier."""
    tier = spec.tier or defaults.DEFAULT_TIER
    by_default = _merge(
        {"tier": tier.value, "namespaces": []}, defaults.TENANT, defaults.TENANT_BY_TIER[tier]
    )
    settings = _merge(by_default, _said(spec))
    if "webhook" in settings:
        settings["webhook"] = _merge({"events": list(defaults.WEBHOOK_EVENTS)}, settings["webhook"])
    if "reservations" in settings:
        settings["reservations"] = [_merge({"overflow": True}, each) for each in settings["reservations"]]
    return EffectiveTenant(
        tier=tier,
        weight=settings["weight"],
        suspended=settings["suspend"],
        namespaces=frozenset(settings["namespaces"]),
        in_flight=settings["limits"]["inFlight"],
        accounts_from=settings["accounts"]["from"],
        settings=settings,
    )


def _pool_settings(spec: JobPoolSpec, pool_class: PoolClass) -> dict[str, Any]:
    by_default = _merge(
        {"class": pool_class.value, "capabilities": [], "types": []},
        defaults.POOL,
        defaults.POOL_BY_CLASS[pool_class],
    )
    said = _said(spec)
    settings = _merge(by_default, said)
    below_types = _merge(settings["defaults"], {"breaker": defaults.TYPE_BREAKER})
    settings["types"] = [_merge(below_types, each) for each in settings["types"]]
    if pool_class is PoolClass.LONG and "every" not in said.get("checkpoint", {}):
        settings["checkpoint"]["everyForJobsOver1h"] = defaults.LONG_CHECKPOINT_EVERY
    return settings


def _type_settings(settings: Mapping[str, Any]) -> TypeSettings:
    retry = settings["retry"]
    return TypeSettings(
        timeout_ms=parse_duration(settings["timeout"]),
        max_attempts=retry["maxAttempts"],
        backoff_ms=_waits(retry["backoff"]),
        jitter=retry["jitter"],
        estimate_ms=parse_duration(settings["estimate"]),
    )


def _waits(backoff: list[str] | Mapping[str, Any]) -> tuple[int, ...]:
    """Waits in milliseconds, however they were written; a curve becomes its steps up to the maximum."""
    if isinstance(backoff, list):
        return tuple(parse_duration(wait) for wait in backoff)
    wait, longest = parse_duration(backoff["base"]), parse_duration(backoff["max"])
    steps: list[int] = []
    while wait < longest and len(steps) < _MAX_CURVE_STEPS:
        steps.append(wait)
        following = round(wait * backoff["factor"])
        if following == wait:
            return tuple(steps)
        wait = following
    return (*steps, longest)


def _said(model: ApiModel) -> dict[str, Any]:
    """What the user wrote, under the users' names. Null counts only where it means "no limit"."""
    said: dict[str, Any] = {}
    for attribute, field in type(model).model_fields.items():
        value = getattr(model, attribute)
        extra = field.json_schema_extra
        none_by_null = isinstance(extra, dict) and bool(extra.get(NONE_BY_NULL))
        if attribute in model.model_fields_set and (value is not None or none_by_null):
            said[field.alias or attribute] = _plain(value)
    return said


def _plain(value: Any) -> Any:
    if isinstance(value, BackoffCurve):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, ApiModel):
        return _said(value)
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, StrEnum) else value


def _merge(*layers: Mapping[str, Any]) -> dict[str, Any]:
    """The layers on top of each other, objects field by field; changing the outcome changes none of them."""
    merged: dict[str, Any] = {}
    for layer in layers:
        for name, value in layer.items():
            if isinstance(value, Mapping) and name not in _WHOLE:
                below = merged.get(name)
                merged[name] = _merge(below if isinstance(below, Mapping) else {}, value)
            else:
                merged[name] = list(value) if isinstance(value, list) else value
    return merged
