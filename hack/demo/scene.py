"""What the demo puts on the cluster and what it reads back."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hack.cluster import Cluster

HERE = Path(__file__).resolve().parent
POOL = "demo"
TEAMS = ("team-red", "team-blue")
ENDED = ("Succeeded", "DeadLettered", "Cancelled", "Expired", "Failed")


class DemoError(Exception):
    """The demo cannot go on; the message says why."""


@dataclass(frozen=True)
class Job:
    """One Job as the table needs it. Times are seconds since the epoch, None before they came."""

    team: str
    name: str
    phase: str
    created: float
    started: float | None
    finished: float | None


@dataclass(frozen=True)
class Picture:
    """Everything the table shows, read at one moment."""

    weights: dict[str, int]
    jobs: list[Job]
    oldest_age: float
    ready_replicas: int
    desired_replicas: int
    total_slots: int
    pool_message: str = ""
    running: dict[str, int] = field(default_factory=dict)

    def of(self, team: str) -> list[Job]:
        """Returns one team's jobs."""
        return [job for job in self.jobs if job.team == team]

    @property
    def over(self) -> bool:
        """Whether every job has ended."""
        return bool(self.jobs) and all(job.phase in ENDED for job in self.jobs)


def set_up(cluster: Cluster) -> None:
    """Applies the manifests; jobs of an earlier run go first, as a Job's spec cannot change."""
    pool, tenants, jobs = (str(path) for path in sorted(HERE.glob("*.yaml")))
    cluster.kubectl("apply", "-f", pool, "-f", tenants)
    cluster.kubectl("delete", "-f", jobs, "--ignore-not-found", timeout=120)
    cluster.kubectl("wait", "--for=condition=Ready", f"jobpool/{POOL}", "--timeout=120s", timeout=130)
    cluster.kubectl("apply", "-f", jobs)


def look(cluster: Cluster) -> Picture:
    """Reads the pool, the tenants and their jobs."""
    answer = cluster.kubectl("get", "jobpools,tenants,jobs.fairway.dev", "-A", "-o", "json").stdout
    items = json.loads(answer)["items"]
    pool = next(item for item in items if item["kind"] == "JobPool" and item["metadata"]["name"] == POOL)
    status = pool.get("status", {})
    tenants = [item for item in items if item["kind"] == "Tenant" and item["metadata"]["name"] in TEAMS]
    jobs = [item for item in items if item["kind"] == "Job" and item["metadata"]["namespace"] in TEAMS]
    return Picture(
        weights={tenant["metadata"]["name"]: tenant["spec"]["weight"] for tenant in tenants},
        jobs=[_job(item) for item in jobs],
        oldest_age=status.get("oldestJobAgeSeconds", 0),
        ready_replicas=status.get("readyReplicas", 0),
        desired_replicas=status.get("desiredReplicas", 0),
        total_slots=status.get("totalSlots", 0),
        pool_message=_message(status),
        running={tenant["metadata"]["name"]: _running(tenant) for tenant in tenants},
    )


def shares_while_both_waited(picture: Picture) -> dict[str, float]:
    """Returns each team's part of the slot-time given out while both still had jobs waiting.

    Only then does a weight matter: a team that is alone gets everything.
    """
    last_starts = [max((job.started or 0 for job in picture.of(team)), default=0) for team in TEAMS]
    both_waited_until = min(last_starts)
    used = {
        team: sum(
            max(0.0, min(job.finished or both_waited_until, both_waited_until) - job.started)
            for job in picture.of(team)
            if job.started is not None
        )
        for team in TEAMS
    }
    total = sum(used.values()) or 1
    return {team: seconds / total for team, seconds in used.items()}


def summary(picture: Picture) -> str:
    """Returns the closing lines: what happened, and what a reader may try next."""
    shares = shares_while_both_waited(picture)
    total_weight = sum(picture.weights.values())
    lines = ["", "What happened"]
    for team in TEAMS:
        jobs = picture.of(team)
        succeeded = sum(job.phase == "Succeeded" for job in jobs)
        waits = [job.started - job.created for job in jobs if job.started is not None]
        entitled = picture.weights[team] / total_weight
        lines.append(
            f"  {team:<10} weight {picture.weights[team]:>3}: {succeeded} of {len(jobs)} jobs succeeded, "
            f"mean wait {sum(waits) / max(1, len(waits)):.1f} s, "
            f"{shares[team]:.0%} of the slot-time while both waited (by weight: {entitled:.0%})",
        )
    return "\n".join([*lines, "", _NEXT])


_NEXT = """The cluster is still up. Try:
  export KUBECONFIG=$PWD/.cluster/kubeconfig PATH=$PWD/.cluster/bin:$PATH
  kubectl get fairway -A                                  # pools, tenants and jobs
  kubectl get fjob -n team-red greet-01 -o yaml           # one job's life
  kubectl logs -n fairway-system -l fairway.dev/pool=demo # what the jobs printed
  kubectl apply -f docs/first-job.yaml && kubectl wait --for=condition=Complete fjob/hello -n team-red
  make test                                               # every test, on this cluster
  make cluster-down                                       # when you are done"""


def _job(item: dict[str, Any]) -> Job:
    status = item.get("status", {})
    return Job(
        team=item["metadata"]["namespace"],
        name=item["metadata"]["name"],
        phase=status.get("phase", "Pending"),
        created=_seconds(item["metadata"]["creationTimestamp"]) or 0,
        started=_seconds(status.get("startedAt")),
        finished=_seconds(status.get("finishedAt")),
    )


def _running(tenant: dict[str, Any]) -> int:
    pools = tenant.get("status", {}).get("pools", [])
    return sum(pool.get("running", 0) for pool in pools if pool["name"] == POOL)


def _seconds(text: str | None) -> float | None:
    return datetime.fromisoformat(text).timestamp() if text else None


def _message(status: dict[str, Any]) -> str:
    ready = next((c for c in status.get("conditions", []) if c["type"] == "Ready"), {})
    return str(ready.get("message", "")) if ready.get("status") != "True" else ""
