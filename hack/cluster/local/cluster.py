"""The local cluster as tests see it."""

import json
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from hack.cluster.client import ClientCluster, forget_command, listing_has
from hack.cluster.command import run
from hack.cluster.errors import ClusterError
from hack.cluster.local import cgroups, machine, network
from hack.cluster.local.layout import CONTAINERD_SOCKET, NODES, PLANE, Node, node_named
from hack.cluster.local.orders import Orders
from hack.cluster.paths import Paths
from hack.cluster.state import Machine, State

_BOOT_SECONDS = 90.0
_STOP_SECONDS = 20.0


class LocalCluster(ClientCluster):
    """Plain processes in namespaces; a node is running while its PID 1 is."""

    def answers(self) -> bool:
        """Tell whether the control plane runs and its API server answers."""
        plane = self._state().machines.get(PLANE)
        return plane is not None and plane.init.alive() and super().answers()

    def stopped_nodes(self) -> list[str]:
        """Name the nodes whose PID 1 has ended."""
        running = self._running()
        return [node.name for node in NODES if node not in running]

    def has_image(self, reference: str, image_id: str) -> bool:
        """Tell whether every running node has the image of this id under this full name."""
        listings = [run(self._ctr(node, "images", "ls")).stdout for node in self._running()]
        return bool(listings) and all(listing_has(listing, reference, image_id) for listing in listings)

    def stop_node(self, name: str) -> None:
        """Pull the plug of a node: everything on it dies at once, its Node object stays."""
        node = self._node(name)
        stop(self._state().machines[node.name])
        for directory in cgroups.existing(self.paths.id):
            if directory.name == cgroups.name(self.paths.id, node.name):
                cgroups.remove(directory)

    def start_node(self, name: str) -> None:
        """Boot a stopped node again and wait until it is Ready."""
        node = self._node(name)
        if self._state().machines[node.name].init.alive():
            return
        begun = datetime.now(UTC).replace(microsecond=0)
        orders = json.loads(orders_file(self.paths, node).read_text())
        boot(self.paths, node, orders)
        self.wait_ready(node.name, begun)

    def wait_ready(self, name: str, since: datetime, timeout: float = _BOOT_SECONDS) -> None:
        """Wait until a node says that it is Ready, later than ``since``: its old word may still stand."""
        deadline = time.monotonic() + timeout
        while not self.ready_since(name, since):
            if time.monotonic() > deadline:
                raise ClusterError(
                    f"{name} did not become Ready within {timeout:g} s; see {self.paths.logs}."
                )
            time.sleep(0.2)

    def ready_since(self, name: str, since: datetime) -> bool:
        """Tell whether a node has said, later than ``since``, that it is Ready."""
        path = '{range .status.conditions[?(@.type=="Ready")]}{.status} {.lastHeartbeatTime}{end}'
        answer = self.kubectl("get", "node", name, "-o", f"jsonpath={path}", check=False)
        status, _, heartbeat = answer.stdout.partition(" ")
        return status == "True" and datetime.fromisoformat(heartbeat) >= since

    def _state(self) -> State:
        state = State.load(self.paths.state)
        if state is None:
            raise ClusterError("The cluster was taken down.")
        return state

    def _node(self, name: str) -> Node:
        try:
            return node_named(name)
        except LookupError:
            known = ", ".join(node.name for node in NODES)
            raise ClusterError(f"There is no node {name}: the nodes are {known}.") from None

    def _running(self) -> list[Node]:
        machines = self._state().machines
        return [node for node in NODES if node.name in machines and machines[node.name].init.alive()]

    def _load(self, archives: Sequence[Path]) -> None:
        with ThreadPoolExecutor(len(NODES)) as pool:
            list(pool.map(lambda node: self._import(node, archives), self._running()))

    def _import(self, node: Node, archives: Sequence[Path]) -> None:
        for archive in archives:
            run(self._ctr(node, *forget_command(archive)), check=False)
            with archive.open("rb") as content:
                run(self._ctr(node, "images", "import", "-"), stdin=content, timeout=300)

    def _ctr(self, node: Node, *args: str) -> list[str]:
        pid = self._state().machines[node.name].init.pid
        # The socket's path is short inside the node; outside it could be longer than a socket's path may be.
        enter = ["nsenter", "--mount", f"--target={pid}", "--"]
        return [*enter, "ctr", "--address", CONTAINERD_SOCKET, "--namespace", "k8s.io", *args]


def orders_file(paths: Paths, node: Node) -> Path:
    """Say where a node's orders are kept for its next boot."""
    return paths.node(node.name) / "orders.json"


def boot(paths: Paths, node: Node, orders: Orders) -> None:
    """Start a node, record it and join it to the network."""

    def prepare(started: Machine) -> Orders:
        state = record(paths, node.name, started)
        cgroups.make(cgroups.name(paths.id, node.name))
        network.lay_node(node, started.init.pid, state.machines[PLANE].init.pid)
        return orders

    orders_file(paths, node).write_text(json.dumps(orders, indent=1))
    machine.start(node.name, init_log(paths, node.name), prepare)


def record(paths: Paths, name: str, started: Machine) -> State:
    """Write a machine down at once, so that it can be taken down whatever happens next."""
    state = State.load(paths.state)
    if state is None:
        raise ClusterError("The cluster was taken down while it was starting.")
    state = state.with_machine(name, started)
    state.save(paths.state)
    return state


def stop(which: Machine) -> None:
    """End a machine and wait until it is gone with everything in it."""
    which.init.kill()
    if not which.init.wait_gone(_STOP_SECONDS):
        raise ClusterError(f"Process {which.init.pid} does not end, though it was killed.")


def init_log(paths: Paths, name: str) -> Path:
    """Say where the PID 1 of a machine writes."""
    return paths.logs / f"{name}-init.log"
