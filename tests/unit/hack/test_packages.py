import os
import stat
from pathlib import Path

import pytest

from hack.cluster import ClusterError, packages


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A system where one command is missing; whatever is installed brings it."""
    monkeypatch.setattr(packages, "SYSTEM_PATH", str(tmp_path))
    monkeypatch.setattr(packages, "COMMANDS", {"tool": "tool-package"})
    monkeypatch.setattr(packages, "CNI_DIRECTORIES", (tmp_path,))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for plugin in packages.CNI_PLUGINS:
        (tmp_path / plugin).touch()
    return tmp_path


def _apt(system: Path, effect: str) -> None:
    script = system / "apt-get"
    script.write_text(f'#!/bin/sh\necho "$@" >> {system}/calls\n[ "$1" = update ] || {{ {effect}; }}\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)


def test_what_is_missing_is_installed(system: Path) -> None:
    _apt(system, f"touch {system}/tool; chmod +x {system}/tool")
    notes: list[str] = []
    packages.ensure(notes.append)
    assert notes == ["installing tool-package"]
    calls = (system / "calls").read_text().splitlines()
    assert [call.split()[0] for call in calls] == ["update", "install"]
    packages.ensure(notes.append)
    assert (system / "calls").read_text().splitlines() == calls


def test_a_package_that_does_not_help_is_named(system: Path) -> None:
    _apt(system, "true")
    with pytest.raises(ClusterError, match="tool-package did not bring what was expected"):
        packages.ensure(print)


def test_without_apt_a_sentence_says_what_to_install(system: Path) -> None:
    (system / "ptp").unlink()
    with pytest.raises(ClusterError, match="Install containernetworking-plugins, tool-package"):
        packages.ensure(print)
