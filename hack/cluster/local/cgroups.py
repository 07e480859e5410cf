"""One cgroup for each node, the only thing of a local cluster that is not inside its namespaces."""

import time
from pathlib import Path

from hack.cluster.errors import ClusterError

MOUNTS = Path("/proc/self/mountinfo")
ROOT = Path("/sys/fs/cgroup")
# What the kubelet insists on in a unified hierarchy, and what it likes to have.
_NEEDED = ("cpu", "cpuset", "memory", "pids")
_LIKED = ("io", "hugetlb")
_REMOVAL_SECONDS = 10.0


def name(cluster_id: str, node: str) -> str:
    """Name the cgroup of a node."""
    return f"fairway-{cluster_id}-{node}"


def hierarchies(mounts: Path = MOUNTS) -> list[Path]:
    """Find where controllers are mounted: several places with cgroup v1, one with v2."""
    # With both (a hybrid), the controllers are in the old ones.
    unified = _mounted("cgroup2", mounts)
    return _mounted("cgroup", mounts) or ([ROOT] if ROOT in unified else unified[:1])


def _mounted(kind: str, mounts: Path) -> list[Path]:
    found = set()
    for line in mounts.read_text().splitlines():
        left, _, right = line.partition(" - ")
        if right.split()[0] == kind:
            found.add(Path(left.split()[4]))
    return sorted(found)


def make(group: str, mounts: Path = MOUNTS) -> None:
    """Make a node's cgroup in every hierarchy."""
    for hierarchy in hierarchies(mounts):
        if (hierarchy / "cgroup.controllers").exists():
            _make_unified(hierarchy, group)
        else:
            _make_legacy(hierarchy, group)


def _make_legacy(hierarchy: Path, group: str) -> None:
    directory = hierarchy / group
    directory.mkdir(exist_ok=True)
    for setting in ("cpuset.cpus", "cpuset.mems"):
        if (hierarchy / setting).exists():
            # A new cpuset is empty and takes no process; the kubelet's own below shall copy ours.
            (directory / setting).write_text((hierarchy / setting).read_text())
            (directory / "cgroup.clone_children").write_text("1")


def _make_unified(hierarchy: Path, group: str) -> None:
    available = (hierarchy / "cgroup.controllers").read_text().split()
    lacking = [controller for controller in _NEEDED if controller not in available]
    if lacking:
        raise ClusterError(f"The cgroup controllers {', '.join(lacking)} are not available in {hierarchy}.")
    wanted = [controller for controller in (*_NEEDED, *_LIKED) if controller in available]
    directory = hierarchy / group
    _enable(hierarchy, wanted)
    directory.mkdir(exist_ok=True)
    _enable(directory, wanted)


def _enable(directory: Path, controllers: list[str]) -> None:
    control = directory / "cgroup.subtree_control"
    enabled = control.read_text().split()
    for controller in controllers:
        if controller not in enabled:
            try:
                _write(control, f"+{controller}")
            except OSError as error:
                raise ClusterError(
                    f"The cgroup controller {controller} cannot be handed on below {directory}: "
                    f"{error.strerror}. Run this outside of a container, or where Docker is."
                ) from error


def existing(cluster_id: str, mounts: Path = MOUNTS) -> list[Path]:
    """Find the cgroups of a cluster that are there; runc makes its own in a hybrid's new hierarchy."""
    everywhere = [*_mounted("cgroup", mounts), *_mounted("cgroup2", mounts)]
    pattern = name(cluster_id, "*")
    return [directory for hierarchy in everywhere for directory in sorted(hierarchy.glob(pattern))]


def remove(directory: Path) -> bool:
    """Remove a cgroup and those below it, once the last processes have left; tell whether it is gone."""
    deadline = time.monotonic() + _REMOVAL_SECONDS
    while directory.exists():
        _remove_once(directory)
        if not directory.exists():
            break
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def _remove_once(directory: Path) -> None:
    below = sorted((path for path in directory.rglob("*") if path.is_dir()), reverse=True)
    for path in [*below, directory]:
        try:
            path.rmdir()
        except OSError:
            continue  # busy: its processes are ending, and the caller tries again


def _write(control: Path, text: str) -> None:
    control.write_text(text)
