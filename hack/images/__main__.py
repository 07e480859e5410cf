"""`python -m hack.images [build | load]`: builds the images, loads them into the running cluster, or both."""

import argparse
import sys

from hack import cluster, images
from hack.cluster.errors import ClusterError
from hack.images.engine import choose


def main() -> int:
    """Does what the command line asks and turns a failure into its sentence."""
    parser = argparse.ArgumentParser(prog="python -m hack.images", description=__doc__)
    parser.add_argument("what", nargs="?", choices=["build", "load"], help="only this (default: both)")
    what = parser.parse_args().what
    try:
        if what == "build":
            images.build()
        elif what == "load":
            images.load(choose(print), cluster.connect())
        else:
            images.build_and_load()
    except ClusterError as error:
        print(f"images: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
