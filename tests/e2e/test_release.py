"""The release as a platform engineer handles it: upgrade it, remove it, install it again."""

from __future__ import annotations

from hack import release
from hack.release import NAMESPACE
from tests.objects import Objects, Team, pool_manifest
from tests.waiting import eventually

OURS = "app.kubernetes.io/part-of=fairway"
KINDS = (
    "deployments,statefulsets,services,pods,configmaps,secrets,serviceaccounts,roles,rolebindings,"
    "persistentvolumeclaims"
)


def test_an_upgrade_that_changes_nothing_restarts_nothing(objects: Objects, team: Team) -> None:
    team.run("before", "true")
    team.reaches("before", "Succeeded")
    before = pods(objects)
    release.install(objects.cluster)
    assert pods(objects) == before


def test_uninstall_leaves_the_kinds_and_nothing_that_runs(objects: Objects, team: Team, suffix: str) -> None:
    name = f"last-{suffix}"
    objects.apply(pool_manifest(name))
    objects.ready_pool(name)
    try:
        team.run("running", "sleep 4325", pool=name, timeout="1h")
        team.reaches("running", "Running")

        release.uninstall(objects.cluster)
        eventually(
            lambda: not remains(objects), what="nothing of ours to be left in the namespace", timeout=150
        )
        # The provisioner removes a volume a moment after its claim is gone.
        eventually(lambda: not objects.find("pv"), what="the volume of Redis to be gone")
        assert not objects.find("clusterroles,clusterrolebindings", "-l", OURS)
        # The kinds stay, and with them what users wrote: nobody's Jobs vanish with an uninstall.
        assert team.status("running")["phase"] == "Running"
        assert objects.get("jobpool", name)["spec"]["class"] == "short"
        assert "finalizers" not in objects.get("jobpool", name)["metadata"]
    finally:
        team.delete("running")
        release.install(objects.cluster)
    # The queue was removed with the release: the pools come back by themselves, and serve.
    objects.ready_pool(team.pool)
    team.run("after", "true")
    team.reaches("after", "Succeeded", timeout=120)
    objects.delete("jobpool", name)


def pods(objects: Objects) -> set[tuple[str, int]]:
    found = objects.find("pods", "-n", NAMESPACE, "-l", OURS)
    return {(pod["metadata"]["name"], pod["status"]["containerStatuses"][0]["restartCount"]) for pod in found}


def remains(objects: Objects) -> list[str]:
    """Names what is left in the release's namespace, except for what every namespace has."""
    everything = objects.find(KINDS, "-n", NAMESPACE)
    names = [f"{thing['kind']}/{thing['metadata']['name']}" for thing in everything]
    return [name for name in names if name not in ("ConfigMap/kube-root-ca.crt", "ServiceAccount/default")]
