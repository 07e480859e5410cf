"""What becomes of Job objects, with a queue and an API server in memory."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pytest

from fairway.api.phases import JobPhase
from fairway.control.admission import Admission
from fairway.control.jobs import Jobs
from fairway.control.settings import AdmissionSettings
from fairway.control.state import Cluster
from fairway.control.statuses import Statuses
from fairway.queue import Queue, QueueError, QueueUnavailable
from tests.unit.control.neighbours import MemoryKube, MemoryQueue, until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fairway.kube.client import Kube


@dataclass
class Desk:
    """An admission at work."""

    kube: MemoryKube
    queue: MemoryQueue
    cluster: Cluster
    statuses: Statuses
    admission: Admission
    unconfigured: list[str]

    def add_pool(self, name: str, **spec: Any) -> None:
        """Have a JobPool in the cluster."""
        self.cluster.put_pool({"metadata": {"name": name, "uid": name}, "spec": spec})
        self.admission.reconsider()

    def add_tenant(self, name: str, **spec: Any) -> None:
        """Have a Tenant in the cluster."""
        self.cluster.put_tenant({"metadata": {"name": name, "uid": name}, "spec": spec})
        self.admission.reconsider()

    def apply(self, name: str, spec: dict[str, Any], **status: Any) -> dict[str, Any]:
        """Have a Job in the cluster, and the admission see it."""
        made = self.kube.create(name, spec, **status)
        self.admission.observe(made)
        return made

    def status(self, name: str) -> dict[str, Any]:
        """Return what a Job's status says."""
        found: dict[str, Any] = self.kube.objects[("team-a", name)]["status"]
        return found

    async def told(self, name: str, **expected: str) -> dict[str, Any]:
        """Return a Job's status once it says what is expected."""
        await until(lambda: expected.items() <= self.status(name).items())
        return self.status(name)


async def _open(grace_ms: int) -> AsyncIterator[Desk]:
    kube, queue, cluster = MemoryKube(), MemoryQueue(), Cluster()
    as_kube, as_queue = cast("Kube", kube), cast("Queue", queue)
    statuses = Statuses(as_kube, as_queue, Jobs(), coalesce_s=0.01)
    admission = Admission(as_kube, as_queue, cluster, statuses, AdmissionSettings(unknown_grace_ms=grace_ms))
    desk = Desk(kube, queue, cluster, statuses, admission, [])
    admission.unconfigured = desk.unconfigured.append
    desk.add_pool("demo", types=[{"name": "greet"}])
    desk.add_tenant("red", namespaces=["team-a"])
    tasks = [asyncio.create_task(each.run()) for each in (admission.work, statuses.work)]
    yield desk
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    """Patient with unknown pools and tenants."""
    async for each in _open(60_000):
        yield each


@pytest.fixture
async def hasty() -> AsyncIterator[Desk]:
    """Not patient at all."""
    async for each in _open(0):
        yield each


async def test_a_job_reaches_the_queue_and_says_so(desk: Desk) -> None:
    desk.apply("one", {"pool": "demo", "command": ["true"]})
    status = await desk.told("one", phase="Queued")
    assert status["jobID"].endswith("-demo")
    assert status["conditions"][0]["type"] == "Admitted"
    assert status["conditions"][0]["status"] == "True"
    (submission,) = desk.queue.submissions
    assert (submission.tenant, submission.account, submission.type) == ("red", "team-a", "command")
    assert submission.origin == "team-a/one/uid-of-one"
    assert len(desk.kube.writes) == 1, "a Job with a pool costs one write to be admitted"


async def test_a_route_is_written_down_before_it_is_taken(desk: Desk) -> None:
    desk.apply("one", {"type": "greet"})
    status = await desk.told("one", phase="Queued")
    assert desk.kube.writes[0]["phase"] == "Pending"
    assert desk.kube.writes[0]["jobID"] == status["jobID"]


async def test_a_route_that_was_written_down_stays(desk: Desk) -> None:
    made = desk.kube.create("one", {"type": "greet"})
    desk.add_pool("another", types=[{"name": "greet"}])  # would be taken now: it comes first by name
    record = Jobs().observe(made)
    made["status"] = {"phase": "Pending", "jobID": record.id_in("demo")}
    desk.admission.observe(made)
    await desk.told("one", phase="Queued", jobID=record.id_in("demo"))


