import os
import sys
from pathlib import Path

import pytest

from hack.cluster import cli
from hack.cluster.paths import Paths


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Paths:
    """A checkout without a cluster."""
    paths = Paths(tmp_path / ".cluster")
    monkeypatch.setattr(Paths, "of_checkout", lambda: paths)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    return paths


def test_without_root_and_docker_one_sentence_says_what_is_needed(
    checkout: Paths, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAIRWAY_CLUSTER", "local")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert cli.main(["up"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "A cluster needs Docker (then kind is used) or root on Linux (then local binaries are used); "
        "`make test-fast` works without either.\n"
    )
    assert not checkout.home.exists()


def test_a_local_cluster_is_refused_on_other_systems(
    checkout: Paths, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAIRWAY_CLUSTER", "local")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cli.main(["up"]) == 1
    assert "root on Linux" in capsys.readouterr().err
    assert not checkout.home.exists()


def test_an_existing_cluster_must_be_named_by_kubeconfig(
    checkout: Paths, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FAIRWAY_CLUSTER", "existing")
    for value in ("", str(checkout.kubeconfig)):
        monkeypatch.setenv("KUBECONFIG", value)
        assert cli.main(["up"]) == 1
        assert capsys.readouterr().err.startswith("Set KUBECONFIG")


@pytest.mark.parametrize("command", [["load", "x.tar"], ["stop-node", "1"], ["start-node", "1"]])
def test_commands_that_need_a_cluster_say_how_to_get_one(
    checkout: Paths, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(command) == 1
    assert capsys.readouterr().err == "No cluster is up: `make cluster-up` starts one.\n"
    assert not checkout.kubeconfig.exists()


def test_down_without_a_cluster_says_so_and_succeeds(
    checkout: Paths, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["down"]) == 0
    assert capsys.readouterr().out == "No cluster is up.\n"
    assert not checkout.state.exists()
