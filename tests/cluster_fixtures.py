"""Fixtures of the suites that run on the cluster: Fairway installed, a pool with workers, a team per test."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import pytest

from hack import release
from hack.cluster.fixture import cluster
from tests.objects import Objects, Team, pool_manifest, tenant_manifest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hack.cluster import Cluster

__all__ = ["cluster", "objects", "pool", "suffix", "team"]


@pytest.fixture(scope="session")
def objects(cluster: Cluster) -> Objects:
    """The cluster with the current chart installed."""
    release.install(cluster)
    return Objects(cluster)


@pytest.fixture(scope="session")
def suffix() -> str:
    """Makes this run's names unlike those of the run before, so that both fit on one cluster."""
    return secrets.token_hex(3)


@pytest.fixture(scope="session")
def pool(objects: Objects, suffix: str) -> Iterator[str]:
    """A pool of short jobs whose worker is up."""
    name = f"short-{suffix}"
    objects.apply(pool_manifest(name))
    objects.ready_pool(name)
    yield name
    objects.delete("jobpool", name)


@pytest.fixture
def team(objects: Objects, pool: str) -> Iterator[Team]:
    """A tenant with an empty namespace."""
    name = f"team-{secrets.token_hex(3)}"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    objects.apply(namespace, tenant_manifest(name, [name]))
    yield Team(objects, name, pool)
    objects.delete("tenant", name)
    objects.delete("namespace", name, None, "--wait=false")
