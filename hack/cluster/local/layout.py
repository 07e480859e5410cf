"""Names and addresses of a local cluster. They exist inside its own namespaces only, so they can be fixed."""

from dataclasses import dataclass

PLANE = "plane"
BRIDGE = "fairway0"
PLANE_IP = "10.200.0.1"
NODE_PREFIX = 24
API_PORT = 6443
API_URL = f"https://{PLANE_IP}:{API_PORT}"
SERVICE_CIDR = "10.96.0.0/16"
SERVICE_IP = "10.96.0.1"
DNS_IP = "10.96.0.10"
POD_CIDR = "10.244.0.0/16"
CONTAINERD_SOCKET = "/run/containerd/containerd.sock"
PAUSE_IMAGE = "localhost/fairway-cluster/pause:1"
COREDNS_IMAGE = "localhost/fairway-cluster/coredns:1"
VOLUME_IMAGE = "localhost/fairway-cluster/volume:1"
STORAGE_NAMESPACE = "local-path-storage"
VOLUME_DIRECTORY = "/var/lib/kubelet/local-volumes"


@dataclass(frozen=True, slots=True)
class Node:
    """One node: everything about it follows from its number."""

    number: int

    @property
    def name(self) -> str:
        """The name of the machine and of the Node object."""
        return f"fairway-node{self.number}"

    @property
    def ip(self) -> str:
        """Its address on the bridge."""
        return f"10.200.0.{10 + self.number}"

    @property
    def pods(self) -> str:
        """The addresses of its pods."""
        return f"10.244.{self.number}.0/24"

    @property
    def port(self) -> str:
        """The name of its port on the bridge, in the plane's network namespace."""
        return f"node{self.number}"


NODES = (Node(1), Node(2))


def node_named(name: str) -> Node:
    """Find a node by its name or its number."""
    for node in NODES:
        if name in {node.name, str(node.number)}:
            return node
    raise LookupError(name)
