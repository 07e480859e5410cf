"""A cluster that somebody else runs, used only when ``FAIRWAY_CLUSTER=existing`` asks for it."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from hack.cluster.client import ClientCluster
from hack.cluster.command import run
from hack.cluster.errors import ClusterError
from hack.cluster.local.pki import write_private
from hack.cluster.paths import Paths
from hack.cluster.progress import Progress
from hack.cluster.state import State, Way

STEPS = 1


class ExistingCluster(ClientCluster):
    """Somebody else's: its nodes and their images are not ours to touch."""

    def _load(self, archives: Sequence[Path]) -> None:
        names = ", ".join(archive.name for archive in archives)
        raise ClusterError(
            f"{names} cannot be loaded into an existing cluster: push the images where it pulls from."
        )

    def has_image(self, reference: str, image_id: str) -> bool:
        """Take its word for it: an existing cluster pulls what it lacks."""
        del reference, image_id
        return True

    def stop_node(self, name: str) -> None:
        """Refuse."""
        raise ClusterError(f"{name} is not stopped: the nodes of an existing cluster are not ours.")

    def start_node(self, name: str) -> None:
        """Refuse."""
        raise ClusterError(f"{name} is not started: the nodes of an existing cluster are not ours.")


def check_possible(paths: Paths) -> None:
    """Refuse unless the caller names a cluster, and one that is not this checkout's own."""
    files = [Path(part).resolve() for part in os.environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    if not files or paths.kubeconfig in files:
        raise ClusterError("Set KUBECONFIG to the kubeconfig of the existing cluster that is to be used.")


def connect(paths: Paths, progress: Progress) -> ExistingCluster:
    """Copy the current context of the caller's kubeconfig, nothing else of it, and see that it answers."""
    with progress.step("the current context of your kubeconfig"):
        for command in ("kubectl", "helm"):
            link_command(paths, command)
        view = run(
            [str(paths.bin / "kubectl"), "config", "view", "--minify", "--flatten"], env=dict(os.environ)
        )
        write_private(paths.kubeconfig, view.stdout)
        name = run(
            [str(paths.bin / "kubectl"), "config", "current-context"], env=dict(os.environ)
        ).stdout.strip()
        cluster = ExistingCluster(paths, name)
        if not cluster.answers():
            raise ClusterError(f"The cluster of the context {name} does not answer.")
        State(Way.EXISTING, name).save(paths.state)
    return cluster


def link_command(paths: Paths, command: str) -> None:
    """Link a command of the caller's PATH into ``.cluster/bin``."""
    # .cluster/bin may itself be on the PATH.
    elsewhere = os.pathsep.join(
        part for part in os.environ.get("PATH", "").split(os.pathsep) if Path(part) != paths.bin
    )
    found = shutil.which(command, path=elsewhere)
    if found is None:
        raise ClusterError(f"Install {command} and see that it is on your PATH.")
    paths.bin.mkdir(parents=True, exist_ok=True)
    (paths.bin / command).unlink(missing_ok=True)
    (paths.bin / command).symlink_to(found)
