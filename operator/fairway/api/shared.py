"""Parts that several kinds share: references to Secrets, retry rules, resource limits, conditions."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ConfigDict, Discriminator, Field, Tag, WithJsonSchema

from fairway.api import durations
from fairway.api.defaults import pool_default
from fairway.api.durations import Duration
from fairway.api.model import ApiModel, Name, Text, says
from fairway.api.quantities import Quantity

MAX_BACKOFFS = 32


class SecretKey(ApiModel):
    """One key of a Secret."""

    name: Annotated[Name, says("Name of the Secret.")]
    namespace: Annotated[
        Name | None,
        says("Namespace of the Secret.", default="the Job's own; for JobPool and Tenant, Fairway's"),
    ] = None
    key: Annotated[Text | None, says("Key in the Secret.", default="its only key")] = None


class BackoffCurve(ApiModel):
    """Waits that grow by a factor."""

    # The API server cannot tell an unknown field here (see Backoff), so a typo is caught by us.
    model_config = ConfigDict(extra="forbid")

    base: Annotated[Duration, says("The first wait.")]
    factor: Annotated[
        float, says("What each wait is multiplied by for the next.", default="2", ge=1, le=100)
    ] = 2.0
    max: Annotated[Duration, says("The longest wait.", default="60s")] = "60s"


_BACKOFF_ADVICE = "write a list of waits such as [30s, 5m], or {base: 250ms, factor: 2, max: 60s}"


def _pick_form(value: Any) -> str:
    """Choose by the value's shape, so that an error speaks of the form that was meant."""
    return "list" if isinstance(value, list) else "curve"


def _check_form(value: Any) -> Any:
    if isinstance(value, (list, dict, BackoffCurve)):
        return value
    raise ValueError(f"{value!r} is no backoff: {_BACKOFF_ADVICE}")


_WAIT_SCHEMA = {"type": "string", "maxLength": durations.MAX_LENGTH, "pattern": durations.PATTERN}

Backoff = Annotated[
    Annotated[Annotated[list[Duration], Field(min_length=1, max_length=MAX_BACKOFFS)], Tag("list")]
    | Annotated[BackoffCurve, Tag("curve")],
    Discriminator(_pick_form),
    BeforeValidator(_check_form),
    # Two forms have no common type, and a structural schema has no unions. Without a type, `items` still
    # looks at lists, `properties` and `required` at objects, and `pattern` at text, which is never right: so
    # it tells what to write. Numbers and booleans pass here and are refused by the model.
    WithJsonSchema(
        {
            "x-kubernetes-preserve-unknown-fields": True,
            "x-fairway-type": "list of durations, or {base, factor, max}",
            "pattern": "^(a list of waits such as: 30s, 5m; or base, factor and max)$",
            "minItems": 1,
            "maxItems": MAX_BACKOFFS,
            "items": _WAIT_SCHEMA,
            "required": ["base"],
            "properties": {
                "base": {**_WAIT_SCHEMA, "description": "The first wait."},
                "factor": {
                    "type": "number",
                    "minimum": 1,
                    "maximum": 100,
                    "description": "What each wait is multiplied by for the next. Default: 2.",
                },
                "max": {**_WAIT_SCHEMA, "description": "The longest wait. Default: 60s."},
            },
        }
    ),
]
"""Waits between attempts: a list (its last entry repeats), or a curve."""


class Retry(ApiModel):
    """How a failed job is tried again."""

    max_attempts: Annotated[
        int | None,
        says(
            "How many attempts that count a job gets. Lost workers and releases do not count.",
            default=pool_default("defaults.retry.maxAttempts"),
            ge=1,
            le=100,
        ),
    ] = None
    backoff: Annotated[
        Backoff | None,
        says(
            "Waits between attempts: a list such as [30s, 5m], whose last entry repeats, "
            "or {base: 250ms, factor: 2, max: 60s}.",
            default=pool_default("defaults.retry.backoff"),
        ),
    ] = None
    jitter: Annotated[
        float | None,
        says(
            "Each wait is made longer or shorter by up to this part of it.",
            default=pool_default("defaults.retry.jitter"),
            ge=0,
            le=1,
        ),
    ] = None


class Resources(ApiModel):
    """What one job may use."""

    memory: Annotated[Quantity | None, says("Memory of the job's process.", default="no limit")] = None
    cpu_time: Annotated[Duration | None, says("CPU time of the job's process.", default="no limit")] = None


class Condition(ApiModel):
    """One thing that is so, or not, about an object."""

    type: Annotated[str, says("What the condition is about.", max_length=316)]
    status: Annotated[Literal["True", "False", "Unknown"], says("Whether it is so.")]
    observed_generation: Annotated[
        int | None, says("The generation of the object that this was seen on.", ge=0)
    ] = None
    last_transition_time: Annotated[datetime, says("When status last changed.")]
    reason: Annotated[str, says("Why, as one word for programs.", max_length=1024)]
    message: Annotated[str, says("Why, as a sentence for people.", max_length=32768)] = ""


Conditions = Annotated[
    list[Condition],
    Field(
        max_length=32,
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
    ),
]
"""At most one condition of each type, as `kubectl wait` expects."""
