"""The models: what they take, keep and refuse, and what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from fairway.api.body import BodyResources, JobBody
from fairway.api.job import Job, JobSpec, JobStatus
from fairway.api.jobpool import JobPool, JobPoolSpec
from fairway.api.shared import BackoffCurve
from fairway.api.tenant import Tenant, TenantSpec

CONTRACT = Path(__file__).parents[2] / "manifests" / "contract.yaml"
KINDS: dict[str, type[JobPool | Tenant | Job]] = {"JobPool": JobPool, "Tenant": Tenant, "Job": Job}


def _contract() -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(CONTRACT.read_text(encoding="utf-8")))


@pytest.mark.parametrize("manifest", _contract(), ids=lambda manifest: str(manifest["kind"]))
def test_the_contracts_examples_are_understood_to_the_last_field(manifest: dict[str, Any]) -> None:
    kind = KINDS[manifest["kind"]]
    known = {name: manifest[name] for name in ("metadata", "spec")}
    model = kind.model_validate(known, extra="forbid")
    written = model.to_kubernetes()["spec"]
    if manifest["kind"] == "Job":
        written["resources"]["memory"] = int(written["resources"]["memory"])  # a plain number is kept as text
    assert written == manifest["spec"]


def test_objects_of_a_newer_version_can_still_be_read() -> None:
    pool = JobPool.model_validate(
        {"metadata": {"name": "p", "managedFields": []}, "spec": {"novel": {"a": 1}}}
    )
    assert pool.metadata.name == "p"
    assert "novel" not in pool.to_kubernetes()["spec"]
    with pytest.raises(ValidationError, match="novel"):
        JobPoolSpec.model_validate({"novel": 1}, extra="forbid")


@pytest.mark.parametrize(
    ("spec", "advice"),
    [
        ({"class": "tiny"}, "'short', 'medium' or 'long'"),
        ({"liveness": {"lease": "500ms"}}, "at least 1s: write a duration such as"),
        ({"liveness": {"lease": "soon"}}, "write a duration such as"),
        ({"scaling": {"minReplicas": 3, "maxReplicas": 2}}, "lower minReplicas or raise maxReplicas"),
        ({"scaling": {"minReplicas": 21}}, "20 when unset"),
        ({"queue": {"maxBytes": "much"}}, "write a size such as"),
        ({"defaults": {"retry": {"backoff": "5s"}}}, r"write a list of waits such as \[30s, 5m\]"),
        ({"defaults": {"retry": {"backoff": 5}}}, r"write a list of waits such as \[30s, 5m\]"),
        ({"defaults": {"retry": {"backoff": ["soon"]}}}, "write a duration such as"),
        ({"defaults": {"retry": {"backoff": {"base": "1s", "facto": 2}}}}, "facto"),
        ({"defaults": {"retry": {"backoff": []}}}, "at least 1 item"),
        ({"types": [{"name": "a b"}]}, "types.0.name"),
    ],
)
def test_a_wrong_pool_is_told_what_to_write(spec: dict[str, Any], advice: str) -> None:
    with pytest.raises(ValidationError, match=advice):
        JobPoolSpec.model_validate(spec)


@pytest.mark.parametrize(
    ("spec", "advice"),
    [
        ({"minimumShare": 0.5, "maximumShare": 0.1}, "lower minimumShare or raise maximumShare"),
        ({"tier": "free", "minimumShare": 0.1}, "by the tier when unset"),
        ({"tier": "pro", "maximumShare": 0.001}, "by the tier when unset"),
        ({"limits": {"submissions": "fast"}}, "write a rate such as"),
        ({"weight": 0}, "greater than or equal to 1"),
    ],
)
def test_a_wrong_tenant_is_told_what_to_write(spec: dict[str, Any], advice: str) -> None:
    with pytest.raises(ValidationError, match=advice):
        TenantSpec.model_validate(spec)


@pytest.mark.parametrize(
    ("spec", "advice"),
    [
        ({}, "set spec.type to a handler's name, or spec.command to a program"),
        ({"command": []}, "at least 1 item"),
        ({"type": "a", "payload": "text"}, "payload"),
        ({"type": "a", "executeAt": "2030-01-01T09:00:00"}, "timezone"),
        ({"type": "a", "timeout": "long"}, "write a duration such as"),
        *(
            ({"type": "a", "priority": wrong}, "a number from 1 to 9")
            for wrong in (0, 10, "5", "urgent", True, 1.5)
        ),
    ],
)
def test_a_wrong_job_is_told_what_to_write(spec: dict[str, Any], advice: str) -> None:
    with pytest.raises(ValidationError, match=advice):
        JobSpec.model_validate(spec)


@pytest.mark.parametrize("priority", ["high", "medium", "low", 1, 9])
def test_priorities_are_words_or_numbers(priority: str | int) -> None:
    assert JobSpec(type="a", priority=priority).priority == priority


def test_a_command_needs_no_type() -> None:
    assert JobSpec(command=["true"]).effective_type == "command"
    assert JobSpec(command=["true"], type="backup").effective_type == "backup"


def test_a_curve_has_a_factor_and_a_maximum() -> None:
    pool = JobPoolSpec.model_validate({"defaults": {"retry": {"backoff": {"base": "250ms"}}}})
    assert pool.defaults is not None
    assert pool.defaults.retry is not None
    assert pool.defaults.retry.backoff == BackoffCurve(base="250ms", factor=2, max="60s")


def test_a_status_is_written_under_its_users_names() -> None:
    status = JobStatus.model_validate(
        {"jobID": "01J-p", "attempts": [{"number": 1, "class": "APP", "counted": True}]}
    )
    assert status.job_id == "01J-p"
    assert status.to_kubernetes() == {
        "jobID": "01J-p",
        "attempts": [{"number": 1, "class": "APP", "counted": True}],
    }


def test_a_body_survives_the_queue() -> None:
    body = JobBody(
        type="train",
        payload={"nested": {"null": None, "text": "é", "numbers": [1, 2.5]}},
        timeout_ms=1000,
        cancel_grace_ms=0,
        resources=BodyResources(memory_bytes=1024),
    )
    assert JobBody.from_bytes(body.to_bytes()) == body


def test_a_body_is_compact_and_read_by_older_workers() -> None:
    body = JobBody(type="command", command=["true"], timeout_ms=1, cancel_grace_ms=2)
    assert (
        body.to_bytes()
        == b'{"type":"command","command":["true"],"payload":{},"timeoutMs":1,"cancelGraceMs":2}'
    )
    assert JobBody.from_bytes(b'{"type":"a","timeoutMs":1,"cancelGraceMs":2,"novel":3}').payload == {}
