"""Builds the development images and loads them into the cluster, as far as something changed."""

from hack import cluster
from hack.images.building import build
from hack.images.errors import ImageError
from hack.images.loading import load, revisions

__all__ = ["ImageError", "build", "build_and_load", "load", "revisions"]


def build_and_load() -> dict[str, str]:
    """Builds what changed, loads what the running cluster lacks, and returns each image's revision."""
    engine = build()
    load(engine, cluster.connect())
    return revisions(engine)
