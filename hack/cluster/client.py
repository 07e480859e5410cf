"""kubectl and helm against one cluster: what all ways of having a cluster share."""

import os
import re
import subprocess
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from subprocess import CompletedProcess
from typing import IO

from hack.cluster.archive import images_in
from hack.cluster.command import run
from hack.cluster.errors import ClusterError
from hack.cluster.paths import Paths

_FORWARDING = re.compile(r"Forwarding from 127\.0\.0\.1:(\d+) ->")
_FORWARD_SECONDS = 30.0
_LOAD_SECONDS = 30.0


def client_environment(paths: Paths) -> dict[str, str]:
    """Give an environment in which kubectl and helm know nothing of the caller's clusters and charts."""
    inherited = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
    cache = paths.home / "cache"
    return {
        **inherited,
        "KUBECACHEDIR": str(cache / "kube"),
        "HELM_CACHE_HOME": str(cache / "helm"),
        "HELM_CONFIG_HOME": str(cache / "helm-config"),
        "HELM_DATA_HOME": str(cache / "helm-data"),
    }


class ClientCluster(ABC):
    """A cluster reached through ``.cluster/kubeconfig`` by the commands in ``.cluster/bin``."""

    def __init__(self, paths: Paths, name: str) -> None:
        self.paths = paths
        self.name = name

    @property
    def kubeconfig(self) -> Path:
        """The file that leads to it, and to it only."""
        return self.paths.kubeconfig

    def kubectl(
        self,
        *args: str,
        input: str | None = None,  # noqa: A002 # named as subprocess.run names it
        check: bool = True,
        timeout: float = 120,
    ) -> CompletedProcess[str]:
        """Run kubectl against this cluster; with ``check`` a failure raises what kubectl said."""
        return self._client("kubectl", args, input, check=check, timeout=timeout)

    def helm(
        self,
        *args: str,
        input: str | None = None,  # noqa: A002 # named as subprocess.run names it
        check: bool = True,
        timeout: float = 300,
    ) -> CompletedProcess[str]:
        """Run helm against this cluster; with ``check`` a failure raises what helm said."""
        return self._client("helm", args, input, check=check, timeout=timeout)

    def nodes(self) -> list[str]:
        """Name the nodes, stopped ones included."""
        return self.kubectl("get", "nodes", "-o", "jsonpath={.items[*].metadata.name}").stdout.split()

    def answers(self) -> bool:
        """Tell whether the API server answers."""
        try:
            return self.kubectl("get", "--raw=/readyz", check=False, timeout=20).returncode == 0
        except ClusterError:
            return False

    def stopped_nodes(self) -> list[str]:
        """Name the nodes that were stopped and could be started."""
        return []

    @contextmanager
    def port_forward(self, target: str, port: int, namespace: str = "default") -> Iterator[int]:
        """Forward a free local port to ``target`` (``svc/x``, ``pod/y``) while the context lasts."""
        command = [*self.client_command("kubectl"), f"--namespace={namespace}", "port-forward"]
        command += ["--address=127.0.0.1", target, f":{port}"]
        with subprocess.Popen(
            command,
            env=client_environment(self.paths),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            try:
                yield _forwarded_port(process, f"{namespace}/{target}")
            finally:
                process.terminate()

    def load_archives(self, archives: Sequence[Path]) -> None:
        """Put images (docker archives) into every node that runs, and see that the nodes have them."""
        self._load(archives)
        # The kubelet's side of containerd hears of an import a moment later; a pod made in between would be
        # given the image that had the name before.
        deadline = time.monotonic() + _LOAD_SECONDS
        for reference, image_id in [image for archive in archives for image in images_in(archive).items()]:
            while not self.has_image(reference, image_id):
                if time.monotonic() > deadline:
                    raise ClusterError(f"{reference} was loaded, but not every node has {image_id}.")
                time.sleep(0.1)

    @abstractmethod
    def _load(self, archives: Sequence[Path]) -> None:
        """Import the archives into every node that runs."""

    @abstractmethod
    def has_image(self, reference: str, image_id: str) -> bool:
        """Tell whether every running node has the image of this id under this full name."""

    @abstractmethod
    def stop_node(self, name: str) -> None:
        """Pull the plug of a node: everything on it dies at once, its Node object stays."""

    @abstractmethod
    def start_node(self, name: str) -> None:
        """Boot a stopped node again and wait until it is Ready."""

    def client_command(self, command: str) -> list[str]:
        """Give kubectl or helm with this cluster's kubeconfig, whatever the environment says."""
        return [str(self.paths.bin / command), f"--kubeconfig={self.kubeconfig}"]

    def _client(
        self, command: str, args: Sequence[str], text: str | None, *, check: bool, timeout: float
    ) -> CompletedProcess[str]:
        argv = [*self.client_command(command), *args]
        return run(argv, input=text, check=check, timeout=timeout, env=client_environment(self.paths))


def _forwarded_port(process: subprocess.Popen[str], target: str) -> int:
    lines: Queue[str | None] = Queue()
    if process.stdout is None:
        raise AssertionError
    # Read on a thread to the very end: a full pipe would stop the forwarding.
    threading.Thread(target=_pump, args=(process.stdout, lines), daemon=True).start()
    said: list[str] = []
    while True:
        try:
            line = lines.get(timeout=_FORWARD_SECONDS)
        except Empty:
            raise ClusterError(
                f"kubectl port-forward to {target} said nothing for {_FORWARD_SECONDS:g} s."
            ) from None
        if line is None:
            raise ClusterError(f"kubectl port-forward to {target} ended: {''.join(said).strip()}")
        said.append(line)
        found = _FORWARDING.search(line)
        if found is not None:
            return int(found[1])


def _pump(source: IO[str], lines: "Queue[str | None]") -> None:
    try:
        for line in source:
            lines.put(line)
    except ValueError:
        pass  # closed under us at the end of the forwarding
    lines.put(None)


def image_targets(listing: str) -> dict[str, str]:
    """Read ``ctr images ls``: what each name points to."""
    rows = [line.split() for line in listing.splitlines()[1:]]
    return {row[0]: row[2] for row in rows if len(row) > 2}  # noqa: PLR2004 # name, type, digest


def forget_command(archive: Path) -> list[str]:
    """Give the words with which ctr forgets the names that an archive is about to bring.

    The kubelet's side of containerd only records the id of an image whose name is new to it: a name that an
    import points to another image would keep the old image's id. Pods that run on the old one keep it.
    """
    return ["images", "rm", "--sync", *images_in(archive)]


def listing_has(listing: str, reference: str, image_id: str) -> bool:
    """Tell from ``ctr images ls`` whether a name points to the image of an id.

    The kubelet's side of containerd names every image by its id as well: both names must lead to one digest.
    """
    targets = image_targets(listing)
    digest = image_id if image_id.startswith("sha256:") else f"sha256:{image_id}"
    return reference in targets and targets[reference] == targets.get(digest)
