from pathlib import Path

import pytest

from hack.cluster import ClusterError
from hack.cluster.local import cgroups


def _mounts(tmp_path: Path, *kinds: tuple[str, str]) -> Path:
    lines = [f"30 29 0:26 / {tmp_path / place} rw - {kind} cgroup rw" for place, kind in kinds]
    file = tmp_path / "mountinfo"
    file.write_text("\n".join(["29 1 0:1 / / rw - ext4 /dev/vda rw", *lines]) + "\n")
    for place, _ in kinds:
        (tmp_path / place).mkdir(exist_ok=True)
    return file


@pytest.fixture
def legacy(tmp_path: Path) -> Path:
    """A hybrid: the controllers in old hierarchies, and a new one without any."""
    mounts = _mounts(tmp_path, ("memory", "cgroup"), ("cpuset", "cgroup"), ("unified", "cgroup2"))
    (tmp_path / "cpuset/cpuset.cpus").write_text("0-1\n")
    (tmp_path / "cpuset/cpuset.mems").write_text("0\n")
    return mounts


def _unified(tmp_path: Path, controllers: str) -> Path:
    mounts = _mounts(tmp_path, ("cgroup", "cgroup2"))
    (tmp_path / "cgroup/cgroup.controllers").write_text(controllers)
    (tmp_path / "cgroup/cgroup.subtree_control").write_text("")
    return mounts


def test_with_v1_a_node_has_a_cgroup_in_each_hierarchy_of_controllers(tmp_path: Path, legacy: Path) -> None:
    cgroups.make("fairway-1-node1", legacy)
    assert (tmp_path / "memory/fairway-1-node1").is_dir()
    assert not (tmp_path / "unified/fairway-1-node1").exists()
    cpuset = tmp_path / "cpuset/fairway-1-node1"
    settings = {path.name: path.read_text().strip() for path in cpuset.iterdir()}
    assert settings == {"cpuset.cpus": "0-1", "cpuset.mems": "0", "cgroup.clone_children": "1"}


def test_the_cgroups_of_a_cluster_are_found_in_every_hierarchy(tmp_path: Path, legacy: Path) -> None:
    for place in (
        "memory/fairway-1-node1",
        "unified/fairway-1-node2",
        "memory/fairway-2-node1",
        "memory/else",
    ):
        (tmp_path / place).mkdir()
    found = {str(path.relative_to(tmp_path)) for path in cgroups.existing("1", legacy)}
    assert found == {"memory/fairway-1-node1", "unified/fairway-1-node2"}


def test_with_v2_missing_controllers_are_named(tmp_path: Path) -> None:
    mounts = _unified(tmp_path, "cpu memory io")
    with pytest.raises(ClusterError, match="cpuset, pids are not available"):
        cgroups.make("fairway-1-node1", mounts)


def test_with_v2_controllers_are_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = _unified(tmp_path, "cpuset cpu io memory pids rdma")
    written: list[tuple[str, str]] = []
    make = Path.mkdir

    def mkdir_as_the_kernel_does(self: Path, **options: bool) -> None:
        make(self, **options)
        (self / "cgroup.subtree_control").write_text("")

    def write(self: Path, text: str) -> int:
        written.append((str(self.relative_to(tmp_path)), text))
        return len(text)

    monkeypatch.setattr(Path, "mkdir", mkdir_as_the_kernel_does)
    monkeypatch.setattr(cgroups, "_write", write)
    cgroups.make("fairway-1-node1", mounts)
    each = ["+cpu", "+cpuset", "+memory", "+pids", "+io"]
    assert written == [
        *(("cgroup/cgroup.subtree_control", controller) for controller in each),
        *(("cgroup/fairway-1-node1/cgroup.subtree_control", controller) for controller in each),
    ]


def test_a_cgroup_is_removed_from_its_leaves_up(tmp_path: Path) -> None:
    (tmp_path / "fairway-1-node1/kubepods/burstable/pod1").mkdir(parents=True)
    assert cgroups.remove(tmp_path / "fairway-1-node1")
    assert cgroups.remove(tmp_path / "fairway-1-node1")
    assert not (tmp_path / "fairway-1-node1").exists()
