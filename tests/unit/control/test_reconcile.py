"""Jobs whose objects are gone are found and cancelled; no other is touched."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from fairway.control.admission import Admission
from fairway.control.followers import Followers
from fairway.control.jobs import Jobs
from fairway.control.pools import Pools
from fairway.control.reconcile import Reconciler
from fairway.control.settings import read_settings
from fairway.control.state import Cluster
from fairway.control.statuses import Statuses
from fairway.control.tenants import Tenants
from fairway.kube.errors import KubeError
from tests.unit.control.neighbours import MemoryKube, MemoryQueue, until
from tests.unit.control.test_settings import ENVIRONMENT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from fairway.kube.client import Kube
    from fairway.queue import Queue

GONE = "01J9ZK3V5W8X7Y6T4R2Q1P0N9M-demo"
OTHER = "01J9ZK3V5W8X7Y6T4R2Q1P0N9A-demo"


@dataclass
class ListedKube(MemoryKube):
    """An API server that also lists; `error` is what a list is answered with."""

    error: KubeError | None = None
    unlisted: set[str] = field(default_factory=set)
    """Names that a list leaves out, as one that was taken too early would."""
    lists: int = 0

    async def list_metadata(self, _plural: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the metadata of all Jobs."""
        self.lists += 1
        for found in list(self.objects.values()):
            if found["metadata"]["name"] not in self.unlisted:
                yield found["metadata"]
        if self.error:
            raise self.error

    async def list_deployments(self, _namespace: str, _selector: str) -> list[dict[str, Any]]:
        """Return none."""
        return []


@dataclass
class ListedQueue(MemoryQueue):
    """A queue that also lists its jobs with objects, one per page."""

    live: list[tuple[str, str]] = field(default_factory=list)

    async def pools(self) -> list[str]:
        """Return the one pool."""
        return ["demo"]

    async def live_objects(self, _pool: str, cursor: int = 0) -> tuple[int, list[tuple[str, str]]]:
        """Return one job per page."""
        following = cursor + 1 if cursor + 1 < len(self.live) else 0
        return following, self.live[cursor : cursor + 1]


@asynccontextmanager
async def a_pass(kube: ListedKube, queue: ListedQueue) -> AsyncIterator[None]:
    """Run the reconciler while the body waits for what it does."""
    as_kube, as_queue, cluster = cast("Kube", kube), cast("Queue", queue), Cluster()
    cluster.put_pool({"metadata": {"name": "demo", "uid": "demo"}, "spec": {}})
    settings = read_settings(ENVIRONMENT)
    statuses = Statuses(as_kube, as_queue, Jobs())
    admission = Admission(as_kube, as_queue, cluster, statuses, settings.admission)
    pools = Pools(as_kube, as_queue, cluster, Followers(as_queue, statuses), settings)
    reconciler = Reconciler(as_kube, as_queue, cluster, pools, Tenants(as_kube, as_queue, cluster, pools))
    task = asyncio.create_task(reconciler.run(admission, statuses))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_job_without_its_object_is_cancelled_and_one_with_it_is_not() -> None:
    kube = ListedKube()
    there = kube.create("there", {})["metadata"]["uid"]
    queue = ListedQueue(live=[(OTHER, f"team-a/there/{there}"), (GONE, "team-a/gone/some-uid")])
    async with a_pass(kube, queue):
        await until(lambda: queue.cancels)
    assert queue.cancels == [(GONE, "the Job object was deleted")]


async def test_an_object_made_again_under_the_name_does_not_keep_the_old_job() -> None:
    kube = ListedKube()
    kube.create("one", {}, uid="the-new-one")
    queue = ListedQueue(live=[(GONE, "team-a/one/the-old-one")])
    async with a_pass(kube, queue):
        await until(lambda: queue.cancels)
    assert queue.cancels == [(GONE, "the Job object was deleted")]


async def test_a_list_that_missed_an_object_cancels_nothing() -> None:
    kube = ListedKube(unlisted={"one"})
    uid = kube.create("one", {})["metadata"]["uid"]
    queue = ListedQueue(live=[(OTHER, f"team-a/one/{uid}"), (GONE, "team-a/gone/some-uid")])
    async with a_pass(kube, queue):
        await until(lambda: queue.cancels)
    assert [job_id for job_id, _ in queue.cancels] == [GONE]


async def test_a_list_that_was_cut_off_cancels_nothing() -> None:
    kube = ListedKube(error=KubeError(500, "InternalError", "etcd is away"))
    queue = ListedQueue(live=[(GONE, "team-a/gone/some-uid")])
    async with a_pass(kube, queue):
        await until(lambda: kube.lists)
        for _ in range(100):
            await asyncio.sleep(0)
    assert queue.cancels == []
