"""The command line: ``python -m hack.cluster up|down|status|load|stop-node|start-node``."""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from hack.cluster.errors import ClusterError
from hack.cluster.lifecycle import changing, connect, down, recorded, up
from hack.cluster.paths import Paths


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    top = argparse.ArgumentParser(prog="python -m hack.cluster", description="A cluster for this checkout.")
    commands = top.add_subparsers(required=True, metavar="command")
    commands.add_parser("up", help="start it, if it is not up").set_defaults(act=_up)
    commands.add_parser("down", help="take it down and leave nothing").set_defaults(act=_down)
    commands.add_parser("status", help="say whether it is up, and its nodes").set_defaults(act=_status)
    load = commands.add_parser("load", help="put images into its nodes")
    load.add_argument(
        "archives", nargs="+", type=Path, metavar="archive", help="a docker archive (docker save)"
    )
    load.set_defaults(act=_load)
    stop = commands.add_parser("stop-node", help="pull the plug of a node")
    stop.add_argument("node", help="its name, or its number in a local cluster")
    stop.set_defaults(act=_stop_node)
    start = commands.add_parser("start-node", help="boot a stopped node again")
    start.add_argument("node", help="its name, or its number in a local cluster")
    start.set_defaults(act=_start_node)
    return top


def main(argv: Sequence[str]) -> int:
    """Run one command; what a person can act on is said in a sentence, without a traceback."""
    options = parser().parse_args(argv)
    # Asked to end in the middle of a start, it takes back what it has begun.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        result: int = options.act(options)
    except ClusterError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Interrupted.", file=sys.stderr)
        return 130
    return result


def _up(_options: argparse.Namespace) -> int:
    cluster = up()
    binaries = cluster.kubeconfig.parent / "bin"
    print(f"export KUBECONFIG={cluster.kubeconfig} PATH={binaries}:$PATH")
    return 0


def _down(_options: argparse.Namespace) -> int:
    down()
    return 0


def _status(_options: argparse.Namespace) -> int:
    cluster = recorded(Paths.of_checkout())
    if cluster is None:
        print("No cluster is up.")
        return 1
    if not cluster.answers():
        print(f"The cluster {cluster.name} was started, but it does not answer.")
        return 1
    stopped = cluster.stopped_nodes()
    print(f"The cluster {cluster.name} is up" + (f", without {', '.join(stopped)}." if stopped else "."))
    print(cluster.kubectl("get", "nodes", "-o", "wide").stdout, end="")
    return 0


def _load(options: argparse.Namespace) -> int:
    connect().load_archives(options.archives)
    return 0


def _stop_node(options: argparse.Namespace) -> int:
    with changing(Paths.of_checkout()):
        connect().stop_node(options.node)
    return 0


def _start_node(options: argparse.Namespace) -> int:
    with changing(Paths.of_checkout()):
        connect().start_node(options.node)
    return 0
