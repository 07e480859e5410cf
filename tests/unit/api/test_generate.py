"""Generated files are current, and a stale one is told by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fairway.api.codes import RefusalCode
from fairway.api.generate import generated, main

if TYPE_CHECKING:
    import pytest

ROOT = Path(__file__).parents[3]


def test_the_files_of_this_repository_are_current() -> None:
    assert main(["--check", "--root", str(ROOT)]) == 0


def test_a_stale_missing_or_left_over_file_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--root", str(tmp_path)]) == 0
    assert main(["--check", "--root", str(tmp_path)]) == 0
    (tmp_path / "crds/jobs.fairway.dev.yaml").write_text("changed by hand")
    (tmp_path / "docs/reference.md").unlink()
    (tmp_path / "charts/fairway/files/crds/gone.fairway.dev.yaml").write_text("")
    capsys.readouterr()
    assert main(["--check", "--root", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    for path in (
        "crds/jobs.fairway.dev.yaml",
        "docs/reference.md",
        "charts/fairway/files/crds/gone.fairway.dev.yaml",
    ):
        assert f"{path} is stale: run python -m fairway.api.generate\n" in told
    assert "tenants" not in told
    assert main(["--root", str(tmp_path)]) == 0
    assert main(["--check", "--root", str(tmp_path)]) == 0


def test_the_chart_gets_the_same_bytes() -> None:
    files = generated()
    for path, text in files.items():
        if path.startswith("crds/"):
            assert files[f"charts/fairway/files/{path}"] == text


def test_the_reference_tells_of_every_code_and_default() -> None:
    page = generated()["docs/reference.md"]
    for code in RefusalCode:
        assert f"`{code}`" in page
    for line in (
        "| `spec.liveness.lease` | duration | short 10s, medium 5m, long 90s |",
        "| `spec.weight` | integer, 1 to 1000000 | free 1, standard 10, pro 100, enterprise 1000 |",
        "| `spec.accounts.inFlight` | integer, 0 to 1000000000000 | free 2, standard no limit, pro no limit",
    ):
        assert line in page
