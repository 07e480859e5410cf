"""Settings in force, against the tables of the contract."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fairway.api import defaults
from fairway.api.defaults import PoolClass, Tier
from fairway.api.jobpool import JobPoolSpec
from fairway.api.tenant import TenantSpec
from fairway.policy.effective import (
    EffectivePool,
    EffectiveTenant,
    TypeSettings,
    effective_pool,
    effective_tenant,
)

SECOND, MINUTE, HOUR = 1000, 60_000, 3_600_000
APP_BACKOFF = (SECOND, 5 * SECOND, 30 * SECOND, 5 * MINUTE, 30 * MINUTE)


def _pool(**spec: Any) -> EffectivePool:
    return effective_pool(JobPoolSpec.model_validate(spec))


def _tenant(**spec: Any) -> EffectiveTenant:
    return effective_tenant(TenantSpec.model_validate(spec))


@pytest.mark.parametrize(
    ("name", "concurrency", "lease", "attempts", "estimate", "timeout", "drain"),
    [
        ("short", 50, 10 * SECOND, 5, 10 * SECOND, 30 * SECOND, 30 * SECOND),
        ("medium", 8, 5 * MINUTE, 3, 60 * SECOND, 10 * MINUTE, 10 * MINUTE),
        ("long", 1, 90 * SECOND, 2, 10 * MINUTE, 24 * HOUR, 24 * HOUR),
    ],
)
def test_every_class_has_its_numbers(  # noqa: PLR0913, PLR0917 -- one argument for each row of the contract's table
    name: str, concurrency: int, lease: int, attempts: int, estimate: int, timeout: int, drain: int
) -> None:
    pool = _pool(**{"class": name})
    assert (pool.class_, pool.concurrency, pool.lease_ms, pool.drain_grace_ms) == (
        name,
        concurrency,
        lease,
        drain,
    )
    assert pool.for_type("any") == TypeSettings(timeout, attempts, APP_BACKOFF, 0.25, estimate)


@pytest.mark.parametrize(
    ("name", "scaling", "checkpoint", "checkpoint_timeout"),
    [
        ("short", ("5s", "1m", "5m", 0.1), {"mode": "none"}, "10s"),
        ("medium", ("5s", "5m", "5m", 0.1), {"mode": "optional", "every": "1m"}, "1m"),
        (
            "long",
            ("60s", "30m", "5m", 0.0),
            {"mode": "required", "every": "1m", "everyForJobsOver1h": "5m"},
            "5m",
        ),
    ],
)
def test_what_does_not_act_yet_is_resolved_too(
    name: str, scaling: tuple[Any, ...], checkpoint: dict[str, str], checkpoint_timeout: str
) -> None:
    shown = _pool(**{"class": name}).to_status()
    found = shown["scaling"]
    assert (found["targetQueueAge"], found["idleFor"], found["stabilization"], found["warm"]) == scaling
    assert checkpoint.items() <= shown["checkpoint"].items()
    assert shown["drain"]["checkpointTimeout"] == checkpoint_timeout


def test_what_holds_for_every_class() -> None:
    for name in PoolClass:
        pool = _pool(**{"class": name})
        assert (pool.suspended, pool.min_replicas, pool.max_workers_lost) == (False, 0, 5)
        assert (pool.result_ttl_ms, pool.dead_letter_ttl_ms) == (24 * HOUR, 168 * HOUR)
        assert (pool.cancel_grace_ms, pool.namespace, pool.template) == (5 * MINUTE, None, None)


def test_a_pool_that_says_nothing_is_medium_and_null_says_nothing() -> None:
    assert _pool() == _pool(**{"class": "medium"})
    nothing = _pool(**{"class": None, "liveness": {"lease": None}, "scaling": None, "types": None})
    assert nothing == _pool()


def test_what_a_pool_says_wins() -> None:
    pool = _pool(
        **{"class": "long", "suspend": True, "liveness": {"lease": "20s"}, "checkpoint": {"every": "2m"}},
        scaling={"minReplicas": 3},
        workers={"concurrency": 4, "namespace": "jobs", "template": {"spec": {"containers": []}}},
        queue={"resultTTL": "1h"},
    )
    assert (pool.suspended, pool.lease_ms, pool.min_replicas, pool.concurrency) == (True, 20 * SECOND, 3, 4)
    assert (pool.namespace, pool.template) == ("jobs", {"spec": {"containers": []}})
    assert (pool.result_ttl_ms, pool.dead_letter_ttl_ms) == (HOUR, 168 * HOUR)
    shown = pool.to_status()
    assert shown["workers"] == {"concurrency": 4, "namespace": "jobs"}
    assert shown["checkpoint"]["every"] == "2m"
    assert "everyForJobsOver1h" not in shown["checkpoint"]


def test_a_type_falls_back_to_the_pools_defaults_and_those_to_the_class() -> None:
    pool = _pool(
        **{"class": "short"},
        defaults={"timeout": "1m", "retry": {"maxAttempts": 7, "jitter": 0}},
        types=[{"name": "quick", "timeout": "2s", "retry": {"backoff": ["100ms"]}}, {"name": "plain"}],
    )
    assert pool.for_type("quick") == TypeSettings(2 * SECOND, 7, (100,), 0, 10 * SECOND)
    assert pool.for_type("plain") == pool.for_type("unknown")
    assert pool.for_type("unknown") == TypeSettings(MINUTE, 7, APP_BACKOFF, 0, 10 * SECOND)
    assert set(pool.types) == {"quick", "plain"}


@pytest.mark.parametrize(
    ("backoff", "waits"),
    [
        (["30s", "5m"], (30 * SECOND, 5 * MINUTE)),
        ({"base": "250ms", "factor": 2, "max": "2s"}, (250, 500, 1000, 2000)),
        ({"base": "250ms"}, (250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 60000)),
        ({"base": "1s", "factor": 1}, (1000,)),
        ({"base": "0s"}, (0,)),
        ({"base": "2m", "max": "1m"}, (60000,)),
        ({"base": "1s", "factor": 3, "max": "10s"}, (1000, 3000, 9000, 10000)),
    ],
)
def test_backoffs_of_both_forms_become_waits(backoff: Any, waits: tuple[int, ...]) -> None:
    assert _pool(defaults={"retry": {"backoff": backoff}}).for_type("any").backoff_ms == waits


def test_a_curve_of_a_type_is_not_mixed_with_the_pools() -> None:
    pool = _pool(
        defaults={"retry": {"backoff": {"base": "1s", "factor": 10, "max": "1h"}}},
        types=[{"name": "t", "retry": {"backoff": {"base": "30s"}}}],
    )
    assert pool.for_type("t").backoff_ms == (30 * SECOND, 60 * SECOND)


def test_a_curve_that_hardly_grows_ends() -> None:
    waits = (
        _pool(defaults={"retry": {"backoff": {"base": "1s", "factor": 1.001, "max": "24h"}}})
        .for_type("t")
        .backoff_ms
    )
    assert len(waits) == 101
    assert list(waits) == sorted(waits)


@pytest.mark.parametrize(
    ("tier", "weight", "shares", "submissions", "accounts"),
    [
        ("free", 1, (0, 0.05), "1000/s", ("3/m", 2)),
        ("standard", 10, (0, 1), "100/s", ("30/m", None)),
        ("pro", 100, (0.01, 1), "10000/s", (None, None)),
        ("enterprise", 1000, (0.01, 1), None, (None, None)),
    ],
)
def test_every_tier_has_its_numbers(
    tier: str, weight: int, shares: tuple[float, float], submissions: str | None, accounts: tuple[Any, Any]
) -> None:
    tenant = _tenant(tier=tier)
    shown = tenant.to_status()
    assert (tenant.tier, tenant.weight, tenant.in_flight, tenant.suspended) == (tier, weight, None, False)
    assert (shown["minimumShare"], shown["maximumShare"]) == shares
    assert shown["limits"] == {"submissions": submissions, "queued": 10_000_000, "inFlight": None}
    assert (shown["accounts"]["submissions"], shown["accounts"]["inFlight"]) == accounts
    assert shown["accounts"]["queued"] == 1000
    assert (shown["idempotencyWindow"], shown["retryBudget"]) == ("24h", 2.0)


def test_a_tenant_that_says_nothing_is_standard_and_null_lifts_a_limit() -> None:
    assert _tenant() == _tenant(tier="standard")
    assert _tenant(weight=None) == _tenant()
    free = _tenant(tier="free", accounts={"inFlight": None}, limits={"queued": None}).to_status()
    assert free["accounts"]["inFlight"] is None
    assert free["accounts"]["submissions"] == "3/m"
    assert free["limits"]["queued"] is None


def test_what_a_tenant_says_wins() -> None:
    tenant = _tenant(
        tier="pro",
        weight=7,
        suspend=True,
        namespaces=["a", "b"],
        limits={"inFlight": 5},
        accounts={"from": "spec"},
        reservations=[{"pool": "p", "replicas": 1}, {"pool": "q", "replicas": 1, "overflow": False}],
        webhook={"url": "https://example.com"},
    )
    assert (tenant.weight, tenant.suspended, tenant.in_flight) == (7, True, 5)
    assert (tenant.namespaces, tenant.accounts_from) == (frozenset({"a", "b"}), "spec")
    shown = tenant.to_status()
    assert [reservation["overflow"] for reservation in shown["reservations"]] == [True, False]
    assert shown["webhook"]["events"] == ["succeeded", "dead-lettered"]


def test_resolving_changes_neither_the_tables_nor_the_spec() -> None:
    before = json.dumps([defaults.POOL, defaults.POOL_BY_CLASS, defaults.TENANT, defaults.TENANT_BY_TIER])
    spec = JobPoolSpec.model_validate({"class": "long", "types": [{"name": "a"}]})
    written = spec.to_kubernetes()
    shown = effective_pool(spec).to_status()
    shown["checkpoint"]["mode"] = "changed"
    shown["defaults"]["retry"]["backoff"].append("changed")
    for tier in Tier:
        _tenant(tier=tier).to_status()["limits"]["queued"] = "changed"
    assert spec.to_kubernetes() == written
    assert (
        json.dumps([defaults.POOL, defaults.POOL_BY_CLASS, defaults.TENANT, defaults.TENANT_BY_TIER])
        == before
    )


def test_the_outcome_is_plain_json() -> None:
    for name in PoolClass:
        shown = _pool(
            **{"class": name}, types=[{"name": "a", "retry": {"backoff": {"base": "1s"}}}]
        ).to_status()
        assert json.loads(json.dumps(shown)) == shown
        assert JobPoolSpec.model_validate(shown)
