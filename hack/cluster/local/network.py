"""The network of a local cluster: a bridge inside the control plane's namespace, with the nodes on it."""

from collections.abc import Sequence

from hack.cluster.command import run
from hack.cluster.local.layout import BRIDGE, NODE_PREFIX, NODES, PLANE_IP, SERVICE_CIDR, Node


def inside(pid: int, argv: Sequence[str]) -> list[str]:
    """Give a command that runs in the network namespace of a process."""
    return ["nsenter", "--net", f"--target={pid}", "--", *argv]


def plane_commands() -> list[list[str]]:
    """List what lays the plane's side, to be run in its namespace."""
    return [
        ["ip", "link", "set", "lo", "up"],
        ["ip", "link", "add", BRIDGE, "type", "bridge"],
        ["ip", "addr", "add", f"{PLANE_IP}/{NODE_PREFIX}", "dev", BRIDGE],
        ["ip", "link", "set", BRIDGE, "up"],
    ]


def port_commands(node: Node, node_pid: int) -> list[list[str]]:
    """List what plugs a node into the bridge, to be run in the plane's namespace."""
    return [
        ["ip", "link", "add", node.port, "type", "veth", "peer", "name", "eth0", "netns", str(node_pid)],
        ["ip", "link", "set", node.port, "master", BRIDGE, "up"],
        # So the API server reaches the node's pods: webhooks.
        ["ip", "route", "replace", node.pods, "via", node.ip],
    ]


def node_commands(node: Node) -> list[list[str]]:
    """List what lays the node's side, run in its namespace. Without a default route nothing gets out."""
    others = [["ip", "route", "add", other.pods, "via", other.ip] for other in NODES if other != node]
    return [
        ["ip", "link", "set", "lo", "up"],
        ["ip", "addr", "add", f"{node.ip}/{NODE_PREFIX}", "dev", "eth0"],
        ["ip", "link", "set", "eth0", "up"],
        *others,
        # It only has to exist: kube-proxy rewrites the destination.
        ["ip", "route", "add", SERVICE_CIDR, "via", PLANE_IP],
        ["sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"],
    ]


def lay_plane(plane_pid: int) -> None:
    """Make the bridge."""
    for command in plane_commands():
        run(inside(plane_pid, command))


def lay_node(node: Node, node_pid: int, plane_pid: int) -> None:
    """Join a node to the bridge."""
    # A port of the node's previous life goes with its namespace, but the kernel takes its time.
    run(inside(plane_pid, ["ip", "link", "del", node.port]), check=False)
    for command in port_commands(node, node_pid):
        run(inside(plane_pid, command))
    for command in node_commands(node):
        run(inside(node_pid, command))


def host_tables() -> list[str]:
    """Name the nftables tables of the host."""
    return sorted(run(["nft", "list", "tables"], check=False).stdout.splitlines())
