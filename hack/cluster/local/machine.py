"""Starting the PID 1 of the control plane or a node in namespaces of its own."""

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from hack.cluster.errors import ClusterError
from hack.cluster.local import init
from hack.cluster.local.orders import Orders
from hack.cluster.processes import PROC, ProcessRecord, child_of, start_time
from hack.cluster.state import Machine

NAMESPACES = ("net", "mnt", "pid", "uts", "ipc")
_START_SECONDS = 10.0


def command() -> list[str]:
    """Give the command that makes the namespaces and runs our PID 1 in them.

    Mounts are private to the new namespace (unshare's default), so nothing spreads to the host even where its
    mounts are shared; the new /proc shows the new processes.
    """
    flags = [
        "--net",
        "--mount",
        "--pid",
        "--uts",
        "--ipc",
        "--fork",
        "--kill-child",
        "--mount-proc",
        "--wd=/",
    ]
    return ["unshare", *flags, "--", sys.executable, "-I", "-S", str(Path(init.__file__).resolve())]


def namespaces(pid: int, proc: Path = PROC) -> dict[str, str]:
    """Name the namespaces of a process, as ``net:[4026532008]``."""
    return {kind: str((proc / str(pid) / "ns" / kind).readlink()) for kind in NAMESPACES}


def start(
    name: str,
    log: Path,
    prepare: Callable[[Machine], Orders],
    *,
    descriptors: Sequence[int] = (),
) -> Machine:
    """Start a machine; ``prepare`` records it, lays its network and gives its orders."""
    log.parent.mkdir(parents=True, exist_ok=True)
    outer, orders_to = _spawn(log, descriptors)
    with os.fdopen(orders_to, "w") as orders:
        try:
            machine = _record(name, outer, log)
            json.dump(prepare(machine), orders)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.kill(outer, signal.SIGKILL)  # its child dies with it
            raise
    return machine


def _spawn(log: Path, descriptors: Sequence[int]) -> tuple[int, int]:
    """Start it detached; give its pid and where to write its orders.

    It outlives this process, which subprocess.Popen would warn about.
    """
    argv = command()
    read, write = os.pipe()
    for descriptor in descriptors:
        os.set_inheritable(descriptor, True)  # noqa: FBT003 # it takes no keyword
    try:
        actions = [
            (os.POSIX_SPAWN_DUP2, read, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ]
        return os.posix_spawnp(argv[0], argv, os.environ, file_actions=actions, setsid=True), write
    except BaseException:
        os.close(write)
        raise
    finally:
        os.close(read)
        for descriptor in descriptors:
            os.set_inheritable(descriptor, False)  # noqa: FBT003 # it takes no keyword


def _record(name: str, outer: int, log: Path) -> Machine:
    deadline = time.monotonic() + _START_SECONDS
    while start_time(outer) is not None and time.monotonic() < deadline:
        pid = child_of(outer)
        if pid is not None:
            return Machine(ProcessRecord.of(pid), namespaces(pid))
        time.sleep(0.01)
    raise ClusterError(f"{name} did not start: {log.read_text()}")
