"""Conditions, times, and why workers are not there."""

from typing import Any

from fairway.kube.errors import KubeError, KubeUnavailable
from fairway.kube.objects import (
    Condition,
    deployment_trouble,
    merge_conditions,
    parse_timestamp,
    shorten,
    timestamp,
    version_of,
    whole_seconds,
)

NOW = 1_800_000_000_123


def test_times_are_read_as_they_are_written() -> None:
    assert timestamp(NOW) == "2027-01-15T08:00:00.123Z"
    assert whole_seconds(NOW) == "2027-01-15T08:00:00Z"
    assert parse_timestamp(timestamp(NOW)) == NOW
    assert parse_timestamp("2027-01-15T08:00:00Z") == NOW - 123


def test_a_condition_keeps_its_time_until_its_status_changes() -> None:
    before = {
        "conditions": merge_conditions({}, [Condition("Ready", holds=False, reason="A", message="a")], 1, NOW)
    }
    same = merge_conditions(
        before, [Condition("Ready", holds=False, reason="B", message="b")], 2, NOW + 60_000
    )
    assert same[0]["lastTransitionTime"] == whole_seconds(NOW)
    assert (same[0]["reason"], same[0]["observedGeneration"]) == ("B", 2)
    changed = merge_conditions(
        before, [Condition("Ready", holds=True, reason="C", message="")], 2, NOW + 60_000
    )
    assert changed[0]["lastTransitionTime"] == whole_seconds(NOW + 60_000)
    assert changed[0]["status"] == "True"


def test_conditions_of_others_are_kept() -> None:
    before = {"conditions": [{"type": "Theirs", "status": "True"}]}
    merged = merge_conditions(before, [Condition("Ready", holds=True, reason="A", message="")], 1, NOW)
    assert [each["type"] for each in merged] == ["Theirs", "Ready"]


def test_a_long_text_is_cut_with_a_mark() -> None:
    assert shorten("short") == "short"
    assert shorten("x" * 20, 10) == "x" * 9 + "…"


def test_a_version_that_is_no_number_is_older_than_any() -> None:
    assert version_of({"resourceVersion": "42"}) == 42
    assert version_of({"resourceVersion": "abc"}) == 0
    assert version_of({}) == 0


def pod(name: str, created: str, status: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "creationTimestamp": created, **metadata}, "status": status}


UNPLACED = {
    "conditions": [{"type": "PodScheduled", "status": "False", "message": "0/2 nodes are available."}]
}
UNPULLED = {
    "containerStatuses": [
        {"name": "worker", "state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}},
    ],
}


def test_the_pod_tells_why_it_does_not_run() -> None:
    unplaced = deployment_trouble({}, [pod("a", "2027-01-01T00:00:00Z", UNPLACED)])
    assert unplaced is not None
    assert unplaced.reason == "PodsUnschedulable"
    assert unplaced.message == "Pod a cannot be placed: 0/2 nodes are available."
    unpulled = deployment_trouble({}, [pod("b", "2027-01-01T00:00:00Z", UNPULLED)])
    assert unpulled is not None
    assert unpulled.reason == "ImagePullBackOff"
    assert unpulled.message == "Container worker of pod b: no such image"


def test_the_newest_pod_is_believed_and_those_on_their_way_out_are_not() -> None:
    old = pod("old", "2027-01-01T00:00:00Z", UNPULLED)
    new = pod("new", "2027-01-02T00:00:00Z", UNPLACED)
    going = pod("going", "2027-01-03T00:00:00Z", UNPULLED, deletionTimestamp="2027-01-03T00:00:01Z")
    found = deployment_trouble({}, [old, new, going])
    assert found is not None
    assert found.reason == "PodsUnschedulable"


def test_a_pod_that_is_starting_is_no_trouble() -> None:
    starting = {
        "containerStatuses": [{"name": "worker", "state": {"waiting": {"reason": "ContainerCreating"}}}]
    }
    assert deployment_trouble({}, [pod("a", "2027-01-01T00:00:00Z", starting)]) is None


def test_a_quota_shows_on_the_deployment() -> None:
    full = {
        "status": {"conditions": [{"type": "ReplicaFailure", "status": "True", "message": "exceeded quota"}]}
    }
    found = deployment_trouble(full, [])
    assert found is not None
    assert (found.reason, found.message) == ("PodsRefused", "exceeded quota")


def test_what_is_worth_repeating_is_told_from_what_is_not() -> None:
    assert KubeUnavailable("away").temporary
    assert KubeError(429, "TooManyRequests", "slow down").temporary
    assert KubeError(500, "InternalError", "etcd is away").temporary
    unreadable = KubeError(
        500, "", "failed to create typed patch object (…): .spec.nosuch: field not declared"
    )
    assert unreadable.rejected
    assert not unreadable.temporary
    assert not KubeError(422, "Invalid", "spec is invalid").temporary
    assert not KubeError(403, "Forbidden", "no").temporary