async def test_a_job_that_the_queue_has_is_not_judged_again(desk: Desk) -> None:
    desk.apply("one", {"pool": "demo", "command": ["true"]})
    await desk.told("one", phase="Queued")
    desk.cluster.tenants.clear()
    restarted = Statuses(cast("Kube", desk.kube), cast("Queue", desk.queue), Jobs())
    again = Admission(
        cast("Kube", desk.kube), cast("Queue", desk.queue), desk.cluster, restarted, AdmissionSettings(0)
    )
    again.observe(desk.kube.objects[("team-a", "one")])
    task = asyncio.create_task(again.work.run())
    await until(lambda: not len(again.work))
    task.cancel()
    assert desk.status("one")["phase"] == "Queued"
    assert len(desk.queue.submissions) == 1


async def test_an_unknown_pool_is_waited_for_and_then_used(desk: Desk) -> None:
    desk.apply("one", {"pool": "later", "command": ["true"]})
    status = await desk.told("one", phase="Pending", reason="UNKNOWN_POOL")
    assert "later" in status["message"]
    desk.add_pool("later")
    await desk.told("one", phase="Queued")


async def test_an_unknown_pool_fails_the_job_after_the_grace(hasty: Desk) -> None:
    hasty.apply("one", {"pool": "never", "command": ["true"]})
    status = await hasty.told("one", phase="Failed", reason="UNKNOWN_POOL")
    assert {each["type"]: each["status"] for each in status["conditions"]} == {
        "Admitted": "False",
        "Failed": "True",
    }


async def test_a_forbidden_tenant_fails_the_job_at_once(desk: Desk) -> None:
    desk.add_tenant("blue", namespaces=["elsewhere"])
    desk.apply("one", {"pool": "demo", "tenant": "blue", "command": ["true"]})
    await desk.told("one", phase="Failed", reason="TENANT_FORBIDDEN")


async def test_a_failed_job_stays_failed(desk: Desk) -> None:
    desk.add_tenant("blue", namespaces=["elsewhere"])
    desk.apply("one", {"pool": "demo", "tenant": "blue", "command": ["true"]})
    await desk.told("one", phase="Failed")
    desk.add_tenant("blue", namespaces=["team-a"])
    desk.apply("two", {"pool": "demo", "tenant": "blue", "command": ["true"]})
    await desk.told("two", phase="Queued")
    assert desk.status("one")["phase"] == "Failed"


async def test_a_job_deleted_before_its_turn_is_never_submitted(desk: Desk) -> None:
    made = desk.kube.create("one", {"pool": "demo", "command": ["true"]})
    desk.admission.observe(made)
    desk.admission.observe(made, deleted=True)
    await until(lambda: not len(desk.admission.work))
    assert desk.queue.submissions == []
    assert len(desk.statuses.jobs) == 0


async def test_a_deleted_job_is_cancelled(desk: Desk) -> None:
    made = desk.apply("one", {"pool": "demo", "command": ["true"]})
    status = await desk.told("one", phase="Queued")
    del desk.kube.objects[("team-a", "one")]
    desk.admission.observe(made, deleted=True)
    await until(lambda: desk.queue.cancels)
    assert desk.queue.cancels == [(status["jobID"], "the Job object was deleted")]


async def test_a_job_made_again_under_its_name_is_another_job(desk: Desk) -> None:
    made = desk.apply("one", {"pool": "demo", "command": ["true"]})
    first = (await desk.told("one", phase="Queued"))["jobID"]
    desk.admission.observe(made, deleted=True)
    desk.admission.observe(desk.kube.create("one", {"pool": "demo", "command": ["true"]}, uid="another"))
    second = (await desk.told("one", phase="Queued"))["jobID"]
    assert first != second
    assert [job_id for job_id, _ in desk.queue.cancels] == [first]


async def test_cancel_reaches_the_queue_once(desk: Desk) -> None:
    made = desk.apply("one", {"pool": "demo", "command": ["true"]})
    await desk.told("one", phase="Queued")
    made = {**desk.kube.objects[("team-a", "one")], "spec": {**made["spec"], "cancel": True}}
    desk.kube.objects[("team-a", "one")] = made
    desk.admission.observe(made)
    await desk.told("one", phase="Cancelled")
    assert len(desk.queue.cancels) >= 1


