"""The one way from our models to CustomResourceDefinitions that a real API server accepts.

Pydantic's JSON schema uses what a structural schema may not: references, unions for what is optional, titles,
and defaults (the API server would write them into specs). This turns it into one, and carries descriptions,
CEL rules and the mark of fields that do not act yet.
"""

from typing import Any

from fairway.api import names
from fairway.api.job import Job
from fairway.api.jobpool import JobPool
from fairway.api.kind import Column, KindInfo
from fairway.api.model import DEFAULT, PENDING
from fairway.api.tenant import Tenant

Schema = dict[str, Any]

KINDS: tuple[type[JobPool] | type[Tenant] | type[Job], ...] = (JobPool, Tenant, Job)
"""Every kind of the API group."""

_DROPPED = frozenset({"title", "default", "$defs", "description"})
_OURS = "x-fairway-"
TEXT = "x-fairway-text"
"""The description without its default and whether it acts: the reference has columns for those."""


def definition(kind: type[JobPool] | type[Tenant] | type[Job]) -> Schema:
    """The CustomResourceDefinition of a kind."""
    info = kind.info
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{info.plural}.{names.GROUP}"},
        "spec": {
            "group": names.GROUP,
            "names": {
                "kind": info.kind,
                "listKind": f"{info.kind}List",
                "plural": info.plural,
                "singular": info.singular,
                "shortNames": list(info.short_names),
                "categories": [names.CATEGORY],
            },
            "scope": "Namespaced" if info.namespaced else "Cluster",
            "versions": [_version(kind)],
        },
    }


def annotated_schema(kind: type[JobPool] | type[Tenant] | type[Job]) -> Schema:
    """The structural schema of a kind's own fields, still with our `x-fairway-…` notes for the reference."""
    raw = kind.model_json_schema(by_alias=True)
    schema = _structural(raw, raw.get("$defs", {}), pending="")
    del schema["properties"]["metadata"]
    return schema


def _version(kind: type[JobPool] | type[Tenant] | type[Job]) -> Schema:
    info = kind.info
    subresources: Schema = {"status": {}}
    if info.scale:
        subresources["scale"] = {
            "specReplicasPath": info.scale.spec_replicas,
            "statusReplicasPath": info.scale.status_replicas,
            "labelSelectorPath": info.scale.selector,
        }
    return {
        "name": names.VERSION,
        "served": True,
        "storage": True,
        "subresources": subresources,
        "additionalPrinterColumns": [_column(column) for column in info.columns],
        "schema": {"openAPIV3Schema": _root(kind, info)},
    }


def _column(column: Column) -> Schema:
    shown = {"name": column.name, "type": column.type, "jsonPath": column.path}
    return {**shown, "priority": 1} if column.wide else shown


def _root(kind: type[JobPool] | type[Tenant] | type[Job], info: KindInfo) -> Schema:
    schema = _without_notes(annotated_schema(kind))
    identity: Schema = {
        "apiVersion": {"type": "string", "description": f"Always {names.API_VERSION}."},
        "kind": {"type": "string", "description": f"Always {info.kind}."},
        "metadata": {"type": "object"},
    }
    if info.root_rules:
        # CEL's cost estimate needs a bound for the name that its rules read.
        identity["metadata"]["properties"] = {"name": {"type": "string", "maxLength": info.max_name_length}}
        schema["x-kubernetes-validations"] = [rule.schema() for rule in info.root_rules]
    schema["properties"] = {**identity, **schema["properties"]}
    return schema


def _structural(schema: Schema, models: dict[str, Schema], *, pending: str) -> Schema:
    """One level of the schema, with references and unions with null resolved, and then those below it."""
    flat = _flattened(schema, models)
    pending = flat.get(PENDING, pending)
    turned: Schema = {"description": _description(flat, pending=pending), TEXT: flat.get("description", "")}
    for word, value in flat.items():
        if word == "properties":
            turned[word] = {
                name: _structural(below, models, pending=pending) for name, below in value.items()
            }
        elif word == "items":
            turned[word] = _structural(value, models, pending=pending)
        elif word not in _DROPPED:
            turned[word] = value
    if not turned["description"]:
        del turned["description"]
    if pending:
        turned[PENDING] = pending
    return turned


def _description(schema: Schema, *, pending: str) -> str:
    """What `kubectl explain` shows: what the field does, its default, and whether it acts."""
    if "description" not in schema:
        return ""  # items of a list of plain values: the list's own description says it all
    default = f"Default: {schema[DEFAULT]}." if DEFAULT in schema else ""
    return " ".join(filter(None, [schema["description"], default, pending]))


def _flattened(schema: Schema, models: dict[str, Schema]) -> Schema:
    """The schema with what it refers to put in its place; its own words (its description) win."""
    own = {word: value for word, value in schema.items() if word not in ("$ref", "anyOf")}
    if "$ref" in schema:
        model = models[schema["$ref"].removeprefix("#/$defs/")]
        return {**_flattened(model, models), **own}
    if "anyOf" in schema:
        forms = [form for form in schema["anyOf"] if form != {"type": "null"}]
        if len(forms) != 1 or len(forms) == len(schema["anyOf"]):
            raise TypeError(f"a structural schema has no unions: give {schema} a schema of its own")
        return {**_flattened(forms[0], models), **own, "nullable": True}
    return own


def _without_notes(schema: Schema) -> Schema:
    """The schema without our own notes, which the API server would refuse."""
    kept: Schema = {}
    for word, value in schema.items():
        if word == "properties":
            kept[word] = {name: _without_notes(below) for name, below in value.items()}
        elif word == "items":
            kept[word] = _without_notes(value)
        elif not word.startswith(_OURS):
            kept[word] = value
    return kept
