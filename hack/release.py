"""Installs the chart into a development cluster: the one way that the demo and the tests both use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hack import images

if TYPE_CHECKING:
    from hack.cluster import Cluster

ROOT = Path(__file__).resolve().parents[1]
CHART = ROOT / "charts" / "fairway"
VALUES = ROOT / "hack" / "values-dev.yaml"
NAME = "fairway"
NAMESPACE = "fairway-system"
TIMEOUT_SECONDS = 180
# The tag is always `dev`: only the revision tells an upgrade that an image changed.
REVISION_VALUES = {
    "fairway": "image.revision",
    "fairway-worker": "workers.image.revision",
    "fairway-redis": "redis.image.revision",
}


def install(cluster: Cluster) -> None:
    """Builds and loads what changed, installs or upgrades the release, and waits until it is ready."""
    revisions = images.build_and_load()
    chosen = [f"{value}={revisions[name]}" for name, value in REVISION_VALUES.items() if name in revisions]
    where = ["--namespace", NAMESPACE, "--create-namespace", "--values", str(VALUES)]
    # CRDs that were applied by hand while trying things out are taken over by the release.
    how = ["--take-ownership", "--wait", "--timeout", f"{TIMEOUT_SECONDS}s"]
    settings = [word for setting in chosen for word in ("--set-string", setting)]
    cluster.helm(
        "upgrade", "--install", NAME, str(CHART), *where, *settings, *how, timeout=TIMEOUT_SECONDS + 30
    )


def uninstall(cluster: Cluster) -> None:
    """Removes the release; what it leaves behind is the chart's business."""
    where = ["--namespace", NAMESPACE, "--ignore-not-found"]
    cluster.helm("uninstall", NAME, *where, "--wait", timeout=TIMEOUT_SECONDS)
