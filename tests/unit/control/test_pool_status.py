"""What the statuses of JobPools and Tenants say."""

from typing import Any

from fairway.api.jobpool import JobPoolStatus
from fairway.api.tenant import TenantStatus
from fairway.control.pool_status import Workers, pool_status, tenant_status
from fairway.control.state import read_pool, read_tenant
from fairway.kube.objects import Trouble
from fairway.queue import PoolState, TenantState, WorkerState

NOW = 1_800_000_000_000
STATE = PoolState(
    queued=4,
    delayed=1,
    running=3,
    dead_lettered=2,
    oldest_age_ms=7_900,
    workers=[WorkerState("a", "node-1", slots=2, busy=2), WorkerState("b", "node-2", slots=2, busy=1)],
    tenants=[
        TenantState("red", 300, 3, 2, 1_500_000),
        TenantState("blue", 100, 1, 1, 0),
        TenantState("idle", 1, 0, 0, 0),
    ],
)


def demo(**changes: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "demo", "uid": "uid", "generation": 2, "resourceVersion": "1"},
        "spec": {"class": "short"},
        **changes,
    }


def ready(status: dict[str, Any]) -> tuple[str, str, str]:
    (condition,) = [each for each in status["conditions"] if each["type"] == "Ready"]
    return condition["status"], condition["reason"], condition["message"]


def test_a_pool_shows_its_numbers_and_what_is_in_force() -> None:
    status = pool_status(read_pool(demo()), Workers(2, 2, 2), STATE, None, NOW)
    JobPoolStatus.model_validate(status)
    assert status["observedGeneration"] == 2
    assert status["effective"]["liveness"]["lease"] == "10s"
    shown = {
        name: status[name]
        for name in ("queued", "scheduled", "running", "deadLettered", "oldestJobAgeSeconds")
    }
    assert shown == {"queued": 4, "scheduled": 1, "running": 3, "deadLettered": 2, "oldestJobAgeSeconds": 7}
    assert (status["busySlots"], status["totalSlots"]) == (3, 4)
    assert (status["desiredReplicas"], status["replicas"], status["readyReplicas"]) == (2, 2, 2)
    assert status["selector"] == "app.kubernetes.io/part-of=fairway,fairway.dev/pool=demo"
    assert ready(status) == ("True", "WorkersReady", "2 of 2 workers are ready.")


def test_trouble_is_told_and_nothing_else_changes() -> None:
    before = pool_status(read_pool(demo()), Workers(2, 2, 2), STATE, None, NOW)
    view = read_pool(demo(status=before))
    after = pool_status(view, Workers(2), None, Trouble("TemplateRejected", "The API server …"), NOW)
    assert ready(after) == ("False", "TemplateRejected", "The API server …")
    assert {**after, "conditions": None} == {**before, "conditions": None}


def test_nothing_new_gives_the_same_status() -> None:
    before = pool_status(read_pool(demo()), Workers(2, 2, 2), STATE, None, NOW)
    assert pool_status(read_pool(demo(status=before)), Workers(2, 2, 2), STATE, None, NOW + 60_000) == before


def test_the_age_of_an_old_queue_costs_few_writes() -> None:
    ages = {
        pool_status(read_pool(demo()), Workers(1), _aged(age), None, NOW)["oldestJobAgeSeconds"]
        for age in range(3_600_000, 3_660_000, 2_000)
    }
    assert ages == {3600}


def test_a_suspended_pool_is_ready_and_says_so() -> None:
    view = read_pool(demo(spec={"suspend": True}))
    status = pool_status(view, Workers(1, 1, 1), STATE, None, NOW)
    assert ready(status) == (
        "True",
        "Suspended",
        "Suspended: nothing is dispatched. 1 of 1 workers are ready.",
    )


def test_a_spec_that_cannot_be_read_is_explained() -> None:
    view = read_pool(demo(spec={"liveness": {"lease": "soon"}}))
    assert view.effective is None
    assert view.problem.startswith("spec.liveness.lease: ")


def test_a_tenant_shows_its_part_of_each_pool() -> None:
    view = read_tenant({"metadata": {"name": "red", "uid": "uid", "generation": 1}, "spec": {"tier": "pro"}})
    status = tenant_status(view, {"demo": STATE, "other": _aged(0)}, None, NOW)
    TenantStatus.model_validate(status)
    assert (status["queued"], status["running"]) == (6, 4)
    assert status["pools"][0] == {
        "name": "demo",
        "queued": 3,
        "running": 2,
        "slotSeconds": 1.5,
        "share": 0.667,
    }
    assert status["effective"]["weight"] == 100
    assert ready(status)[:2] == ("True", "Configured")


def test_a_tenant_that_uses_nothing_has_no_pools() -> None:
    view = read_tenant({"metadata": {"name": "idle", "uid": "uid", "generation": 1}, "spec": {}})
    status = tenant_status(view, {"demo": STATE}, None, NOW)
    assert (status["queued"], status["running"], status["pools"]) == (0, 0, [])


def _aged(age_ms: int) -> PoolState:
    return PoolState(4, 1, 3, 2, age_ms, STATE.workers, STATE.tenants)
