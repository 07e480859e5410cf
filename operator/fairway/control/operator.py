"""All parts of the operator, put together; started and stopped as one."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from fairway.api import names
from fairway.control.admission import Admission
from fairway.control.followers import Followers
from fairway.control.jobs import Jobs
from fairway.control.pools import Pools
from fairway.control.reconcile import Reconciler
from fairway.control.state import Cluster
from fairway.control.statuses import Statuses
from fairway.control.tenants import Tenants
from fairway.control.workqueue import Backoff
from fairway.kube.errors import KubeError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fairway.control.settings import Settings
    from fairway.kube.client import Kube
    from fairway.queue import Queue

logger = logging.getLogger(__name__)

_PATIENCE_S = 60.0
_FLUSH_S = 2.0


class StartError(Exception):
    """The operator cannot start; the message says why."""


class Operator:
    """The operator without kopf, which only brings it the events of the API server."""

    def __init__(self, kube: Kube, queue: Queue, settings: Settings) -> None:
        self._kube = kube
        self._queue = queue
        self.cluster = Cluster()
        self.statuses = Statuses(kube, queue, Jobs())
        self.admission = Admission(kube, queue, self.cluster, self.statuses, settings.admission)
        self.followers = Followers(queue, self.statuses)
        self.pools = Pools(kube, queue, self.cluster, self.followers, settings)
        self.tenants = Tenants(kube, queue, self.cluster, self.pools)
        self.reconciler = Reconciler(kube, queue, self.cluster, self.pools, self.tenants)
        self.pools.admission = self.admission
        self.admission.unconfigured = self.pools.work.add
        self.failed = False
        self.ended = asyncio.Event()
        """Set when the operator has ended, or has to: kopf then ends too."""
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Learn what pools and tenants there are, then start to work."""
        await self._fill()
        loops = {
            "admission": self.admission.work.run(),
            "statuses": self.statuses.work.run(),
            "pools": self.pools.work.run(),
            "looks at pools": self.pools.looks.run(),
            "watch of pools": self.pools.watch(),
            "tenants": self.tenants.work.run(),
            "looks at tenants": self.tenants.looks.run(),
            "reconciler": self.reconciler.run(self.admission, self.statuses),
        }
        for name, loop in loops.items():
            task = asyncio.create_task(loop, name=name)
            task.add_done_callback(self._ended)
            self._tasks.append(task)
        logger.info(
            "the operator works",
            extra={"pools": len(self.cluster.pools), "tenants": len(self.cluster.tenants)},
        )

    async def stop(self) -> None:
        """Write what is about to be written, then end."""
        deadline = asyncio.get_running_loop().time() + _FLUSH_S
        while len(self.statuses.work) and asyncio.get_running_loop().time() < deadline:
            self.statuses.work.hurry()
            await asyncio.sleep(0.05)
        for task in self._tasks:
            task.remove_done_callback(self._ended)
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.followers.stop()
        await self._queue.aclose()
        await self._kube.aclose()
        self.ended.set()

    # -- events --------------------------------------------------------------------------------------------

    def pool_seen(self, found: Mapping[str, Any], *, deleted: bool) -> None:
        """Take in a JobPool as the API server showed it."""
        name = found["metadata"]["name"]
        if deleted:
            self.pools.work.add(name)  # it may be there again by now: only a live look tells
            return
        before = self.cluster.pools.get(name)
        view = self.cluster.put_pool(found)
        if before is None or before.generation != view.generation:
            self.admission.reconsider()

    def tenant_seen(self, found: Mapping[str, Any], *, deleted: bool) -> None:
        """Take in a Tenant as the API server showed it."""
        name = found["metadata"]["name"]
        if deleted:
            self.cluster.tenants.pop(name, None)  # one that took its place shows itself right after
            self.tenants.work.add(name)
            self.admission.reconsider()
            return
        before = self.cluster.tenants.get(name)
        view = self.cluster.put_tenant(found)
        if before is None or before.generation != view.generation:
            self.admission.reconsider()

    async def _fill(self) -> None:
        deadline = asyncio.get_running_loop().time() + _PATIENCE_S
        failures, backoff = 0, Backoff(longest_s=5.0)
        while True:
            try:
                async for found in self._kube.list_objects(names.TENANTS):
                    self.cluster.put_tenant(found)
                async for found in self._kube.list_objects(names.JOBPOOLS):
                    self.cluster.put_pool(found)
            except KubeError as error:
                if asyncio.get_running_loop().time() > deadline:
                    raise StartError(_start_sentence(error)) from error
                failures += 1
                if failures == 1:
                    logger.warning("waiting for the API server: %s", _start_sentence(error))
                await asyncio.sleep(backoff.pause(failures))
            else:
                return

    def _ended(self, task: asyncio.Task[None]) -> None:
        """End the operator when a part of it ends: half an operator would look alive and do nothing."""
        if not task.cancelled():
            logger.critical("a part of the operator ended: %s", task.get_name(), exc_info=task.exception())
        self.failed = True
        self.ended.set()


def _start_sentence(error: KubeError) -> str:
    if error.not_found:
        return f"the kinds of {names.GROUP} are not installed: apply crds/, or install the Helm chart."
    return str(error)
