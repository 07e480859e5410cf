"""The plug is pulled: of a node, of Redis. Acknowledged jobs survive both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hack.release import NAMESPACE
from tests.objects import Objects, Team, condition, pool_manifest
from tests.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

import pytest

JOBS = 20
REDIS_POD = "fairway-redis-0"


@pytest.fixture
def doomed_node(objects: Objects) -> Iterator[str]:
    """A node without Redis, whose volume cannot move. It is there again when the test is over."""
    home = objects.get("pod", REDIS_POD, NAMESPACE)["spec"]["nodeName"]
    node = next(name for name in objects.cluster.nodes() if name != home)
    yield node
    objects.cluster.start_node(node)

    def ready() -> bool:
        return condition(objects.get("node", node), "Ready").get("status") == "True"

    eventually(ready, what=f"node {node} to be back", timeout=120)


def test_a_job_on_a_node_that_dies_runs_again_elsewhere(
    objects: Objects, team: Team, suffix: str, doomed_node: str
) -> None:
    name = f"doomed-{suffix}"
    there = {"key": "kubernetes.io/hostname", "operator": "In", "values": [doomed_node]}
    preference = {"weight": 100, "preference": {"matchExpressions": [there]}}
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}}
    workers = {"concurrency": 1, "template": {"spec": {"affinity": affinity}}}
    objects.apply(pool_manifest(name, liveness={"lease": "3s"}, workers=workers))
    try:
        objects.ready_pool(name)
        team.run("moved", 'test "$FAIRWAY_ATTEMPT" -gt 1 || exec sleep 4326', pool=name, timeout="10m")
        team.reaches("moved", "Running")

        objects.cluster.stop_node(doomed_node)

        status = team.reaches("moved", "Succeeded", timeout=240)
        first, second = status["attempts"]
        assert (first["class"], first["counted"], first["node"]) == ("CRASH", False, doomed_node)
        assert second["class"] == "OK"
        assert second["node"] != doomed_node
    finally:
        objects.delete("jobpool", name)


def test_redis_killed_in_the_middle_loses_no_job(objects: Objects, team: Team) -> None:
    for number in range(JOBS):
        team.run(f"job-{number}", "sleep 0.5")

    def phases() -> list[str]:
        return [job.get("status", {}).get("phase", "") for job in objects.find("fjob", "-n", team.name)]

    eventually(lambda: "Succeeded" in phases(), what="the first Job to end")
    objects.delete("pod", REDIS_POD, NAMESPACE, "--grace-period=0", "--force")
    team.run("during", "true")
    eventually(lambda: phases().count("Succeeded") == JOBS + 1, what="all Jobs to succeed", timeout=180)
