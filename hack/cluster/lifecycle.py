"""up, down, connect: the same for every way of having a cluster."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from hack.cluster import existing, kind
from hack.cluster.choice import choose
from hack.cluster.client import ClientCluster
from hack.cluster.errors import ClusterError
from hack.cluster.interface import Cluster
from hack.cluster.local import lifecycle as local
from hack.cluster.local.cluster import LocalCluster
from hack.cluster.paths import Paths
from hack.cluster.progress import Progress, seconds
from hack.cluster.state import State, Way

_HANDLES: dict[Way, type[ClientCluster]] = {
    Way.KIND: kind.KindWay,
    Way.LOCAL: LocalCluster,
    Way.EXISTING: existing.ExistingCluster,
}


@contextmanager
def changing(paths: Paths) -> Iterator[None]:
    """Let one command at a time change the cluster of a checkout."""
    paths.home.mkdir(parents=True, exist_ok=True)
    with paths.lock.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another command is changing this cluster: waiting for it.", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def recorded(paths: Paths) -> ClientCluster | None:
    """Give the cluster that was started here, whether it still runs or not."""
    state = State.load(paths.state)
    return None if state is None else _HANDLES[state.way](paths, state.name)


def connect(paths: Paths | None = None) -> Cluster:
    """Give the running cluster of this checkout."""
    cluster = recorded(paths or Paths.of_checkout())
    if cluster is None:
        raise ClusterError("No cluster is up: `make cluster-up` starts one.")
    if not cluster.answers():
        raise ClusterError("The cluster does not answer: `make cluster-up` starts it anew.")
    return cluster


def up(paths: Paths | None = None) -> Cluster:
    """Give the running cluster of this checkout, started if need be."""
    paths = paths or Paths.of_checkout()
    way = choose()
    if way is Way.LOCAL:
        local.check_possible()
    elif way is Way.EXISTING:
        existing.check_possible(paths)
    with changing(paths):
        state = State.load(paths.state)
        cluster = recorded(paths)
        if state is not None and cluster is not None:
            if state.way is way and cluster.answers():
                print(f"The cluster {cluster.name} is up already.", flush=True)
                for node in cluster.stopped_nodes():
                    print(f"Starting its node {node}, which was stopped.", flush=True)
                    cluster.start_node(node)
                return cluster
            print(f"Taking down what is left of {cluster.name}.", flush=True)
            _take_down(paths, state)
        return _start(paths, way)


def _start(paths: Paths, way: Way) -> Cluster:
    if way is Way.LOCAL:
        progress = Progress(local.STEPS)
        cluster: Cluster = local.start(paths, progress)
    elif way is Way.KIND:
        progress = Progress(kind.STEPS)
        cluster = kind.start(paths, progress)
    else:
        progress = Progress(existing.STEPS)
        cluster = existing.connect(paths, progress)
    print(f"The cluster {cluster.name} is up after {seconds(progress.elapsed)}.", flush=True)
    return cluster


def down(paths: Paths | None = None) -> None:
    """Take the cluster of this checkout down; an existing one is only forgotten."""
    paths = paths or Paths.of_checkout()
    with changing(paths):
        state = State.load(paths.state)
        if state is None:
            print("No cluster is up.")
            return
        if state.way is Way.EXISTING:
            _take_down(paths, state)
            print(f"{state.name} is not ours and stays up; this checkout has forgotten it.")
            return
        with Progress(1).step(f"taking {state.name} down"):
            _take_down(paths, state)
    print("Nothing is left of it.")


def _take_down(paths: Paths, state: State) -> None:
    if state.way is Way.LOCAL:
        left = local.take_down(paths)
        if left:
            raise ClusterError("Left behind:\n" + "\n".join(left))
        return
    if state.way is Way.KIND:
        kind.take_down(paths, state.name)
    local.remove_files(paths, keep_logs=False)
