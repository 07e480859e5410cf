"""A real Kubernetes cluster in one command: by kind where Docker is, of local processes where it is not."""

from hack.cluster.errors import ClusterError
from hack.cluster.interface import Cluster
from hack.cluster.lifecycle import connect, down, up

__all__ = ["Cluster", "ClusterError", "connect", "down", "up"]
