"""The defaults of the API, as data: what holds everywhere, what comes from a pool's class or a tenant's tier.

Written in the users' own names and forms, so that one merge gives the settings in force. Nothing here is a
default of the CRD's schema: the API server would write those into specs, and GitOps tools would see a drift.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final


class PoolClass(StrEnum):
    """How long a pool's jobs usually run."""

    SHORT = "short"
    MEDIUM = "medium"
    LONG = "long"


class Tier(StrEnum):
    """What a tenant is promised."""

    FREE = "free"
    STANDARD = "standard"
    PRO = "pro"
    ENTERPRISE = "enterprise"


DEFAULT_CLASS: Final = PoolClass.MEDIUM
DEFAULT_TIER: Final = Tier.STANDARD

APP_BACKOFF: Final = ("1s", "5s", "30s", "5m", "30m")
BACKOFF_JITTER: Final = 0.25
MAX_REPLICAS: Final = 20

POOL: Final[dict[str, Any]] = {
    "algorithm": "fair",
    "suspend": False,
    "queue": {
        "maxQueued": 10_000_000,
        "maxBytes": "8Gi",
        "resultTTL": "24h",
        "deadLetterRetention": "168h",
        "promotePerSecond": 10_000,
        "jitter": "60s",
        "jitterBeyond": "1h",
        "refuseWithoutWorkers": False,
    },
    "priority": {"high": "0s", "medium": "20m", "low": "30m", "strict": False},
    # In class long, `every` follows the job: LONG_CHECKPOINT_EVERY for one expected to take over LONG_JOB.
    "checkpoint": {"every": "1m", "store": "redis", "keep": 2},
    "breaker": {
        "errorRate": 0.2,
        "window": "60s",
        "halfOpenAfter": "30s",
        "minimumJobs": 20,
        "minimumTenants": 2,
    },
    "scaling": {
        "mode": "queueAge",
        "minReplicas": 0,
        "maxReplicas": MAX_REPLICAS,
        "stabilization": "5m",
        "replicas": 0,
    },
    "defaults": {"retry": {"backoff": list(APP_BACKOFF), "jitter": BACKOFF_JITTER}},
    "cancelGracePeriod": "5m",
    "crash": {"maxWorkersLost": 5},
    "poison": {"failureRate": 0.5, "window": "1h", "maxAttempts": 2},
    "affinitySlack": "30s",
    "stuckAfter": "24h",
    "drain": {"unsaved": "finish"},
}

POOL_BY_CLASS: Final[dict[PoolClass, dict[str, Any]]] = {
    PoolClass.SHORT: {
        "workers": {"concurrency": 50},
        "liveness": {"lease": "10s"},
        "checkpoint": {"mode": "none"},
        "defaults": {"timeout": "30s", "estimate": "10s", "retry": {"maxAttempts": 5}},
        "scaling": {"targetQueueAge": "5s", "idleFor": "1m", "warm": 0.1},
        "drain": {"checkpointTimeout": "10s", "gracePeriod": "30s"},
    },
    PoolClass.MEDIUM: {
        "workers": {"concurrency": 8},
        "liveness": {"lease": "5m"},
        "checkpoint": {"mode": "optional"},
        "defaults": {"timeout": "10m", "estimate": "60s", "retry": {"maxAttempts": 3}},
        "scaling": {"targetQueueAge": "5s", "idleFor": "5m", "warm": 0.1},
        "drain": {"checkpointTimeout": "1m", "gracePeriod": "10m"},
    },
    PoolClass.LONG: {
        "workers": {"concurrency": 1},
        "liveness": {"lease": "90s"},
        "checkpoint": {"mode": "required"},
        "defaults": {"timeout": "24h", "estimate": "10m", "retry": {"maxAttempts": 2}},
        "scaling": {"targetQueueAge": "60s", "idleFor": "30m", "warm": 0.0},
        "drain": {"checkpointTimeout": "5m", "gracePeriod": "24h"},
    },
}

CHECKPOINT_REQUIRED_ABOVE: Final = "5m"
"""`checkpoint.mode: required` asks it of jobs expected to take longer than this."""
LONG_JOB: Final = "1h"
LONG_CHECKPOINT_EVERY: Final = "5m"

DISPATCH_GOAL: Final[dict[PoolClass, str]] = {
    PoolClass.SHORT: "500ms",
    PoolClass.MEDIUM: "5s",
    PoolClass.LONG: "60s",
}
"""99 of 100 first dispatches happen within this."""

TYPE_BREAKER: Final[dict[str, Any]] = {
    "errorRate": 0.5,
    "window": "5m",
    "consecutive": 0,
    "openFor": "60s",
    "refuseNew": False,
}
"""`breaker` of a pool's type; `consecutive: 0` does not count failures in a row."""

TENANT: Final[dict[str, Any]] = {
    "suspend": False,
    "limits": {"queued": 10_000_000, "inFlight": None},
    "idempotencyWindow": "24h",
    "accounts": {"from": "namespace", "claim": "sub", "queued": 1000},
    "retryBudget": 2.0,
}

TENANT_BY_TIER: Final[dict[Tier, dict[str, Any]]] = {
    Tier.FREE: {
        "weight": 1,
        "minimumShare": 0.0,
        "maximumShare": 0.05,
        "limits": {"submissions": "1000/s"},
        "accounts": {"submissions": "3/m", "inFlight": 2},
    },
    Tier.STANDARD: {
        "weight": 10,
        "minimumShare": 0.0,
        "maximumShare": 1.0,
        "limits": {"submissions": "100/s"},
        "accounts": {"submissions": "30/m", "inFlight": None},
    },
    Tier.PRO: {
        "weight": 100,
        "minimumShare": 0.01,
        "maximumShare": 1.0,
        "limits": {"submissions": "10000/s"},
        "accounts": {"submissions": None, "inFlight": None},
    },
    Tier.ENTERPRISE: {
        "weight": 1000,
        "minimumShare": 0.01,
        "maximumShare": 1.0,
        "limits": {"submissions": None},
        "accounts": {"submissions": None, "inFlight": None},
    },
}

WEBHOOK_EVENTS: Final = ("succeeded", "dead-lettered")

SCHEDULE: Final[dict[str, Any]] = {
    "timeZone": "UTC",
    "concurrencyPolicy": "Forbid",
    "startingDeadline": "10m",
    "successfulHistory": 3,
    "failedHistory": 3,
}

MAX_PAYLOAD_DEPTH: Final = 100  # levels of objects and lists; the queue's and the handlers' JSON must bear it
MAX_PAYLOAD_BYTES: Final = 256 * 1024


def pool_default(path: str) -> str:
    """What holds for a field of a JobPool's spec that is unset, in words."""
    return _in_words(path, POOL, POOL_BY_CLASS)


def tenant_default(path: str) -> str:
    """What holds for a field of a Tenant's spec that is unset, in words."""
    return _in_words(path, TENANT, TENANT_BY_TIER)


def in_words(value: Any) -> str:
    """A value as YAML writes it."""
    if value is None:
        return "no limit"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(value)}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _in_words(path: str, constant: Mapping[str, Any], by_choice: Mapping[Any, Mapping[str, Any]]) -> str:
    try:
        return in_words(_look_up(constant, path))
    except KeyError:
        return ", ".join(f"{choice} {in_words(_look_up(table, path))}" for choice, table in by_choice.items())


def _look_up(table: Mapping[str, Any], path: str) -> Any:
    value: Any = table
    for name in path.split("."):
        value = value[name]
    return value
