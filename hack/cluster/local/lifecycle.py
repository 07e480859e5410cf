"""Bringing a local cluster up, and down without a trace."""

import os
import shutil
import socket
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from hack.cluster import binaries, packages
from hack.cluster.command import run, tail
from hack.cluster.errors import ClusterError
from hack.cluster.local import cgroups, images, machine, network, orders, pki
from hack.cluster.local.cluster import LocalCluster, boot, init_log, record, stop
from hack.cluster.local.layout import NODES, PLANE
from hack.cluster.local.leftovers import leftovers
from hack.cluster.paths import Paths
from hack.cluster.progress import Progress
from hack.cluster.state import Machine, State, Way

STEPS = 8
NEEDS = (
    "A cluster needs Docker (then kind is used) or root on Linux (then local binaries are used); "
    "`make test-fast` works without either."
)
_MANIFESTS = Path(__file__).parents[1] / "manifests"
_PATIENCE_SECONDS = 120.0
_LEAVING_SECONDS = 10.0
_POLL_SECONDS = 0.1


def check_possible() -> None:
    """Refuse where a local cluster cannot be."""
    if sys.platform != "linux" or os.geteuid() != 0:
        raise ClusterError(NEEDS)


def start(paths: Paths, progress: Progress) -> LocalCluster:
    """Start a cluster, or leave nothing of it but its logs."""
    check_possible()
    cluster = LocalCluster(paths, f"fairway-{paths.id}")
    parts = _gather(paths, progress)
    try:
        _start(cluster, parts, progress)
    except BaseException:
        take_down(paths, keep_logs=True)
        raise
    return cluster


def _gather(paths: Paths, progress: Progress) -> orders.Parts:
    with progress.step("Debian packages") as step:
        packages.ensure(step.note)
        cni = packages.cni_directory()
        if cni is None:
            raise ClusterError(f"Install {packages.CNI_PACKAGE} and try again.")
    with progress.step(f"Kubernetes {binaries.KUBERNETES} and etcd, compiled") as step:
        kubernetes = binaries.ensure(binaries.KUBE, step.note)
    with progress.step("helm, CoreDNS and volume provisioner, compiled") as step:
        helm = binaries.ensure(binaries.HELM_COMMAND, step.note)
        addons = binaries.ensure(binaries.ADDONS, step.note)
        archives = images.ensure(addons, step.note)
    paths.home.mkdir(parents=True, exist_ok=True)
    return orders.Parts(kubernetes, addons, helm, archives, cni, snapshotter(paths.home))


def snapshotter(home: Path) -> str:
    """Choose how containerd keeps layers: an overlay cannot lie on an overlay, as in a container."""
    kind = run(["stat", "--file-system", "--format=%T", str(home)]).stdout.strip()
    return "native" if kind == "overlayfs" else "overlayfs"


def _start(cluster: LocalCluster, parts: orders.Parts, progress: Progress) -> None:
    paths = cluster.paths
    with progress.step("certificates"):
        State(Way.LOCAL, cluster.name, {}, network.host_tables()).save(paths.state)
        shutil.rmtree(paths.logs, ignore_errors=True)
        paths.logs.mkdir()
        pki.make(paths.pki)
        _link_commands(paths, parts)
    with progress.step("namespaces and network"):
        begun = datetime.now(UTC).replace(microsecond=0)
        _start_plane(cluster, parts)
        for node in NODES:
            boot(paths, node, orders.node(paths, parts, node, cgroups.name(paths.id, node.name)))
    with progress.step("etcd and API server"):
        _wait(cluster, cluster.answers, PLANE, "kube-apiserver")
    with progress.step("nodes Ready"):
        for node in NODES:
            _wait(cluster, partial(cluster.ready_since, node.name, begun), node.name, "kubelet")
        _wait(cluster, lambda: _pods_allowed(cluster), PLANE, "kube-controller-manager")
    with progress.step("DNS and storage"):
        for manifest in sorted(_MANIFESTS.glob("*.yaml")):
            cluster.kubectl("apply", "-f", str(manifest))
        _wait(cluster, lambda: _dns_ready(cluster), NODES[0].name, "kubelet")


