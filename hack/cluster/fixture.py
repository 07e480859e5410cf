"""The pytest fixture ``cluster``: imported by tests/conftest.py."""

import pytest

from hack.cluster.interface import Cluster
from hack.cluster.lifecycle import up


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    """Give the cluster of this checkout, started if need be; it stays up for the next run."""
    return up()
