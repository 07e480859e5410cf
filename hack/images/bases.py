"""Base images without a registry: made by mmdebstrap from Debian packages, once on a machine.

The packages come from wherever the machine's own apt gets them, so nothing here names a host.
"""

import hashlib
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from hack.cluster.command import run
from hack.cluster.packages import SYSTEM_PATH
from hack.images.engine import Engine
from hack.images.errors import ImageError

_SOURCES = tuple(
    Path("/etc/apt") / name
    for name in ("sources.list.d/debian.sources", "sources.list.d/ubuntu.sources", "sources.list")
)
_MERGED_USR = "/usr/share/mmdebstrap/hooks/merged-usr"  # else the package usrmerge comes, with 60 MB of Perl
_LEFT_OUT = (
    "/usr/share/man/*",
    "/usr/share/doc/*",
    "/usr/share/locale/*",
    "/usr/share/info/*",
    "/usr/lib/*/gconv/*",
)
_FORGET_SOURCES = 'rm -rf "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/* "$1"/etc/apt/auth.conf*'
_PYTHON = ("python3", "ca-certificates", "netbase", "tzdata")
_SECONDS = 900


@dataclass(frozen=True, slots=True)
class Base:
    """A base image: the essential packages of a Debian release (neither apt nor documents), and some more."""

    name: str
    packages: tuple[str, ...]

    def command(self, suite: str, sources: Path, target: Path) -> list[str]:
        """Returns the command that makes its root file system."""
        command = ["mmdebstrap", "--quiet", "--variant=essential", f"--hook-dir={_MERGED_USR}"]
        command += [f"--include={','.join(('usr-is-merged', *self.packages))}"]
        command += [f"--dpkgopt=path-exclude={pattern}" for pattern in _LEFT_OUT]
        return [*command, f"--customize-hook={_FORGET_SOURCES}", suite, str(target), str(sources)]

    def reference(self, suite: str) -> str:
        """Returns the image's name, which says what it was made of."""
        recipe = "\0".join((*self.command(suite, Path("sources"), Path("target")), SYSTEM_PATH))
        return f"localhost/fairway-base:{self.name}-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"

    def make(self, engine: Engine, suite: str, sources: Path) -> None:
        """Makes the image."""
        with tempfile.TemporaryDirectory(prefix="fairway-base-") as folder:
            target = Path(folder) / "root.tar"
            run(self.command(suite, sources, target), timeout=_SECONDS)
            engine.import_root(target, self.reference(suite), SYSTEM_PATH)


BASES = (
    Base("runtime", _PYTHON),
    Base("build", (*_PYTHON, "python3-venv")),
    Base("redis", ("redis-server",)),
)


def machine_suite(release: Path = Path("/etc/os-release")) -> str:
    """Returns the code name of this machine's Debian release: the one its apt sources are of."""
    for line in release.read_text().splitlines() if release.exists() else ():
        name, _, value = line.partition("=")
        if name == "VERSION_CODENAME" and value:
            return value.strip('"')
    raise ImageError(
        "Without Docker, images are made of Debian packages, which this machine lacks: start Docker."
    )


def machine_sources(candidates: Sequence[Path] = _SOURCES) -> Path:
    """Returns the file that tells apt where this machine's release comes from."""
    for path in candidates:
        if path.exists() and any(_is_entry(line) for line in path.read_text().splitlines()):
            return path
    raise ImageError(f"None of {', '.join(map(str, candidates))} says where Debian packages come from.")


def _is_entry(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")
