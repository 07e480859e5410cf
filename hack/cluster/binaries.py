"""Kubernetes and its helpers, compiled from pinned Go modules and cached by what went into them."""

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from hack.cluster.command import run, tail
from hack.cluster.errors import ClusterError
from hack.cluster.paths import cache_directory
from hack.cluster.progress import HEARTBEAT_SECONDS

MODULES = Path(__file__).parent / "gomod"
KUBERNETES = "v1.36.3"
HELM = "v3.21.4"
MINIMUM_GO = (1, 26)
NO_GO = (
    "Go 1.26 or later is needed to compile the cluster's binaries: install it from https://go.dev/dl "
    "and see that `go` is on your PATH."
)
Note = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Artifact:
    """A directory of binaries that are compiled together.

    Attributes:
        name: What it is called in the cache and in messages.
        module: The folder below ``gomod`` with its go.mod.
        packages: The Go packages to build; each gives a binary of its last path element.
        variables: What the linker sets (``package.name=value``).
        links: Further names of a binary that looks at the name it is called by.
    """

    name: str
    module: str
    packages: tuple[str, ...]
    variables: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()


def _version_variables() -> tuple[str, ...]:
    # Without these the server reports v0.0.0, and clients and charts that look at the version break.
    _, minor, _ = KUBERNETES.removeprefix("v").split(".")
    values = {
        "gitVersion": KUBERNETES,
        "gitMajor": "1",
        "gitMinor": minor,
        "gitTreeState": "clean",
        "gitCommit": "goproxy",
        "buildDate": "2026-01-01T00:00:00Z",
    }
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    return tuple(f"{package}.{name}={value}" for package in packages for name, value in values.items())


def _helm_variables() -> tuple[str, ...]:
    _, minor, _ = KUBERNETES.removeprefix("v").split(".")
    return (
        f"helm.sh/helm/v3/internal/version.version={HELM}",
        "helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1",
        f"helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor={minor}",
        "helm.sh/helm/v3/pkg/lint/rules.k8sVersionMajor=1",
        f"helm.sh/helm/v3/pkg/lint/rules.k8sVersionMinor={minor}",
    )


_COMMANDS = (
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "kubectl",
    "kubelet",
)
KUBE = Artifact(
    "kubernetes", "kube", (".",), _version_variables(), tuple((command, "kube") for command in _COMMANDS)
)
HELM_COMMAND = Artifact("helm", "extras", ("helm.sh/helm/v3/cmd/helm",), _helm_variables())
ADDONS = Artifact(
    "addons",
    "extras",
    (
        "github.com/coredns/coredns",
        "github.com/rancher/local-path-provisioner",
        "./pause",
        "./volume",
        "./forward",
    ),
    (),
)
PROBE = Artifact("probe", "extras", ("./probe",), ())


def go_version() -> str:
    """Give the version of the Go compiler; complain when there is none or it is too old."""
    if shutil.which("go") is None:
        raise ClusterError(NO_GO)
    version = run(["go", "env", "GOVERSION"], env=_environment()).stdout.strip()
    found = re.match(r"go(\d+)\.(\d+)", version)
    if found is not None and (int(found[1]), int(found[2])) < MINIMUM_GO:
        raise ClusterError(f"{NO_GO} (Yours is {version}.)")
    return version


def _environment() -> dict[str, str]:
    flags = {
        "CGO_ENABLED": "0",
        "GOTOOLCHAIN": "local",
        "GOFLAGS": "-mod=readonly -buildvcs=false",
        "GOWORK": "off",
    }
    return {**os.environ, **flags}


def build_command(artifact: Artifact, out: Path) -> list[str]:
    """Give the command that compiles an artifact into a directory."""
    linker = " ".join(["-s", "-w", *(f"-X {variable}" for variable in artifact.variables)])
    return ["go", "build", "-trimpath", "-ldflags", linker, "-o", f"{out}/", *artifact.packages]


def key(artifact: Artifact, version: str, modules: Path = MODULES) -> str:
    """Hash everything that decides what the binaries are."""
    digest = hashlib.sha256()
    digest.update(repr((artifact, version, os.uname().machine)).encode())
    module = modules / artifact.module
    sources = [module / "go.mod", module / "go.sum", *sorted(module.rglob("*.go"))]
    for source in sources:
        digest.update(f"{source.relative_to(module)}\n".encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def ensure(artifact: Artifact, note: Note) -> Path:
    """Give the directory of an artifact's binaries, compiled now if they are not cached."""
    target = cache_directory() / f"{artifact.name}-{key(artifact, go_version())}"
    if target.exists():
        return target
    with cache_lock(artifact.name, note):
        if not target.exists():
            _build(artifact, target, note)
    return target


@contextmanager
def cache_lock(name: str, note: Note) -> Iterator[None]:
    """Hold the cache's lock for one name, so that no two checkouts make the same thing at once."""
    cache_directory().mkdir(parents=True, exist_ok=True)
    with (cache_directory() / f"{name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note(f"another checkout is making {name}: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def new_directory(target: Path) -> Iterator[Path]:
    """Give a temporary directory that becomes ``target`` if all goes well, and vanishes if not."""
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f"{target.name}.", suffix=".new", dir=target.parent))
    try:
        yield draft
        draft.chmod(0o755)
        draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _build(artifact: Artifact, target: Path, note: Note) -> None:
    note(f"compiling {artifact.name}: once per machine, several minutes at first")
    with new_directory(target) as draft:
        _compile(artifact, draft, note)
        for link, binary in artifact.links:
            (draft / link).symlink_to(binary)


def _compile(artifact: Artifact, draft: Path, note: Note) -> None:
    command = build_command(artifact, draft)
    with tempfile.TemporaryFile("w+") as log:
        with subprocess.Popen(
            command,
            cwd=MODULES / artifact.module,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as process:
            _wait_with_heartbeat(process, artifact.name, note)
        log.seek(0)
        if process.returncode != 0:
            raise ClusterError(f"compiling {artifact.name} failed:\n{tail(log.read())}")


def _wait_with_heartbeat(process: subprocess.Popen[bytes], name: str, note: Note) -> None:
    begun = time.monotonic()
    while True:
        try:
            process.wait(HEARTBEAT_SECONDS)
        except subprocess.TimeoutExpired:
            note(f"still compiling {name}, {time.monotonic() - begun:.0f} s so far")
        except BaseException:
            process.terminate()
            raise
        else:
            return
