from pathlib import Path

import pytest

from hack.cluster import ClusterError
from hack.cluster.client import client_environment, listing_has
from hack.cluster.local.lifecycle import diagnosis, remove_files
from hack.cluster.paths import Paths, cache_directory
from hack.cluster.processes import ProcessRecord
from hack.cluster.state import Machine, State, Way


def test_a_state_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / ".cluster/state.json"
    assert State.load(path) is None
    state = State(Way.LOCAL, "fairway-abc", {}, ["table ip filter"])
    state = state.with_machine("plane", Machine(ProcessRecord(7, 1234, "boot"), {"net": "net:[4]"}))
    state.save(path)
    assert State.load(path) == state


def test_a_broken_state_is_not_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text('{"way": "minikube"}')
    with pytest.raises(ClusterError, match="cannot be read"):
        State.load(path)


def test_checkouts_have_clusters_of_their_own(tmp_path: Path) -> None:
    first, second = (Paths.of_checkout(tmp_path / name) for name in ("a", "b"))
    assert first.id != second.id
    assert first.id == Paths.of_checkout(tmp_path / "a").id


def test_the_cache_is_where_the_user_keeps_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_directory() == tmp_path / "fairway/cluster"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_directory() == tmp_path / "home/.cache/fairway/cluster"


def test_kubectl_never_sees_the_callers_kubeconfig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/home/me/.kube/config")
    environment = client_environment(Paths(tmp_path))
    assert "KUBECONFIG" not in environment
    assert environment["KUBECACHEDIR"].startswith(str(tmp_path))


def test_an_image_is_there_when_its_name_and_its_id_lead_to_one_digest() -> None:
    listing = (
        "REF                 TYPE  DIGEST     SIZE   PLATFORMS   LABELS\n"
        "docker.io/a:1       type  sha256:d1  9 MiB  linux/amd64 -\n"
        "docker.io/a:2       type  sha256:d2  9 MiB  linux/amd64 -\n"
        "sha256:aaaa         type  sha256:d1  9 MiB  linux/amd64 -\n"
    )
    assert listing_has(listing, "docker.io/a:1", "sha256:aaaa")
    assert listing_has(listing, "docker.io/a:1", "aaaa")
    assert not listing_has(listing, "docker.io/a:2", "sha256:aaaa")
    assert not listing_has(listing, "docker.io/a:2", "sha256:bbbb")
    assert not listing_has("", "docker.io/a:1", "sha256:aaaa")


def test_a_failed_start_shows_the_log_that_matters(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    paths.logs.mkdir()
    (paths.logs / "plane-kube-apiserver.log").write_text("".join(f"line {n}\n" for n in range(40)))
    (paths.logs / "fairway-node1-init.log").write_text("mount: no such device\n")
    slow = diagnosis(paths, [], "plane", "kube-apiserver")
    assert "line 39\nAll logs are in" in slow
    assert "line 1\n" not in slow
    dead = diagnosis(paths, ["fairway-node1"], "plane", "kube-apiserver")
    assert dead.startswith("fairway-node1 ended. The end of fairway-node1-init.log:\nmount: no such device\n")
    assert "(nothing was written)" in diagnosis(paths, [], "plane", "etcd")


def test_files_are_removed_but_for_the_lock_and_kept_logs(tmp_path: Path) -> None:
    paths = Paths(tmp_path)
    for directory in (paths.logs, paths.pki, paths.node("a")):
        directory.mkdir(parents=True)
    paths.lock.touch()
    paths.kubeconfig.touch()
    (tmp_path / "link").symlink_to(paths.pki)
    remove_files(paths, keep_logs=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["lock", "logs"]
    remove_files(paths, keep_logs=False)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
