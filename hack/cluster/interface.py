"""What every way of having a cluster offers to the tests and the commands."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Protocol


class Cluster(Protocol):
    """A running cluster; kind, local and existing ones look the same through this."""

    @property
    def name(self) -> str:
        """What people call it in messages."""

    @property
    def kubeconfig(self) -> Path:
        """The file that leads to it, and to it only."""

    def kubectl(
        self,
        *args: str,
        input: str | None = None,  # noqa: A002 # named as subprocess.run names it
        check: bool = True,
        timeout: float = 120,
    ) -> CompletedProcess[str]:
        """Run kubectl against this cluster; with ``check`` a failure raises what kubectl said."""

    def helm(
        self,
        *args: str,
        input: str | None = None,  # noqa: A002 # named as subprocess.run names it
        check: bool = True,
        timeout: float = 300,
    ) -> CompletedProcess[str]:
        """Run helm against this cluster; with ``check`` a failure raises what helm said."""

    def load_archives(self, archives: Sequence[Path]) -> None:
        """Put images (docker archives) into every node that runs."""

    def has_image(self, reference: str, image_id: str) -> bool:
        """Tell whether every running node has the image of this id under this full name."""

    def port_forward(self, target: str, port: int, namespace: str = "default") -> AbstractContextManager[int]:
        """Forward a free local port to ``target`` (``svc/x``, ``pod/y``) while the context lasts."""

    def nodes(self) -> list[str]:
        """Name the nodes, stopped ones included."""

    def stop_node(self, name: str) -> None:
        """Pull the plug of a node: everything on it dies at once, its Node object stays."""

    def start_node(self, name: str) -> None:
        """Boot a stopped node again and wait until it is Ready."""
