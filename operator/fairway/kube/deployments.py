"""The worker Deployment of a pool, as a pure function of the pool and of how Fairway was installed.

What the author of the pool wrote in `workers.template` wins, except for the names that make a pod a worker of
this pool: our labels and the FAIRWAY_ variables that the worker reads.
"""

from __future__ import annotations

import copy
import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairway.api import names
from fairway.api.names import Env

if TYPE_CHECKING:
    from collections.abc import Mapping

HEALTH_PORT = 8081
DRAIN_MARGIN_S = 30
"""Beyond the drain: releasing what is left, closing connections, and the container runtime's own time."""

LABEL_MANAGED_BY = "app.kubernetes.io/managed-by"
LABEL_COMPONENT = "app.kubernetes.io/component"
ANNOTATION_REVISION = f"{names.ANNOTATION_PREFIX}/revision"
_TMP_VOLUME = "fairway-tmp"
_TMP = "/tmp"  # noqa: S108 - a path in the pod, where it is a volume of its own
_HASH_LENGTH = 10
_SECOND_MS = 1000


@dataclass(frozen=True, slots=True)
class WorkerDefaults:
    """What every worker gets from the installation."""

    image: str
    image_pull_policy: str
    redis_url: str
    redis_username: str
    redis_secret: str
    """Secret in the workers' namespace; its key `password` is the workers' Redis password."""
    revision: str
    """Changes when workers have to be rolled although nothing in their pool changed."""


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """What a pool asks of its workers."""

    pool: str
    namespace: str
    replicas: int
    concurrency: int
    drain_ms: int
    template: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Anchor:
    """The ConfigMap that owns the workers, so that removing the chart's release removes them too."""

    name: str
    uid: str


def worker_labels(pool: str) -> dict[str, str]:
    """Return the labels that tell a pool's workers from all other pods; they never change."""
    return {names.LABEL_PART_OF: names.PART_OF, names.LABEL_POOL: pool}


def selector_text(labels: Mapping[str, str]) -> str:
    """Return labels as the API server reads them in a query."""
    return ",".join(f"{name}={value}" for name, value in labels.items())


def managed_selector() -> str:
    """Return the selector of all the Deployments that we made."""
    return selector_text({names.LABEL_PART_OF: names.PART_OF, LABEL_MANAGED_BY: names.FIELD_MANAGER})


def build_deployment(plan: WorkerPlan, defaults: WorkerDefaults, anchor: Anchor) -> dict[str, Any]:
    """Return the Deployment of a pool's workers, ready for server-side apply."""
    labels = worker_labels(plan.pool)
    template = build_template(plan, defaults)
    ours = {**labels, LABEL_MANAGED_BY: names.FIELD_MANAGER, LABEL_COMPONENT: "worker"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": names.worker_deployment(plan.pool),
            "namespace": plan.namespace,
            "labels": {**ours, names.LABEL_TEMPLATE: template["metadata"]["labels"][names.LABEL_TEMPLATE]},
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "ConfigMap", "name": anchor.name, "uid": anchor.uid},
            ],
        },
        "spec": {
            "replicas": plan.replicas,
            "revisionHistoryLimit": 2,
            # New workers first: a rollout never leaves the pool with fewer than it should have.
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}},
            "selector": {"matchLabels": labels},
            "template": template,
        },
    }


def build_template(plan: WorkerPlan, defaults: WorkerDefaults) -> dict[str, Any]:
    """Return the pod template: the author's, completed, with the hash of all of it as a label."""
    template = copy.deepcopy(dict(plan.template))
    metadata = dict(template.get("metadata") or {})
    labels = {**(metadata.get("labels") or {}), **worker_labels(plan.pool)}
    labels.setdefault(LABEL_COMPONENT, "worker")
    annotations = dict(metadata.get("annotations") or {})
    if defaults.revision:
        annotations[ANNOTATION_REVISION] = defaults.revision
    spec = _pod_spec(dict(template.get("spec") or {}), plan, defaults)
    labels[names.LABEL_TEMPLATE] = _hash(
        [{k: v for k, v in labels.items() if k != names.LABEL_TEMPLATE}, annotations, spec]
    )
    built: dict[str, Any] = {"metadata": {**metadata, "labels": labels}, "spec": spec}
    if annotations:
        built["metadata"]["annotations"] = annotations
    return built


