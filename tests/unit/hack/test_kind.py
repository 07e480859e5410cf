"""What can be tested of kind without a Docker engine: how docker and kind are called, and with what."""

import json
import os
import stat
from pathlib import Path

import pytest
import yaml

from hack.cluster import kind
from hack.cluster.archive import write_archive
from hack.cluster.paths import Paths


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH with stand-ins; the file with their calls."""
    log = tmp_path / "calls"
    answers = {
        "docker": 'case "$1" in ps) echo b;; exec) printf "%b" "$LISTING";; esac',
        "kind": '[ "$1" != get ] || printf "a\\nb\\n"',
        "kubectl": "true",
        "helm": "true",
    }
    directory = tmp_path / "bin"
    directory.mkdir()
    for command, answer in answers.items():
        script = directory / command
        script.write_text(f'#!/bin/sh\necho {command} "$@" >> {log}\n{answer}\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{directory}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return log


@pytest.fixture
def cluster(calls: Path, tmp_path: Path) -> kind.KindWay:
    paths = Paths(tmp_path / ".cluster")
    paths.bin.mkdir(parents=True)
    (paths.bin / "kubectl").symlink_to(calls.parent / "bin/kubectl")
    return kind.KindWay(paths, "fairway-abc")


def test_two_nodes_take_pods_and_keep_the_timings_of_the_local_cluster() -> None:
    config = kind.config()
    assert [node["role"] for node in config["nodes"]] == ["control-plane", "worker"]
    patches = {part["kind"]: part for part in map(yaml.safe_load, config["kubeadmConfigPatches"])}
    assert patches["InitConfiguration"]["nodeRegistration"]["taints"] == []
    manager = patches["ClusterConfiguration"]["controllerManager"]["extraArgs"]
    assert manager["node-monitor-grace-period"] == "16s"
    assert patches["KubeletConfiguration"]["nodeLeaseDurationSeconds"] == 16


def test_archives_are_loaded_by_kind_and_seen_on_the_nodes(
    cluster: kind.KindWay, calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / "x.tar"
    image_id = write_archive(archive, reference="localhost/x:1", files={}, entrypoint=["/x"])
    monkeypatch.setenv("LISTING", f"REF TYPE DIGEST\\nlocalhost/x:1 t sha256:d\\n{image_id} t sha256:d\\n")
    cluster.load_archives([archive])
    said = calls.read_text().splitlines()
    forgotten = said.index("docker exec a ctr --namespace k8s.io images rm --sync localhost/x:1")
    assert forgotten < said.index(f"kind load image-archive --name=fairway-abc {archive}")
    assert "docker exec a ctr --namespace k8s.io images ls" in said


def test_images_are_looked_for_on_running_nodes(
    cluster: kind.KindWay, calls: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing = "REF TYPE DIGEST\\nx:1 t sha256:d\\nsha256:aa t sha256:d\\n"
    monkeypatch.setenv("LISTING", listing)
    assert cluster.has_image("x:1", "sha256:aa")
    assert not cluster.has_image("x:2", "sha256:aa")
    executed = [line.split()[2] for line in calls.read_text().splitlines() if line.startswith("docker exec")]
    assert set(executed) == {"a"}


def test_nodes_are_stopped_and_started_by_docker(cluster: kind.KindWay, calls: Path) -> None:
    cluster.stop_node("fairway-abc-worker")
    cluster.start_node("fairway-abc-worker")
    said = calls.read_text()
    assert "docker stop --time=0 fairway-abc-worker\ndocker start fairway-abc-worker\n" in said
    assert f"--kubeconfig={cluster.kubeconfig} wait node/fairway-abc-worker" in said


def test_pytest_kind_gets_our_paths_and_deletes_what_it_made(
    cluster: kind.KindWay, calls: Path, tmp_path: Path
) -> None:
    handle = kind.handle(cluster.paths, cluster.name)
    assert handle.kubeconfig_path == cluster.paths.kubeconfig
    assert handle.kind_path == tmp_path / "bin/kind"
    kind.take_down(cluster.paths, cluster.name)
    expected = f"kind delete cluster --name=fairway-abc --kubeconfig={cluster.paths.kubeconfig}"
    assert expected in calls.read_text().splitlines()


def test_the_configuration_is_plain_data() -> None:
    assert yaml.safe_load(json.dumps(kind.config())) == kind.config()
