"""The API server takes what the contract shows, whole, and tells what to write where it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from tests.objects import API_VERSION, Objects, pool_manifest, tenant_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

CONTRACT = Path(__file__).parents[1] / "manifests" / "contract.yaml"
UNCHANGED = "cannot change once made, except cancel and ttlAfterFinished"


def _job(name: str, **spec: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default"}
    return {"apiVersion": API_VERSION, "kind": "Job", "metadata": metadata, "spec": spec}


def _would_take(objects: Objects, manifest: dict[str, Any], suffix: str) -> dict[str, Any]:
    fresh = {**manifest, "metadata": {**manifest["metadata"], "name": f"dry-{suffix}"}}
    words = ["create", "--dry-run=server", "-o", "json", "-f", "-"]
    return dict(json.loads(objects.cluster.kubectl(*words, input=json.dumps(fresh)).stdout))


@pytest.fixture
def scheduled(objects: Objects, suffix: str) -> Iterator[dict[str, Any]]:
    """A Job that no pool runs, so that nothing but this test changes it."""
    manifest = _job(
        f"fixed-{suffix}", type="echo", pool=f"no-such-pool-{suffix}", payload={"a": 1, "b": {"c": 1}}
    )
    objects.apply(manifest)
    yield manifest
    objects.delete("fjob", manifest["metadata"]["name"], "default")


@pytest.mark.parametrize(
    "manifest",
    list(yaml.safe_load_all(CONTRACT.read_text(encoding="utf-8"))),
    ids=lambda each: str(each["kind"]),
)
def test_every_field_of_the_contract_is_taken_and_kept(
    objects: Objects, manifest: dict[str, Any], suffix: str
) -> None:
    assert _would_take(objects, manifest, suffix)["spec"] == manifest["spec"]


def test_no_default_is_written_into_a_spec(objects: Objects, suffix: str) -> None:
    for kind in ("JobPool", "Tenant"):
        bare: dict[str, Any] = {"apiVersion": API_VERSION, "kind": kind, "metadata": {}, "spec": {}}
        assert _would_take(objects, bare, suffix)["spec"] == {}


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (pool_manifest("p" * 41), ["metadata.name", "at most 40 characters"]),
        (pool_manifest("a.b"), ["metadata.name", "at most 40 characters"]),
        (pool_manifest("p", liveness={"lease": "5 minutes"}), ["spec.liveness.lease", "such as 250ms, 30s"]),
        (pool_manifest("p", liveness={"lease": "999ms"}), ["spec.liveness.lease", "at least 1s"]),
        (pool_manifest("p", scaling={"minReplicas": 21}), ["spec.scaling.minReplicas", "20 when unset"]),
        (pool_manifest("p", queue={"maxBytes": "5 GB"}), ["spec.queue.maxBytes", "such as 512Mi, 2Gi"]),
        (pool_manifest("p", defaults={"retry": {"backoff": "5s"}}), ["backoff", "a list of waits such as"]),
        (pool_manifest("p", defaults={"retry": {"backoff": ["5 s"]}}), ["backoff[0]", "5 s"]),
        (pool_manifest("p", defaults={"retry": {"backoff": {"factor": 2}}}), ["backoff.base", "Required"]),
        (pool_manifest("p", types=[{"name": "a"}, {"name": "a"}]), ["spec.types[1]", "Duplicate"]),
        (pool_manifest("p", scaling={"minReplica": 1}), ["unknown field", "spec.scaling.minReplica"]),
        (tenant_manifest("t" * 64, []), ["metadata.name", "at most 63 characters"]),
        (tenant_manifest("t", [], tier="free", minimumShare=0.1), ["raise maximumShare"]),
        (tenant_manifest("t", [], maximumShare=0.001), ["raise maximumShare"]),
        (
            tenant_manifest("t", [], limits={"submissions": "fast"}),
            ["spec.limits.submissions", "such as 100/s"],
        ),
        (_job("j", type="echo", priority=10), ["spec.priority", "a number from 1 to 9"]),
        (_job("j", type="echo", executeAt="tomorrow"), ["spec.executeAt", "date-time"]),
    ],
)
def test_a_wrong_manifest_is_told_what_to_write(
    objects: Objects, manifest: dict[str, Any], words: list[str]
) -> None:
    message = objects.refused(manifest)
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    "change",
    [
        {"pool": "another"},
        {"timeout": "5m"},
        {"payload": {"a": 2, "b": {"c": 1}}},
        {"payload": {"a": 1, "b": {"d": 1}}},
        {"payload": {"a": 1}},
    ],
    ids=lambda each: next(iter(each)),
)
def test_no_field_of_a_job_changes(
    objects: Objects, scheduled: dict[str, Any], change: dict[str, Any]
) -> None:
    assert UNCHANGED in objects.refused({**scheduled, "spec": {**scheduled["spec"], **change}})
    assert UNCHANGED in objects.refused({**scheduled, "spec": {"type": "echo"}})


def test_a_job_is_cancelled_once_and_for_all(objects: Objects, scheduled: dict[str, Any]) -> None:
    objects.apply({**scheduled, "spec": {**scheduled["spec"], "cancel": True, "ttlAfterFinished": "1h"}})
    message = objects.refused({**scheduled, "spec": {**scheduled["spec"], "cancel": False}})
    assert "spec.cancel" in message
    assert "stays cancelled" in message


def test_a_pool_can_be_scaled_by_others(objects: Objects, suffix: str) -> None:
    name = f"scaled-{suffix}"
    objects.apply(pool_manifest(name, scaling={"mode": "external"}, suspend=True))
    try:
        objects.cluster.kubectl("scale", f"jobpool/{name}", "--replicas=3")
        assert objects.get("jobpool", name)["spec"]["scaling"] == {"mode": "external", "replicas": 3}
    finally:
        objects.delete("jobpool", name)