async def test_a_job_cancelled_before_any_queue_had_it_is_cancelled(desk: Desk) -> None:
    desk.apply("one", {"pool": "demo", "command": ["true"], "cancel": True})
    await desk.told("one", phase="Cancelled", reason="Cancelled")
    assert desk.queue.submissions == []


async def test_while_the_queue_is_away_the_job_says_so_and_goes_in_later(desk: Desk) -> None:
    desk.queue.errors = [QueueUnavailable("Redis does not answer")]
    desk.apply("one", {"pool": "demo", "command": ["true"]})
    await desk.told("one", phase="Pending", reason="QUEUE_UNAVAILABLE")
    await desk.told("one", phase="Queued")


async def test_a_queue_that_forgot_the_pool_is_configured_again(desk: Desk) -> None:
    desk.queue.errors = [QueueError("UNKNOWN_POOL", "pool demo is not known to the queue")]
    desk.apply("one", {"pool": "demo", "command": ["true"]})
    await desk.told("one", phase="Queued")
    assert desk.unconfigured == ["demo"]
    assert all(write.get("reason") != "UNKNOWN_POOL" for write in desk.kube.writes)


async def test_a_job_that_the_queue_lost_is_submitted_again(desk: Desk) -> None:
    desk.apply("one", {"pool": "demo", "command": ["true"]})
    status = await desk.told("one", phase="Queued")
    desk.queue.jobs.clear()
    record = desk.statuses.jobs.of(status["jobID"])
    assert record is not None
    desk.statuses.refresh(record, at_once=True)
    await until(lambda: status["jobID"] in desk.queue.jobs)
    assert len(desk.queue.submissions) == 2


async def test_jobs_of_a_deleted_pool_are_cancelled_with_a_reason(desk: Desk) -> None:
    desk.apply("one", {"pool": "demo", "command": ["true"]})
    await desk.told("one", phase="Queued")
    del desk.cluster.pools["demo"]
    desk.admission.reconsider("demo")
    await desk.told("one", phase="Cancelled", reason="PoolDeleted")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("executeAt", "2030-01-01T09:00:00Z"),
        ("notAfter", "2030-01-01T09:00:00Z"),
        ("schedule", {"cron": "* * * * *"}),
    ],
)
async def test_what_does_not_act_yet_and_must_not_be_ignored_is_refused(
    desk: Desk, field: str, value: Any
) -> None:
    desk.apply("one", {"pool": "demo", "command": ["true"], field: value})
    status = await desk.told("one", phase="Failed", reason="NOT_YET_SUPPORTED")
    assert f"spec.{field}" in status["message"]
    assert desk.queue.submissions == []


@pytest.mark.parametrize(("levels", "phase"), [(100, "Queued"), (101, "Failed")])
async def test_a_payload_nested_too_deeply_is_refused(desk: Desk, levels: int, phase: str) -> None:
    payload: Any = 1
    for _ in range(levels):
        payload = {"a": payload}
    desk.apply("one", {"pool": "demo", "type": "echo", "payload": payload})
    status = await desk.told("one", phase=phase)
    assert ("nested" in status["message"]) == (phase == "Failed")
    assert len(desk.queue.submissions) == (phase == "Queued")


async def test_what_can_be_ignored_is_told_on_the_condition(desk: Desk) -> None:
    desk.apply("one", {"pool": "demo", "command": ["true"], "priority": "high", "affinity": "llama"})
    status = await desk.told("one", phase="Queued")
    assert status["conditions"][0]["message"].endswith("ignored: spec.priority, spec.affinity.")


async def test_an_older_view_of_an_object_does_not_bring_its_status_back(desk: Desk) -> None:
    stale = desk.apply("one", {"pool": "demo", "command": ["true"]})
    status = await desk.told("one", phase="Queued")
    desk.admission.observe(stale)
    record = desk.statuses.jobs.of(status["jobID"])
    assert record is not None
    assert record.status["phase"] == JobPhase.QUEUED
