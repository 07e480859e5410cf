"""A cluster in Docker containers by kind, driven through pytest-kind."""

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hack.cluster import binaries
from hack.cluster.client import ClientCluster, forget_command, listing_has
from hack.cluster.command import run
from hack.cluster.errors import ClusterError
from hack.cluster.existing import link_command
from hack.cluster.paths import Paths, cache_directory
from hack.cluster.progress import Progress
from hack.cluster.state import State, Way

STEPS = 3
# pytest-kind fetches these where PATH has none; its own defaults are older than the APIs we use.
KIND_VERSION = "v0.30.0"
KUBECTL_VERSION = "v1.34.1"
_READY = "--timeout=120s"


class KindWay(ClientCluster):
    """Two nodes, each a Docker container."""

    def _load(self, archives: Sequence[Path]) -> None:
        for archive in archives:
            for node in self._running():
                run(_ctr(node, *forget_command(archive)), check=False)
            run([*self._kind("load", "image-archive"), str(archive)], timeout=600)

    def has_image(self, reference: str, image_id: str) -> bool:
        """Tell whether every running node has the image of this id under this full name."""
        listings = [run(_ctr(node, "images", "ls")).stdout for node in self._running()]
        return bool(listings) and all(listing_has(listing, reference, image_id) for listing in listings)

    def _running(self) -> list[str]:
        stopped = self.stopped_nodes()
        return [node for node in run(self._kind("get", "nodes")).stdout.split() if node not in stopped]

    def stopped_nodes(self) -> list[str]:
        """Name the nodes whose containers have ended."""
        label = f"label=io.x-k8s.kind.cluster={self.name}"
        command = ["docker", "ps", "--filter", label, "--filter", "status=exited", "--format", "{{.Names}}"]
        return run([*command, "--all"]).stdout.split()

    def stop_node(self, name: str) -> None:
        """Pull the plug of a node: everything on it dies at once, its Node object stays."""
        run(["docker", "stop", "--time=0", name])

    def start_node(self, name: str) -> None:
        """Boot a stopped node again and wait until it is Ready."""
        run(["docker", "start", name])
        self.kubectl("wait", f"node/{name}", "--for=condition=Ready", _READY)

    def _kind(self, *args: str) -> list[str]:
        return [str(kind_path()), *args, f"--name={self.name}"]


def _ctr(node: str, *args: str) -> list[str]:
    return ["docker", "exec", node, "ctr", "--namespace", "k8s.io", *args]


def config() -> dict[str, Any]:
    """Configure kind: two nodes that both take pods, and the timings of the local cluster."""
    api_server = {
        "default-not-ready-toleration-seconds": "10",
        "default-unreachable-toleration-seconds": "10",
    }
    manager = {"kube-api-qps": "200", "kube-api-burst": "400", "node-monitor-grace-period": "16s"}
    patch = {
        "kind": "ClusterConfiguration",
        "apiServer": {"extraArgs": api_server},
        "controllerManager": {"extraArgs": manager},
        "scheduler": {"extraArgs": {"kube-api-qps": "200", "kube-api-burst": "400"}},
    }
    # The first node's taint would leave one node for pods.
    schedulable = {"kind": "InitConfiguration", "nodeRegistration": {"taints": []}}
    kubelet = {
        "kind": "KubeletConfiguration",
        "nodeLeaseDurationSeconds": 16,
        "nodeStatusUpdateFrequency": "4s",
    }
    patches = [json.dumps(part) for part in (patch, schedulable, kubelet)]
    return {
        "kind": "Cluster",
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "networking": {"apiServerAddress": "127.0.0.1"},
        "nodes": [{"role": "control-plane"}, {"role": "worker"}],
        "kubeadmConfigPatches": patches,
    }


def kind_path() -> Path:
    """Give the kind command: the caller's own, or where pytest-kind shall put it."""
    found = shutil.which("kind")
    return Path(found) if found else cache_directory() / f"kind-{KIND_VERSION}"


def kubectl_path() -> Path:
    """Give the kubectl command likewise."""
    found = shutil.which("kubectl")
    return Path(found) if found else cache_directory() / f"kubectl-{KUBECTL_VERSION}"


def handle(paths: Paths, name: str) -> Any:
    """Give pytest-kind's handle on the cluster."""
    os.environ.setdefault("KIND_VERSION", KIND_VERSION)
    os.environ.setdefault("KUBECTL_VERSION", KUBECTL_VERSION)
    from pytest_kind import KindCluster  # noqa: PLC0415 # it reads the versions when it is imported

    cache_directory().mkdir(parents=True, exist_ok=True)
    return KindCluster(name, kubeconfig=paths.kubeconfig, kind_path=kind_path(), kubectl_path=kubectl_path())


def start(paths: Paths, progress: Progress) -> KindWay:
    """Start a cluster, or leave nothing of it."""
    cluster = KindWay(paths, f"fairway-{paths.id}")
    paths.bin.mkdir(parents=True, exist_ok=True)
    kind = handle(paths, cluster.name)
    with progress.step("kubectl and helm") as step:
        kind.ensure_kubectl()
        _link(paths, "kubectl", kubectl_path())
        _link_helm(paths, step.note)
    with progress.step("kind: two nodes in Docker"):
        State(Way.KIND, cluster.name).save(paths.state)
        file = paths.home / "kind.yaml"
        file.write_text(json.dumps(config(), indent=1))
        try:
            kind.create(config_file=file)
        except BaseException as error:
            take_down(paths, cluster.name)
            if isinstance(error, Exception):
                raise ClusterError(f"kind could not make the cluster: {error}") from error
            raise
    with progress.step("nodes Ready"):
        cluster.kubectl("wait", "nodes", "--all", "--for=condition=Ready", _READY)
        cluster.kubectl("-n", "kube-system", "rollout", "status", "deployment/coredns", _READY)
    return cluster


def take_down(paths: Paths, name: str) -> None:
    """Delete the cluster; kind removes the containers and their network."""
    handle(paths, name).delete()


def _link(paths: Paths, command: str, target: Path) -> None:
    (paths.bin / command).unlink(missing_ok=True)
    (paths.bin / command).symlink_to(target.resolve())


def _link_helm(paths: Paths, note: binaries.Note) -> None:
    if shutil.which("helm"):
        link_command(paths, "helm")
    elif shutil.which("go"):
        _link(paths, "helm", binaries.ensure(binaries.HELM_COMMAND, note) / "helm")
    else:
        raise ClusterError("Install helm, or Go 1.26 or later so that it can be compiled.")