def _link_commands(paths: Paths, parts: orders.Parts) -> None:
    shutil.rmtree(paths.bin, ignore_errors=True)
    paths.bin.mkdir()
    (paths.bin / "kubectl").symlink_to(parts.kubernetes / "kubectl")
    (paths.bin / "helm").symlink_to(parts.helm / "helm")


def _start_plane(cluster: LocalCluster, parts: orders.Parts) -> None:
    paths = cluster.paths
    # A listening socket stays in the network namespace where it was made: the host's. So the API server is
    # offered on the host's loopback by a process that lives in the plane's namespaces and dies with them.
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        descriptor, port = listener.fileno(), listener.getsockname()[1]

        def prepare(started: Machine) -> orders.Orders:
            record(paths, PLANE, started)
            network.lay_plane(started.init.pid)
            return orders.plane(paths, parts, descriptor)

        machine.start(PLANE, init_log(paths, PLANE), prepare, descriptors=[descriptor])
    config = pki.kubeconfig(paths.pki, "admin", f"https://127.0.0.1:{port}", cluster.name)
    pki.write_private(paths.kubeconfig, config)


def _pods_allowed(cluster: LocalCluster) -> bool:
    # Pods are forbidden in a namespace until its default account exists.
    account = cluster.kubectl("-n", "default", "get", "serviceaccount", "default", check=False)
    return account.returncode == 0


def _dns_ready(cluster: LocalCluster) -> bool:
    path = "jsonpath={.spec.replicas} {.status.availableReplicas}"
    wanted, _, available = cluster.kubectl(
        "-n", "kube-system", "get", "deployment", "coredns", "-o", path
    ).stdout.partition(" ")
    return wanted == available


def _wait(cluster: LocalCluster, condition: Callable[[], bool], where: str, component: str) -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        state = State.load(cluster.paths.state)
        dead = [name for name, m in (state.machines if state else {}).items() if not m.init.alive()]
        if dead or time.monotonic() > deadline:
            raise ClusterError(diagnosis(cluster.paths, dead, where, component))
        time.sleep(_POLL_SECONDS)


def diagnosis(paths: Paths, dead: list[str], where: str, component: str) -> str:
    """Say what is known of a failed start: the end of the log that matters, and where all of them are."""
    if dead:
        reason, log = f"{' and '.join(dead)} ended", init_log(paths, dead[0])
    else:
        reason, log = f"still not so after {_PATIENCE_SECONDS:g} s", paths.logs / f"{where}-{component}.log"
    last = tail(log.read_text(errors="replace")) if log.exists() else "(nothing was written)"
    return f"{reason}. The end of {log.name}:\n{last}\nAll logs are in {paths.logs}."


def take_down(paths: Paths, *, keep_logs: bool = False) -> list[str]:
    """End everything, nodes first, remove its files, and say what is left behind: nothing, it is hoped."""
    state = State.load(paths.state)
    if state is None:
        return []
    for name in sorted(state.machines, key=lambda name: name == PLANE):
        stop(state.machines[name])
    for directory in cgroups.existing(paths.id):
        cgroups.remove(directory)
    left = _left(paths, state)
    if not left:
        # With processes or mounts still there, removing files could reach into something alive.
        remove_files(paths, keep_logs=keep_logs)
    return left


def _left(paths: Paths, state: State) -> list[str]:
    deadline = time.monotonic() + _LEAVING_SECONDS
    while (left := leftovers(paths, state)) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return left


def remove_files(paths: Paths, *, keep_logs: bool) -> None:
    """Remove a cluster's files, but never the lock that is being held."""
    kept = {paths.lock, *([paths.logs] if keep_logs else [])}
    for path in paths.home.iterdir():
        if path in kept:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
