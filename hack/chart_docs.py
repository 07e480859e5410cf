"""Writes what the chart says about its values: `python -m hack.chart_docs`; `--check` only names stale files.

The comments in values.yaml are the one source. From them come the table in the chart's README and the
descriptions in values.schema.json, whose types and bounds are written by hand; a key that only one of the two
files has is an error.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).resolve().parents[1] / "charts" / "fairway"
BEGIN = "<!-- values: begin -->\n"
END = "<!-- values: end -->"
SCHEMA_ONLY = {"global"}
"""Keys that Helm itself adds, which no values.yaml shows."""


class DocsError(Exception):
    """The chart's files contradict each other; the message says what to write where."""


@dataclass(frozen=True, slots=True)
class Value:
    """One key of values.yaml."""

    path: tuple[str, ...]
    description: str
    default: Any
    section: bool
    """Whether keys with comments of their own are below it."""

    @property
    def name(self) -> str:
        """The key as one writes it after --set."""
        return ".".join(self.path)


def comment_above(lines: list[str], line: int) -> str:
    """Returns the comment lines directly above a line, joined."""
    found: list[str] = []
    while line > 0 and lines[line - 1].strip().startswith("#"):
        line -= 1
        found.insert(0, lines[line].strip().removeprefix("#").strip())
    return " ".join(found)


def read_values(text: str) -> list[Value]:
    """Returns every documented key of values.yaml in its order, sections before their keys."""
    lines = text.splitlines()
    values: list[Value] = []

    def documented(node: yaml.Node) -> bool:
        return isinstance(node, yaml.MappingNode) and any(
            comment_above(lines, key.start_mark.line) for key, _ in node.value
        )

    def walk(node: yaml.MappingNode, above: tuple[str, ...], defaults: dict[str, Any]) -> None:
        for key, child in node.value:
            path = (*above, key.value)
            description = comment_above(lines, key.start_mark.line)
            if not description:
                raise DocsError(f"values.yaml: {'.'.join(path)} has no comment above it that says what it is")
            section = documented(child)
            values.append(Value(path, description, defaults[key.value], section))
            if section:
                walk(child, path, defaults[key.value])

    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode):
        raise DocsError("values.yaml: is not a mapping of keys")
    walk(root, (), yaml.safe_load(text))
    return values


def section_of(schema: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """Returns the schema of the key at a path."""
    here = schema
    for depth, key in enumerate(path, start=1):
        if key not in here.get("properties", {}):
            raise DocsError(f"values.schema.json: knows no {'.'.join(path[:depth])}: add it with its type")
        here = here["properties"][key]
    return here


def check_sections(schema: dict[str, Any], values: list[Value]) -> None:
    """Raises where the schema has a key that values.yaml lacks, or would let an unknown one pass."""
    for path in [(), *(value.path for value in values if value.section)]:
        section = section_of(schema, path)
        known = {value.path[-1] for value in values if value.path[:-1] == path}
        extra = set(section["properties"]) - known - (SCHEMA_ONLY if not path else set())
        where = ".".join(path) or "the top"
        if extra:
            raise DocsError(
                f"values.schema.json: {where} has {', '.join(sorted(extra))}, values.yaml does not"
            )
        if section.get("additionalProperties") is not False:
            raise DocsError(
                f"values.schema.json: {where} lets unknown keys pass: additionalProperties must be false"
            )


def described(schema: dict[str, Any], values: list[Value]) -> str:
    """Returns the text of the schema with the descriptions of values.yaml."""
    for value in values:
        section = section_of(schema, value.path)
        rest = {key: child for key, child in section.items() if key != "description"}
        section.clear()
        section.update({"description": value.description, **rest})
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def table(values: list[Value]) -> str:
    """Returns the README's table: one row for each value, a section's row without a default."""
    rows = ["| value | default | what it is |", "|---|---|---|"]
    for value in values:
        default = "" if value.section else f"`{json.dumps(value.default)}`"
        rows.append(f"| `{value.name}` | {default} | {value.description.replace('|', '&#124;')} |")
    return "\n".join(rows) + "\n"


def with_table(readme: str, rows: str) -> str:
    """Returns the README with its table replaced."""
    if BEGIN not in readme or END not in readme:
        raise DocsError(f"README.md: has no lines {BEGIN.strip()} and {END} for the table to stand between")
    before, rest = readme.split(BEGIN, 1)
    return before + BEGIN + rows + END + rest.split(END, 1)[1]


def current_files(chart: Path) -> dict[Path, str]:
    """Returns what the generated files should hold, by path."""
    values = read_values((chart / "values.yaml").read_text())
    schema_file, readme = chart / "values.schema.json", chart / "README.md"
    schema = json.loads(schema_file.read_text())
    check_sections(schema, values)
    return {schema_file: described(schema, values), readme: with_table(readme.read_text(), table(values))}


def main(arguments: list[str]) -> int:
    """Writes the files, or with --check names those that are stale."""
    try:
        stale = {path: text for path, text in current_files(CHART).items() if path.read_text() != text}
    except DocsError as error:
        print(f"chart: {error}", file=sys.stderr)
        return 1
    for path, text in stale.items():
        shown = path.relative_to(CHART.parents[1])
        if "--check" in arguments:
            print(
                f"chart: {shown} is not what values.yaml says: run `python -m hack.chart_docs`",
                file=sys.stderr,
            )
        else:
            path.write_text(text)
            print(f"chart: wrote {shown}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
