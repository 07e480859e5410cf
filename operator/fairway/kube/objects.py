"""Pure builders of statuses: conditions, times, and the reasons that pods give for not running."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_MESSAGE = 4096
"""A message is read by a person; the schema would allow more."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One thing that is so, or not, about an object."""

    type: str
    holds: bool
    reason: str
    message: str


def timestamp(at_ms: int) -> str:
    """Return a time as Kubernetes writes it, to the millisecond."""
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def whole_seconds(at_ms: int) -> str:
    """Return a time as the conditions of Kubernetes' own kinds write it."""
    return datetime.fromtimestamp(at_ms // 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def parse_timestamp(text: str) -> int:
    """Return the milliseconds since the epoch of a time that Kubernetes wrote."""
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def version_of(metadata: Mapping[str, Any]) -> int:
    """Return the resource version as a number: it only grows, so an older view of an object can be told."""
    text = str(metadata.get("resourceVersion", ""))
    return int(text) if text.isdecimal() else 0


def shorten(text: str, limit: int = MAX_MESSAGE) -> str:
    """Return a text that fits, with a mark where it was cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def find_condition(status: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    """Return the condition of one type, if a status has it."""
    found: Iterable[Mapping[str, Any]] = status.get("conditions") or []
    return next((each for each in found if each.get("type") == kind), None)


def holds(status: Mapping[str, Any], kind: str) -> bool:
    """Tell whether a status says that a condition is true."""
    found = find_condition(status, kind)
    return found is not None and found.get("status") == "True"


def merge_conditions(
    previous: Mapping[str, Any], wanted: Sequence[Condition], generation: int, now_ms: int
) -> list[dict[str, Any]]:
    """Return the conditions of a status with the wanted ones in place, others kept.

    The time of the last transition stays while the status of a condition does.
    """
    ours = {each.type for each in wanted}
    kept = [dict(each) for each in previous.get("conditions") or [] if each.get("type") not in ours]
    return [
        *kept,
        *(_write(each, find_condition(previous, each.type), generation, now_ms) for each in wanted),
    ]


def _write(
    condition: Condition, before: Mapping[str, Any] | None, generation: int, now_ms: int
) -> dict[str, Any]:
    status = "True" if condition.holds else "False"
    unchanged = before is not None and before.get("status") == status
    return {
        "type": condition.type,
        "status": status,
        "observedGeneration": generation,
        "lastTransitionTime": before["lastTransitionTime"] if before and unchanged else whole_seconds(now_ms),
        "reason": condition.reason,
        "message": shorten(condition.message),
    }


def without_nulls(status: Mapping[str, Any]) -> dict[str, Any]:
    """Return a status without the fields that have no value."""
    return {name: value for name, value in status.items() if value is not None}


# -- why workers do not run ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why the workers of a pool are not there: a word for programs, a sentence for people."""

    reason: str
    message: str


def deployment_trouble(deployment: Mapping[str, Any], pods: Iterable[Mapping[str, Any]]) -> Trouble | None:
    """Return what keeps a Deployment's pods from running, in the words of the one who knows."""
    # The newest first: they have the template that is in force.
    for pod in sorted(pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp")), reverse=True):
        if trouble := _pod_trouble(pod):
            return trouble
    for condition in (deployment.get("status") or {}).get("conditions") or []:
        if condition.get("type") == "ReplicaFailure" and condition.get("status") == "True":
            return Trouble("PodsRefused", condition.get("message") or "the pods of the workers were refused")
    return None


def _pod_trouble(pod: Mapping[str, Any]) -> Trouble | None:
    status, name = pod.get("status") or {}, pod["metadata"]["name"]
    if pod["metadata"].get("deletionTimestamp"):
        return None
    for condition in status.get("conditions") or []:
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            told = condition.get("message") or condition.get("reason") or "no node takes it"
            return Trouble("PodsUnschedulable", f"Pod {name} cannot be placed: {told}")
    for container in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        waiting = (container.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") not in {None, "ContainerCreating", "PodInitializing"}:
            told = waiting.get("message") or "no more is known"
            return Trouble(waiting["reason"], f"Container {container['name']} of pod {name}: {told}")
    return None
