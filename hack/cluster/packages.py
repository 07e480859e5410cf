"""Debian packages that a local cluster stands on: found, or installed where that can be done."""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hack.cluster import command
from hack.cluster.command import run
from hack.cluster.errors import ClusterError

# What is looked for, and the Debian package that has it.
COMMANDS: Mapping[str, str] = {
    "containerd": "containerd",
    "ctr": "containerd",
    "runc": "runc",
    "iptables": "iptables",
    "nft": "nftables",
    "ip": "iproute2",
    "unshare": "util-linux",
    "nsenter": "util-linux",
    "mount": "mount",
    "openssl": "openssl",
}
CNI_PACKAGE = "containernetworking-plugins"
CNI_DIRECTORIES = (Path("/usr/lib/cni"), Path("/opt/cni/bin"))
CNI_PLUGINS = ("ptp", "host-local", "portmap", "loopback")

SYSTEM_PATH = command.SYSTEM_PATH


def which(name: str) -> str | None:
    """Find a command where the system keeps them."""
    return shutil.which(name, path=SYSTEM_PATH)


def cni_directory() -> Path | None:
    """Find the directory that has all CNI plugins we use."""
    for directory in CNI_DIRECTORIES:
        if all((directory / plugin).exists() for plugin in CNI_PLUGINS):
            return directory
    return None


def missing() -> list[str]:
    """Name the packages that have to be installed."""
    packages = {package for name, package in COMMANDS.items() if which(name) is None}
    if cni_directory() is None:
        packages.add(CNI_PACKAGE)
    return sorted(packages)


def ensure(note: Callable[[str], None]) -> None:
    """Install what is missing with apt-get; elsewhere say what to install."""
    packages = missing()
    if not packages:
        return
    install(packages, note)
    still = missing()
    if still:
        raise ClusterError(
            f"{', '.join(still)} did not bring what was expected; install it by hand and try again."
        )


def install(packages: Sequence[str], note: Callable[[str], None]) -> None:
    """Install packages with apt-get where this user may; else say what to install."""
    if which("apt-get") is None or os.geteuid() != 0:
        raise ClusterError(f"Install {', '.join(packages)} (these are Debian's names) and try again.")
    note(f"installing {' '.join(packages)}")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    run(["apt-get", "update", "-q"], timeout=300, env=env)
    run(["apt-get", "install", "-q", "-y", "--no-install-recommends", *packages], timeout=900, env=env)
