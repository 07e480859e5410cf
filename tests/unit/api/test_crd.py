"""The schemas hold what a structural schema may; the API server itself judges them in tests/e2e."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml
from pydantic import BaseModel

from fairway.api.crd import KINDS, definition
from fairway.api.job import Job
from fairway.api.jobpool import JobPool
from fairway.api.model import NOT_YET, REFUSED
from fairway.api.tenant import Tenant

if TYPE_CHECKING:
    from collections.abc import Iterator

FREE_FORM = {
    "spec.payload",
    "spec.workers.template",
    "spec.types[].retry.backoff",
    "spec.defaults.retry.backoff",
    "status.effective",
    "status.result",
}
ACTING_POOL = {
    *(
        "class",
        "algorithm",
        "suspend",
        "capabilities",
        "liveness.lease",
        "scaling.minReplicas",
        "cancelGracePeriod",
        "crash.maxWorkersLost",
    ),
    *("types[].name", "types[].timeout", "queue.resultTTL", "queue.deadLetterRetention", "drain.gracePeriod"),
    *(f"types[].retry.{name}" for name in ("maxAttempts", "backoff", "jitter")),
    *(f"defaults.retry.{name}" for name in ("maxAttempts", "backoff", "jitter")),
    *("defaults.timeout", "defaults.estimate"),
    *(f"workers.{name}" for name in ("concurrency", "namespace", "template")),
}
ACTING_TENANT = {"tier", "weight", "suspend", "namespaces", "limits.inFlight", "accounts.from"}
ACTING_JOB = {"type", "command", "payload", "pool", "tenant", "account", "timeout", "cancel", "requires"}


def _root(kind: type[JobPool | Tenant | Job]) -> dict[str, Any]:
    return dict(definition(kind)["spec"]["versions"][0]["schema"]["openAPIV3Schema"])


def _fields(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    for name, field in schema.get("properties", {}).items():
        here = f"{path}.{name}".lstrip(".")
        yield here, field
        yield from _fields(field, here)
    if "items" in schema:
        yield f"{path}[]", schema["items"]
        yield from _fields(schema["items"], f"{path}[]")


ALL = [(kind.info.kind, path, field) for kind in KINDS for path, field in _fields(_root(kind))]


def _leaves(kind: type[JobPool | Tenant | Job]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, field in _fields(_root(kind)["properties"]["spec"]):
        if ".backoff" in path and not path.endswith(".backoff"):
            continue
        if (not path.endswith("[]") and "properties" not in field.get("items", field)) or path.endswith(
            ".backoff"
        ):
            yield path, field


def test_nothing_that_a_structural_schema_may_not_hold() -> None:
    forbidden = {
        "$ref",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "const",
        "title",
        "default",
        "$defs",
        "additionalProperties",
    }
    for kind, path, field in ALL:
        assert not forbidden & field.keys(), (kind, path)
        assert not [word for word in field if word.startswith("x-fairway")], (kind, path)


def test_every_field_has_a_type_and_only_the_free_ones_have_unknown_fields() -> None:
    free = set()
    for kind, path, field in ALL:
        if field.get("x-kubernetes-preserve-unknown-fields"):
            free.add(path)
        else:
            assert "type" in field or field.get("x-kubernetes-int-or-string"), (kind, path)
    assert free == FREE_FORM


def test_every_field_explains_itself() -> None:
    for kind, path, field in ALL:
        if not path.endswith("[]") and not path.startswith("metadata"):
            assert field.get("description", "").rstrip().endswith((".", "…")), (kind, path)


def test_everything_that_users_write_is_bounded() -> None:
    for kind, path, field in ALL:
        if path.startswith("spec"):
            if field.get("type") == "array":
                assert "maxItems" in field, (kind, path)
            if field.get("type") == "string":
                assert {"maxLength", "enum", "format"} & field.keys(), (kind, path)
            if field.get("type") in ("integer", "number"):
                assert {"minimum", "maximum"} <= field.keys(), (kind, path)


def test_what_may_be_left_out_may_be_null() -> None:
    for kind in KINDS:
        for _, field in [("", _root(kind)), *_fields(_root(kind))]:
            for name, below in field.get("properties", {}).items():
                if name not in field.get("required", []) and "nullable" not in below:
                    parents = {"apiVersion", "kind", "metadata", "spec", "name", "factor", "max", "message"}
                    assert name in parents | {"result"}, name


def test_every_rule_says_what_to_write() -> None:
    rules = [rule for _, _, field in ALL for rule in field.get("x-kubernetes-validations", [])]
    rules += [rule for kind in KINDS for rule in _root(kind).get("x-kubernetes-validations", [])]
    assert len(rules) > 40
    for rule in rules:
        assert len(rule["message"]) > 20


@pytest.mark.parametrize(
    ("kind", "acting"),
    [(JobPool, ACTING_POOL), (Tenant, ACTING_TENANT), (Job, ACTING_JOB)],
    ids=lambda v: str(v)[:20],
)
def test_fields_that_do_not_act_yet_say_so(kind: type[JobPool | Tenant | Job], acting: set[str]) -> None:
    found = {path for path, field in _leaves(kind) if not field["description"].endswith((NOT_YET, REFUSED))}
    assert found == acting


@pytest.mark.parametrize(
    ("kind", "name", "scope", "short"),
    [
        (JobPool, "jobpools.fairway.dev", "Cluster", ["jp"]),
        (Tenant, "tenants.fairway.dev", "Cluster", ["ten"]),
        (Job, "jobs.fairway.dev", "Namespaced", ["fj", "fjob"]),
    ],
)
def test_names(kind: type[JobPool | Tenant | Job], name: str, scope: str, short: list[str]) -> None:
    crd = definition(kind)
    assert crd["metadata"]["name"] == name
    assert crd["spec"]["scope"] == scope
    assert crd["spec"]["names"]["shortNames"] == short
    assert crd["spec"]["names"]["categories"] == ["fairway"]
    assert crd["spec"]["names"]["singular"] == crd["spec"]["names"]["kind"].lower()
    version = crd["spec"]["versions"][0]
    assert version["subresources"]["status"] == {}
    assert "Age" in [
        column["name"] for column in version["additionalPrinterColumns"] if "priority" not in column
    ]


def test_the_scale_subresource_points_at_fields_that_exist() -> None:
    scale = definition(JobPool)["spec"]["versions"][0]["subresources"]["scale"]
    known = {f".{path}" for path, _ in _fields(_root(JobPool))}
    assert set(scale.values()) <= known
    assert scale["specReplicasPath"] == ".spec.scaling.replicas"


def test_every_column_points_at_a_field_that_exists() -> None:
    for kind in KINDS:
        known = {path.split(".")[-1].split("[")[0] for path, _ in _fields(_root(kind))}
        for column in kind.info.columns:
            last = column.path.rsplit(".", 1)[1]
            assert last in known | {"creationTimestamp", "weight"}, column


def test_a_jobs_spec_is_fixed_but_for_two_fields() -> None:
    rule = next(
        rule["rule"]
        for rule in _root(Job)["properties"]["spec"]["x-kubernetes-validations"]
        if "cannot change" in rule["message"]
    )
    fields = _root(Job)["properties"]["spec"]["properties"]
    guarded = {name for name in fields if f"self.{name} == oldSelf.{name})" in rule}
    assert fields.keys() - guarded == {"cancel", "ttlAfterFinished"}


def test_definitions_are_plain_yaml() -> None:
    for kind in KINDS:
        assert yaml.safe_load(yaml.safe_dump(definition(kind))) == definition(kind)


def test_a_union_without_a_schema_of_its_own_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(BaseModel):
        """A field that no structural schema can express."""

        metadata: int
        either: int | str

    wrong: Any = Wrong
    monkeypatch.setattr(Wrong, "info", Job.info, raising=False)
    with pytest.raises(TypeError, match="no unions"):
        definition(wrong)
