"""What the API server says to a manifest that cannot work: the field, the rule, and what to write instead."""

from __future__ import annotations

from typing import Any

import pytest

from tests.objects import API_VERSION, Objects, Team, condition, pool_manifest, tenant_manifest
from tests.waiting import eventually

TOO_LITTLE = {"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"payload": {}}, ["type", "command"]),
        ({"type": "echo", "timeout": "five minutes"}, ["spec.timeout", "five minutes"]),
        ({"type": "echo", "timeout": "0s"}, ["spec.timeout", "longer than 0s"]),
        ({"type": "echo", "priority": "urgent"}, ["spec.priority"]),
        ({"command": []}, ["spec.command"]),
        ({"type": "echo", "pol": "typo"}, ["spec.pol", "unknown field"]),
        ({"type": "echo", "payload": "not an object"}, ["spec.payload", "object"]),
    ],
)
def test_a_wrong_job_is_refused_with_the_field(
    objects: Objects, spec: dict[str, Any], words: list[str]
) -> None:
    metadata = {"name": "wrong", "namespace": "default"}
    message = objects.refused({"apiVersion": API_VERSION, "kind": "Job", "metadata": metadata, "spec": spec})
    for word in words:
        assert word in message
    assert objects.get("fjob", "wrong", "default") == {}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"class": "tiny"}, ["spec.class", "short"]),
        ({"scaling": {"minReplicas": 5, "maxReplicas": 2}}, ["minReplicas", "maxReplicas"]),
        ({"liveness": {"lease": "soon"}}, ["spec.liveness.lease"]),
        ({"workers": {"concurrency": 0}}, ["spec.workers.concurrency"]),
    ],
)
def test_a_wrong_pool_is_refused_with_the_field(
    objects: Objects, spec: dict[str, Any], words: list[str]
) -> None:
    message = objects.refused(pool_manifest("wrong", **spec))
    for word in words:
        assert word in message


def test_a_wrong_tenant_is_refused_with_the_field(objects: Objects) -> None:
    assert "spec.weight" in objects.refused(tenant_manifest("wrong", ["x"], weight=0))
    assert "maximumShare" in objects.refused(
        tenant_manifest("wrong", ["x"], minimumShare=0.5, maximumShare=0.1)
    )


def test_a_jobs_spec_cannot_change(objects: Objects, team: Team) -> None:
    team.run("fixed", "true")
    metadata = {"name": "fixed", "namespace": team.name}
    changed = {"pool": team.pool, "command": ["sh", "-c", "false"]}
    message = objects.refused(
        {"apiVersion": API_VERSION, "kind": "Job", "metadata": metadata, "spec": changed}
    )
    assert "cannot change" in message
    assert team.reaches("fixed", "Succeeded")["phase"] == "Succeeded"


@pytest.mark.parametrize(
    ("workers", "words"),
    [
        (
            {"template": {"spec": {"containers": [{"name": "worker", "resources": TOO_LITTLE}]}}},
            "must be less than or equal to memory limit",
        ),
        ({"template": {"spec": {"containers": "hello"}}}, "spec.containers has to be a list"),
        ({"namespace": "kube-system"}, "fairway-system"),
    ],
)
def test_a_pool_whose_workers_cannot_run_says_why(
    objects: Objects, suffix: str, workers: dict[str, Any], words: str
) -> None:
    name = f"wrong-{suffix}"
    objects.apply(pool_manifest(name, workers=workers))

    def told() -> bool:
        ready = condition(objects.get("jobpool", name), "Ready")
        assert ready.get("status") == "False", ready
        assert words in ready["message"], ready
        return True

    try:
        eventually(told, what=f"JobPool {name} to say {words}")
        assert objects.find("deployments", "-A", "-l", f"fairway.dev/pool={name}") == []
    finally:
        objects.delete("jobpool", name)


def test_the_kinds_explain_themselves(objects: Objects) -> None:
    assert "lease" in objects.cluster.kubectl("explain", "jobpool.spec.liveness").stdout
    assert "checkpoint" in objects.cluster.kubectl("explain", "jobpool.spec").stdout
    for name in ("jp", "ten", "fj", "fjob", "fairway"):
        objects.cluster.kubectl("get", name, "-A")
