import os
import subprocess
import sys
from pathlib import Path

import pytest

from hack.cluster.local import leftovers
from hack.cluster.processes import ProcessRecord, child_of, start_time


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A process of the host, one in a node's namespaces, one in a pod's cgroup, and one just ending."""
    _process(tmp_path, 1, "init", "host", "/")
    _process(tmp_path, 70, "kubelet", "node1", "/")
    _process(tmp_path, 71, "pause", "pod", "/fairway-abc-fairway-node1/kubepods/pod1")
    (tmp_path / "72").mkdir()
    (tmp_path / "self").mkdir()
    (tmp_path / "self/mountinfo").write_text(
        "29 1 254:0 / / rw - ext4 /dev/vda rw\n"
        "31 29 254:0 /home/me/.cluster/nodes/a /var/lib/kubelet rw - ext4 /dev/vda rw\n"
        "32 29 0:40 / /home/me/.cluster-of-another rw - tmpfs tmpfs rw\n"
    )
    return tmp_path


def _process(proc: Path, pid: int, command: str, where: str, group: str) -> None:
    directory = proc / str(pid)
    (directory / "ns").mkdir(parents=True)
    for kind in ("net", "mnt", "pid", "uts", "ipc"):
        (directory / "ns" / kind).symlink_to(f"{kind}:[{where}]")
    (directory / "comm").write_text(f"{command}\n")
    (directory / "cgroup").write_text(f"4:memory:{group}\n")


def test_processes_in_our_namespaces_and_cgroups_are_found(proc: Path) -> None:
    found = leftovers.processes({"net:[node1]", "mnt:[node1]"}, "fairway-abc-", proc)
    assert sorted(found) == ["process 70 (kubelet) mnt:[node1], net:[node1]", "process 71 (pause)"]


def test_strangers_are_left_out(proc: Path) -> None:
    assert leftovers.processes({"net:[other]"}, "fairway-def-", proc) == []


def test_mounts_from_a_clusters_directory_are_found(proc: Path) -> None:
    assert leftovers.mounts(Path("/home/me/.cluster"), proc) == ["mount /var/lib/kubelet"]


def test_firewall_tables_count_when_they_are_new_and_of_our_kind() -> None:
    before = ["table ip filter", "table ip6 kube-proxy"]
    now = [*before, "table ip kube-proxy", "table inet somebody_elses"]
    assert leftovers.tables(before, now) == ["table ip kube-proxy"]


def test_a_process_is_known_by_its_start_time_and_boot() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        assert child_of(os.getpid()) is not None
        record = ProcessRecord.of(process.pid)
        strangers = [
            ProcessRecord(record.pid, record.start + 1, record.boot),
            ProcessRecord(record.pid, record.start, "another boot"),
        ]
        for stranger in strangers:
            assert not stranger.alive()
            stranger.kill()
        assert record.alive()
        assert not record.wait_gone(0)
        record.kill()
        assert record.wait_gone(10)
        assert start_time(process.pid) is None