def _pod_spec(spec: dict[str, Any], plan: WorkerPlan, defaults: WorkerDefaults) -> dict[str, Any]:
    spec.setdefault("automountServiceAccountToken", False)
    # A Service named fairway-health would otherwise set FAIRWAY_HEALTH_PORT in every pod beside it.
    spec.setdefault("enableServiceLinks", False)
    spec.setdefault("terminationGracePeriodSeconds", _drain_seconds(plan) + DRAIN_MARGIN_S)
    spec["securityContext"] = {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
        **(spec.get("securityContext") or {}),
    }
    containers = list(spec.get("containers") or [])
    theirs = next((each for each in containers if each.get("name") == names.WORKER_CONTAINER), None)
    worker = _worker(dict(theirs or {}), plan, defaults)
    if not _mounts(worker, _TMP):
        worker["volumeMounts"] = [
            *(worker.get("volumeMounts") or []),
            {"name": _TMP_VOLUME, "mountPath": _TMP},
        ]
        spec["volumes"] = [*(spec.get("volumes") or []), {"name": _TMP_VOLUME, "emptyDir": {}}]
    spec["containers"] = [worker, *(each for each in containers if each is not theirs)]
    return spec


def _worker(container: dict[str, Any], plan: WorkerPlan, defaults: WorkerDefaults) -> dict[str, Any]:
    container["name"] = names.WORKER_CONTAINER
    if not container.get("image"):
        container["image"] = defaults.image
        container.setdefault("imagePullPolicy", defaults.image_pull_policy)
    ours = _environment(plan, defaults)
    owned = {entry["name"] for entry in ours}
    theirs = [entry for entry in container.get("env") or [] if entry.get("name") not in owned]
    container["env"] = [*ours, *theirs]
    container["securityContext"] = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        **(container.get("securityContext") or {}),
    }
    if not container.get("resources"):
        container["resources"] = {"requests": {"cpu": "50m", "memory": "64Mi"}}
    container.setdefault("livenessProbe", _probe("/healthz", period=10, failures=6))
    container.setdefault("readinessProbe", _probe("/readyz", period=2, failures=2))
    return container


def _environment(plan: WorkerPlan, defaults: WorkerDefaults) -> list[dict[str, Any]]:
    password = {"secretKeyRef": {"name": defaults.redis_secret, "key": "password"}}
    values = [
        (Env.POOL, plan.pool),
        (Env.REDIS_URL, defaults.redis_url),
        (Env.REDIS_USERNAME, defaults.redis_username),
        (Env.CONCURRENCY, str(plan.concurrency)),
        (Env.DRAIN_SECONDS, str(_drain_seconds(plan))),
        (Env.HEALTH_PORT, str(HEALTH_PORT)),
    ]
    return [
        *({"name": str(name), "value": value} for name, value in values if value),
        {"name": str(Env.REDIS_PASSWORD), "valueFrom": password},
        {"name": str(Env.WORKER_NAME), "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": str(Env.NODE_NAME), "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
    ]


def _drain_seconds(plan: WorkerPlan) -> int:
    return -(-plan.drain_ms // _SECOND_MS)


def _probe(path: str, *, period: int, failures: int) -> dict[str, Any]:
    return {
        "httpGet": {"path": path, "port": HEALTH_PORT},
        "periodSeconds": period,
        "timeoutSeconds": 5,
        "failureThreshold": failures,
    }


def _mounts(container: Mapping[str, Any], path: str) -> bool:
    return any(
        str(mount.get("mountPath")).rstrip("/") == path for mount in container.get("volumeMounts") or []
    )


def _hash(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_LENGTH]
