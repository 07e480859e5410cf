"""The page that lists every field and refusal code, written from the models so that it cannot lag behind."""

from collections.abc import Iterator
from typing import Any

from fairway.api.codes import CODES
from fairway.api.crd import KINDS, TEXT, Schema, annotated_schema
from fairway.api.model import DEFAULT, NOT_YET, PENDING, REFUSED, UNWRITTEN

_TYPE = "x-fairway-type"
_ACTS = {"": "yes", NOT_YET: "not yet", REFUSED: "not yet: refused", UNWRITTEN: "not yet"}

_INTRO = """\
# Reference

Every field of the API group `fairway.dev/v1alpha1`. `kubectl explain` shows the same texts.

- A duration is written as `250ms`, `30s`, `5m`, `1h30m` or `7d`; a rate as `100/s`, `3/m` or `500/h`; a size
  as Kubernetes writes quantities: `512Mi`, `2Gi`.
- A field that is unset, or null, has the default that the table shows; most come from a pool's class or a
  tenant's tier. Where a table says "null: no limit", null means just that.
- `status.effective` of a JobPool or Tenant shows every setting in force.
- Fields that do not act yet are accepted and validated, so that manifests written today stay valid. A Job
  that sets one marked "refused" is not run, because it would run at the wrong time.
"""


def reference() -> str:
    """The whole page, as Markdown."""
    return "\n".join(
        [_INTRO, *(_kind_section(kind.info.kind, annotated_schema(kind)) for kind in KINDS), _codes()]
    )


def _kind_section(name: str, schema: Schema) -> str:
    rows = [row for part in ("spec", "status") for row in _rows(part, schema["properties"][part])]
    head = ["| field | type | default | what it does | acts |", "|---|---|---|---|---|"]
    return "\n".join([f"## {name}", "", schema[TEXT], "", *head, *rows, ""])


def _rows(path: str, schema: Schema) -> Iterator[str]:
    cells = [
        f"`{path}`",
        _type(schema),
        str(schema.get(DEFAULT, "")),
        schema.get(TEXT) or schema.get("description", ""),
        _ACTS[schema.get(PENDING, "")],
    ]
    yield f"| {' | '.join(_cell(cell) for cell in cells)} |"
    below = schema.get("items", schema)
    suffix = "[]" if "items" in schema and "properties" in below else ""
    if _TYPE not in schema:
        for name, field in below.get("properties", {}).items():
            yield from _rows(f"{path}{suffix}.{name}", field)


def _type(schema: Schema) -> str:
    if _TYPE in schema:
        return str(schema[_TYPE])
    if "enum" in schema:
        return ", ".join(f"`{choice}`" for choice in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if schema.get("format") == "date-time":
        return "time"
    if "type" not in schema:
        return "any"
    return f"{schema['type']}{_bounds(schema)}"


def _bounds(schema: Schema) -> str:
    lowest, highest = schema.get("minimum"), schema.get("maximum")
    if lowest is None:
        return ""
    return f", {lowest:g} or more" if highest is None else f", {_plain(lowest)} to {_plain(highest)}"


def _plain(number: Any) -> str:
    return f"{number:g}" if isinstance(number, float) else str(number)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _codes() -> str:
    head = [
        "## Refusals",
        "",
        "A refused Job has the condition `Admitted` with status `False`; its reason is the code, its message",
        "the sentence. The same codes answer HTTP requests.",
        "",
        "| code | HTTP status | may pass later unchanged | sentence |",
        "|---|---|---|---|",
    ]
    rows = [
        f"| `{code}` | {info.status.value} | {'yes' if info.temporary else 'no'} | {_cell(info.sentence)} |"
        for code, info in CODES.items()
    ]
    return "\n".join([*head, *rows, ""])
