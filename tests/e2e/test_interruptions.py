"""Pods come and go: no Job is lost, and none that succeeded runs again."""

from __future__ import annotations

import pytest

from hack.release import NAMESPACE
from tests.objects import Objects, Team, pool_manifest
from tests.waiting import eventually

JOBS = 12


def operator_pod(objects: Objects) -> str:
    pods = objects.find("pods", "-n", NAMESPACE, "-l", "app.kubernetes.io/component=operator")
    (name,) = [pod["metadata"]["name"] for pod in pods if "deletionTimestamp" not in pod["metadata"]]
    return str(name)


def phases(team: Team) -> list[str]:
    jobs = team.objects.find("fjob", "-n", team.name)
    return [job.get("status", {}).get("phase", "") for job in jobs]


def test_an_operator_deleted_in_the_middle_loses_nothing(objects: Objects, team: Team) -> None:
    for number in range(JOBS):
        team.run(f"job-{number}", "sleep 1")
    eventually(lambda: "Succeeded" in phases(team), what="the first Job to end")

    objects.delete("pod", operator_pod(objects), NAMESPACE, "--wait=false")
    team.run("during", "true")

    eventually(lambda: phases(team).count("Succeeded") == JOBS + 1, what="all Jobs to succeed", timeout=120)
    for job in objects.find("fjob", "-n", team.name):
        assert len(job["status"]["attempts"]) == 1, job["status"]


def test_a_job_deleted_while_no_operator_runs_is_cancelled_when_one_is_back(
    objects: Objects, team: Team
) -> None:
    team.run("orphan", "sleep 4323", timeout="1h")
    team.reaches("orphan", "Running")
    scale = ["scale", "deployment/fairway-operator", "-n", NAMESPACE]
    objects.cluster.kubectl(*scale, "--replicas=0")
    try:
        selector = ["-l", "app.kubernetes.io/component=operator"]
        eventually(
            lambda: not objects.find("pods", "-n", NAMESPACE, *selector), what="no operator", timeout=90
        )
        team.delete("orphan")
    finally:
        objects.cluster.kubectl(*scale, "--replicas=1")
    eventually(
        lambda: objects.get("jobpool", team.pool)["status"]["running"] == 0,
        what="the orphan to be cancelled",
        timeout=120,
    )


@pytest.fixture
def fragile(objects: Objects, team: Team, suffix: str) -> Team:
    """A team on a pool of its own whose workers may be killed; short leases, so that it is seen soon."""
    name = f"fragile-{suffix}"
    objects.apply(pool_manifest(name, liveness={"lease": "3s"}, workers={"concurrency": 1}))
    objects.ready_pool(name)
    return Team(objects, team.name, name)


def test_a_worker_killed_in_the_middle_costs_no_attempt(objects: Objects, fragile: Team) -> None:
    try:
        # The first run hangs about until it is killed; the second finds the attempt's number and ends.
        fragile.run("survivor", 'test "$FAIRWAY_ATTEMPT" -gt 1 || exec sleep 4324', timeout="10m")
        fragile.reaches("survivor", "Running")
        (pod,) = objects.pods_of(fragile.pool)
        objects.delete("pod", pod["metadata"]["name"], NAMESPACE, "--grace-period=0", "--force")

        status = fragile.reaches("survivor", "Succeeded", timeout=90)
        assert [(a["class"], a["counted"]) for a in status["attempts"]] == [("CRASH", False), ("OK", True)]
        assert status["attempts"][0]["worker"] != status["attempts"][1]["worker"]
    finally:
        objects.delete("jobpool", fragile.pool)


def test_a_worker_told_to_go_finishes_its_job_first(objects: Objects, fragile: Team) -> None:
    try:
        fragile.run("finisher", "sleep 4; echo done", timeout="10m")
        fragile.reaches("finisher", "Running")
        (pod,) = objects.pods_of(fragile.pool)
        objects.delete("pod", pod["metadata"]["name"], NAMESPACE, "--wait=false")

        status = fragile.reaches("finisher", "Succeeded", timeout=90)
        assert [a["class"] for a in status["attempts"]] == ["OK"]
    finally:
        objects.delete("jobpool", fragile.pool)


def test_a_deleted_pool_takes_its_workers_and_ends_its_jobs(
    objects: Objects, team: Team, suffix: str
) -> None:
    name = f"gone-{suffix}"
    objects.apply(pool_manifest(name, suspend=True))
    team.run("waiting", "true", pool=name)
    team.reaches("waiting", "Queued")
    objects.delete("jobpool", name)
    selector = ["-n", NAMESPACE, "-l", f"fairway.dev/pool={name}"]
    eventually(lambda: not objects.find("deployments", *selector), what="the pool's Deployment to be gone")
    assert name in team.reaches("waiting", "Cancelled")["message"]
