import multiprocessing
import os
import stat
from pathlib import Path

import pytest

from hack.cluster import ClusterError, binaries


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that is a shell script: it says its version, and "compiles" to where it is told."""
    script = tmp_path / "bin/go"
    script.parent.mkdir()
    script.write_text(
        "#!/bin/sh\n"
        'if [ "$1" = env ]; then echo "${GO_SAYS:-go1.26.8}"; exit; fi\n'
        'while [ "$1" != -o ]; do shift; done\n'
        f'echo built >> {tmp_path}/builds; [ -z "$GO_FAILS" ] || {{ echo "no such module"; exit 1; }}\n'
        'echo binary > "$2/probe"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def _builds(directory: Path) -> int:
    return len((directory / "builds").read_text().splitlines())


def _say_nothing(_text: str) -> None:
    pass


def _ensure_probe(_number: int) -> str:
    return str(binaries.ensure(binaries.PROBE, _say_nothing))


def test_only_the_first_use_compiles(go: Path) -> None:
    notes: list[str] = []
    first = binaries.ensure(binaries.PROBE, notes.append)
    assert (first / "probe").read_text() == "binary\n"
    assert binaries.ensure(binaries.PROBE, notes.append) == first
    assert _builds(go) == 1
    assert len(notes) == 1


def test_several_checkouts_at_once_compile_once(go: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        assert len(set(pool.map(_ensure_probe, range(3)))) == 1
    assert _builds(go) == 1


def test_a_failed_build_leaves_nothing_and_says_why(go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GO_FAILS", "1")
    with pytest.raises(ClusterError, match="compiling probe failed:\nno such module"):
        binaries.ensure(binaries.PROBE, _say_nothing)
    assert [path.name for path in (go / "cache/fairway/cluster").iterdir()] == ["probe.lock"]


def test_an_old_compiler_is_refused(go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GO_SAYS", "go1.25.3")
    with pytest.raises(ClusterError, match=r"Go 1\.26 or later .* install it .*Yours is go1\.25\.3"):
        binaries.ensure(binaries.PROBE, _say_nothing)
    assert not (go / "builds").exists()


def test_no_compiler_is_said_with_where_to_get_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match=r"install it from https://go\.dev/dl"):
        binaries.go_version()


def test_the_key_follows_sources_versions_and_flags(tmp_path: Path) -> None:
    module = tmp_path / "extras"
    (module / "probe").mkdir(parents=True)
    for name in ("go.mod", "go.sum", "probe/main.go"):
        (module / name).write_text(name)
    keys = {binaries.key(binaries.PROBE, "go1.26.8", tmp_path)}
    assert binaries.key(binaries.PROBE, "go1.26.8", tmp_path) in keys
    keys.add(binaries.key(binaries.PROBE, "go1.26.9", tmp_path))
    keys.add(binaries.key(binaries.HELM_COMMAND, "go1.26.8", tmp_path))
    (module / "probe/main.go").write_text("changed")
    keys.add(binaries.key(binaries.PROBE, "go1.26.8", tmp_path))
    assert len(keys) == 4


def test_kubernetes_reports_its_version(tmp_path: Path) -> None:
    flags = binaries.build_command(binaries.KUBE, tmp_path)[4]
    assert f"-X k8s.io/component-base/version.gitVersion={binaries.KUBERNETES}" in flags
    assert f"-X k8s.io/client-go/pkg/version.gitVersion={binaries.KUBERNETES}" in flags
    required = (binaries.MODULES / "kube/go.mod").read_text()
    assert f"k8s.io/kubernetes {binaries.KUBERNETES}" in required
    assert f"helm.sh/helm/v3 {binaries.HELM}" in (binaries.MODULES / "extras/go.mod").read_text()
