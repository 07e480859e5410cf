"""What a cluster that was taken down may have left behind. The answer should always be: nothing."""

from pathlib import Path

from hack.cluster.local import cgroups, network
from hack.cluster.local.machine import NAMESPACES
from hack.cluster.paths import Paths
from hack.cluster.processes import PROC, all_pids
from hack.cluster.state import State

# Tables that kube-proxy and the CNI plugins make; ours live in the nodes' namespaces.
_OUR_TABLES = ("kube-proxy", "cni_hostport", "KUBE-")


def leftovers(paths: Paths, state: State) -> list[str]:
    """List processes, mounts, namespaces, cgroups and firewall tables that are still there, in words."""
    ours = {namespace for machine in state.machines.values() for namespace in machine.namespaces.values()}
    return [
        *processes(ours, cgroups.name(paths.id, "")),
        *mounts(paths.home),
        *(f"cgroup {directory}" for directory in cgroups.existing(paths.id)),
        *tables(state.host_tables, network.host_tables()),
    ]


def processes(namespaces: set[str], group: str, proc: Path = PROC) -> list[str]:
    """List processes in one of these namespaces or in a cgroup whose name begins so.

    A namespace lives as long as a process or a mount holds it, so this speaks for the namespaces as well.
    """
    found = []
    for pid in all_pids(proc):
        directory = proc / str(pid)
        try:
            held = {str((directory / "ns" / kind).readlink()) for kind in NAMESPACES} & namespaces
            if held or f"/{group}" in (directory / "cgroup").read_text():
                command = (directory / "comm").read_text().strip()
                found.append(f"process {pid} ({command}) {', '.join(sorted(held))}".strip())
        except OSError:
            continue  # it ended while we looked
    return found


def mounts(home: Path, proc: Path = PROC) -> list[str]:
    """List mounts of the host on or from a cluster's directory."""
    found = []
    for line in (proc / "self/mountinfo").read_text().splitlines():
        fields = line.split()
        if any(part == str(home) or part.startswith(f"{home}/") for part in (fields[3], fields[4])):
            found.append(f"mount {fields[4]}")
    return found


def tables(before: list[str], now: list[str]) -> list[str]:
    """List firewall tables of the kind a cluster makes that were not there before."""
    return [table for table in now if table not in before and any(name in table for name in _OUR_TABLES)]
