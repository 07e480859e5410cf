"""Where a checkout's cluster keeps its files, and where binaries are cached for all checkouts."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Paths:
    """The files of one cluster, all below ``<checkout>/.cluster``."""

    home: Path

    @classmethod
    def of_checkout(cls, root: Path = REPOSITORY) -> "Paths":
        """Give the paths of the checkout at ``root``."""
        return cls(root.resolve() / ".cluster")

    @property
    def id(self) -> str:
        """A short name for this checkout, so that clusters of several checkouts never meet."""
        return hashlib.sha256(str(self.home).encode()).hexdigest()[:8]

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.home / "kubeconfig"

    @property
    def state(self) -> Path:
        """The record of what runs."""
        return self.home / "state.json"

    @property
    def lock(self) -> Path:
        """Held while a command changes the cluster."""
        return self.home / "lock"

    @property
    def logs(self) -> Path:
        """One log file for each process."""
        return self.home / "logs"

    @property
    def bin(self) -> Path:
        """Links to kubectl and helm, for people's PATH."""
        return self.home / "bin"

    @property
    def pki(self) -> Path:
        """Keys, certificates and the kubeconfigs of the components."""
        return self.home / "pki"

    @property
    def plane(self) -> Path:
        """Files of the control plane."""
        return self.home / "plane"

    def node(self, name: str) -> Path:
        """Files of one node: its disk, so to say."""
        return self.home / "nodes" / name


def cache_directory() -> Path:
    """Give the directory for what is built once per machine and user."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "fairway" / "cluster"
