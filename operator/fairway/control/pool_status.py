"""What the statuses of a JobPool and a Tenant say, as pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairway.api.phases import ConditionType
from fairway.kube.deployments import selector_text, worker_labels
from fairway.kube.objects import Condition, Trouble, merge_conditions, without_nulls

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairway.control.state import PoolView, TenantView
    from fairway.queue import PoolState

_MINUTE_MS = 60_000
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Workers:
    """How many workers of a pool there should be, there are, and are ready; None: not known."""

    desired: int
    replicas: int | None = None
    ready: int | None = None


def pool_status(
    view: PoolView, workers: Workers, state: PoolState | None, trouble: Trouble | None, now_ms: int
) -> dict[str, Any]:
    """Return the status of a JobPool; what is not known now stays as it was."""
    ready = Condition(ConditionType.READY, trouble is None, *_ready_words(view, workers, trouble))
    return without_nulls(
        {
            **view.status,
            "observedGeneration": view.generation,
            "effective": view.effective.to_status() if view.effective else None,
            "conditions": merge_conditions(view.status, [ready], view.generation, now_ms),
            "desiredReplicas": workers.desired,
            "selector": selector_text(worker_labels(view.identity.name)),
            **(
                {}
                if workers.replicas is None
                else {"replicas": workers.replicas, "readyReplicas": workers.ready or 0}
            ),
            **({} if state is None else _numbers(state)),
        },
    )


def tenant_status(
    view: TenantView, pools: Mapping[str, PoolState], trouble: Trouble | None, now_ms: int
) -> dict[str, Any]:
    """Return the status of a Tenant."""
    told = (
        (trouble.reason, trouble.message)
        if trouble
        else ("Configured", "Its settings are in force in every pool.")
    )
    ready = Condition(ConditionType.READY, trouble is None, *told)
    parts = [part for name in sorted(pools) if (part := _part(view.identity.name, name, pools[name]))]
    return without_nulls(
        {
            **view.status,
            "observedGeneration": view.generation,
            "effective": view.effective.to_status() if view.effective else None,
            "conditions": merge_conditions(view.status, [ready], view.generation, now_ms),
            "queued": sum(part["queued"] for part in parts),
            "running": sum(part["running"] for part in parts),
            "pools": parts,
        },
    )


def _ready_words(view: PoolView, workers: Workers, trouble: Trouble | None) -> tuple[str, str]:
    if trouble:
        return trouble.reason, trouble.message
    told = f"{workers.ready or 0} of {workers.desired} workers are ready."
    if view.effective and view.effective.suspended:
        return "Suspended", f"Suspended: nothing is dispatched. {told}"
    return "WorkersReady", told


def _numbers(state: PoolState) -> dict[str, Any]:
    return {
        "queued": state.queued,
        "scheduled": state.delayed,
        "running": state.running,
        "deadLettered": state.dead_lettered,
        "oldestJobAgeSeconds": _coarse_age(state.oldest_age_ms),
        "busySlots": sum(worker.busy for worker in state.workers),
        "totalSlots": sum(worker.slots for worker in state.workers),
    }


def _coarse_age(age_ms: int) -> int:
    """Return an age in seconds that is as fine as its size deserves: each other number costs a write."""
    step_s = 1 if age_ms < _MINUTE_MS else 10 if age_ms < _HOUR_MS else 60
    return age_ms // 1000 // step_s * step_s


def _part(tenant: str, pool: str, state: PoolState) -> dict[str, Any] | None:
    found = next((each for each in state.tenants if each.name == tenant), None)
    if found is None or not (found.queued or found.running or found.slot_us):
        return None
    return {
        "name": pool,
        "queued": found.queued,
        "running": found.running,
        "slotSeconds": round(found.slot_us / 1_000_000, 3),
        "share": round(found.running / state.running, 3) if state.running else 0,
    }
