"""The values' table and descriptions follow values.yaml, and files that contradict each other are named."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from hack import chart_docs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def chart(tmp_path: Path) -> Path:
    for name in ("values.yaml", "values.schema.json", "README.md"):
        shutil.copy(chart_docs.CHART / name, tmp_path)
    return tmp_path


def test_the_shipped_files_are_current() -> None:
    assert all(path.read_text() == text for path, text in chart_docs.current_files(chart_docs.CHART).items())


def test_a_changed_comment_reaches_table_and_schema(chart: Path) -> None:
    values = chart / "values.yaml"
    values.write_text(values.read_text().replace("# Affinity rules of the pod.", "# Where it likes to be."))
    schema, readme = chart_docs.current_files(chart).values()
    affinity = json.loads(schema)["properties"]["operator"]["properties"]["affinity"]
    assert affinity["description"] == "Where it likes to be."
    assert "| `operator.affinity` | `{}` | Where it likes to be. |" in readme


def test_a_value_without_a_comment_is_named(chart: Path) -> None:
    values = chart / "values.yaml"
    values.write_text(values.read_text() + "\nbare: 1\n")
    with pytest.raises(chart_docs.DocsError, match="bare has no comment"):
        chart_docs.current_files(chart)


def test_a_value_that_the_schema_does_not_know_is_named(chart: Path) -> None:
    values = chart / "values.yaml"
    values.write_text(values.read_text() + "  # New.\n  colour: red\n")
    with pytest.raises(chart_docs.DocsError, match=r"knows no crds\.colour"):
        chart_docs.current_files(chart)


def test_a_key_that_only_the_schema_knows_is_named(chart: Path) -> None:
    schema = json.loads((chart / "values.schema.json").read_text())
    schema["properties"]["crds"]["properties"]["gone"] = {"type": "string"}
    (chart / "values.schema.json").write_text(json.dumps(schema))
    with pytest.raises(chart_docs.DocsError, match="crds has gone"):
        chart_docs.current_files(chart)
