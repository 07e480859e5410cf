"""Runs the demo from nothing to its summary."""

from __future__ import annotations

import sys

from hack import cluster, images, release
from hack.demo import scene, table


def main() -> int:
    """Sets everything up, runs the jobs, and says what to try next."""
    try:
        ready = cluster.up()
        print("demo: images and chart", flush=True)
        release.install(ready)
        print("demo: applying hack/demo/*.yaml: a pool, two tenants, forty jobs", flush=True)
        scene.set_up(ready)
        last = table.follow(ready)
    except (cluster.ClusterError, images.ImageError, scene.DemoError) as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndemo: interrupted; the cluster is still up (make cluster-down ends it)", file=sys.stderr)
        return 130
    print(scene.summary(last))
    return 0


if __name__ == "__main__":
    sys.exit(main())
