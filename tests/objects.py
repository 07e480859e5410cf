"""The cluster as a test sees it: objects in, objects out, through kubectl as a user would."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hack.release import NAMESPACE
from tests.waiting import eventually

if TYPE_CHECKING:
    from hack.cluster import Cluster

API_VERSION = "fairway.dev/v1alpha1"
Object = dict[str, Any]


def pool_manifest(name: str, **spec: Any) -> Object:
    """Returns a JobPool with quick retries, so that a test of failure need not wait for the usual backoff."""
    quick = {"retry": {"maxAttempts": 2, "backoff": ["100ms"], "jitter": 0}}
    whole = {"class": "short", "defaults": quick, "workers": {"concurrency": 4}, **spec}
    return {"apiVersion": API_VERSION, "kind": "JobPool", "metadata": {"name": name}, "spec": whole}


def tenant_manifest(name: str, namespaces: list[str], **spec: Any) -> Object:
    """Returns a Tenant that pays for these namespaces."""
    whole = {"tier": "pro", "namespaces": namespaces, **spec}
    return {"apiVersion": API_VERSION, "kind": "Tenant", "metadata": {"name": name}, "spec": whole}


@dataclass(frozen=True)
class Objects:
    """Reads and writes objects of one cluster."""

    cluster: Cluster

    def apply(self, *manifests: Object) -> None:
        """Applies manifests; a refusal fails the test with the API server's words."""
        self.cluster.kubectl(
            "apply", "-f", "-", input=json.dumps({"apiVersion": "v1", "kind": "List", "items": manifests})
        )

    def refused(self, manifest: Object) -> str:
        """Applies a manifest that must be refused and returns what the API server says."""
        answer = self.cluster.kubectl("apply", "-f", "-", input=json.dumps(manifest), check=False)
        assert answer.returncode != 0, f"accepted, but should not have been: {manifest}"
        return answer.stderr

    def get(self, kind: str, name: str, namespace: str | None = None) -> Object:
        """Returns an object, or an empty one when there is none."""
        where = ["-n", namespace] if namespace else []
        answer = self.cluster.kubectl("get", kind, name, *where, "-o", "json", "--ignore-not-found")
        return dict(json.loads(answer.stdout)) if answer.stdout.strip() else {}

    def find(self, kind: str, *words: str) -> list[Object]:
        """Returns all objects of a kind that the further words of kubectl select."""
        return list(json.loads(self.cluster.kubectl("get", kind, *words, "-o", "json").stdout)["items"])

    def delete(self, kind: str, name: str, namespace: str | None = None, *words: str) -> None:
        """Deletes an object and waits until it is gone, unless told otherwise."""
        where = ["-n", namespace] if namespace else []
        self.cluster.kubectl("delete", kind, name, *where, "--ignore-not-found", *words, timeout=120)

    def ready_pool(self, name: str) -> Object:
        """Waits until a pool's workers serve, and returns it."""

        def look() -> Object | None:
            pool = self.get("jobpool", name)
            ready = condition(pool, "Ready")
            assert ready.get("status") == "True", pool.get("status")
            assert pool["status"].get("totalSlots", 0) > 0, pool["status"]
            return pool

        return eventually(look, what=f"JobPool {name} to be Ready with workers", timeout=120) or {}

    def pods_of(self, pool: str) -> list[Object]:
        """Returns a pool's worker pods that are not on their way out."""
        pods = self.find("pods", "-n", NAMESPACE, "-l", f"fairway.dev/pool={pool}")
        return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]


@dataclass(frozen=True)
class Team:
    """A tenant with a namespace of its own in which a test makes its Jobs."""

    objects: Objects
    name: str
    pool: str

    def submit(self, name: str, **spec: Any) -> None:
        """Applies a Job in the team's namespace, to the suite's pool unless it says another."""
        whole = {"pool": self.pool, **spec}
        metadata = {"name": name, "namespace": self.name}
        self.objects.apply({"apiVersion": API_VERSION, "kind": "Job", "metadata": metadata, "spec": whole})

    def run(self, name: str, script: str, **spec: Any) -> None:
        """Applies a Job that runs a shell script."""
        self.submit(name, command=["sh", "-c", script], **spec)

    def status(self, name: str) -> Object:
        """Returns a Job's status as it is now."""
        return dict(self.objects.get("fjob", name, self.name).get("status", {}))

    def reaches(self, name: str, *phases: str, timeout: float = 60) -> Object:
        """Waits until a Job is in one of the phases and returns its status."""

        def look() -> Object | None:
            status = self.status(name)
            assert status.get("phase") in phases, status
            return status

        what = f"Job {self.name}/{name} to be {' or '.join(phases)}"
        return eventually(look, what=what, timeout=timeout) or {}

    def reaches_by_path(self, name: str, phase: str) -> str:
        """Waits for a phase of a Job that Python's own decoder could not read, and returns its message."""
        path = "jsonpath={.status.phase} {.status.message}"

        def look() -> str | None:
            said = self.objects.cluster.kubectl("get", "fjob", name, "-n", self.name, "-o", path).stdout
            assert said.startswith(phase), said
            return said

        return eventually(look, what=f"Job {self.name}/{name} to be {phase}") or ""

    def delete(self, name: str) -> None:
        """Deletes a Job."""
        self.objects.delete("fjob", name, self.name)


def condition(thing: Object, kind: str) -> Object:
    """Returns a condition of an object, or of a status; empty when it has none of that type."""
    conditions = thing.get("status", thing).get("conditions", [])
    return next((dict(found) for found in conditions if found["type"] == kind), {})
