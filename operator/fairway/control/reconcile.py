"""The pass that makes everything right again, whatever was missed: at the start and every minute.

Events only make things quick. All that they bring is also found here from what there is: pools and tenants
that the queue does not have, jobs that no queue has, and what is left of objects that are gone.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from fairway.api import names
from fairway.kube.errors import KubeError
from fairway.queue import QueueError

if TYPE_CHECKING:
    from fairway.control.admission import Admission
    from fairway.control.pools import Pools
    from fairway.control.state import Cluster
    from fairway.control.statuses import Statuses
    from fairway.control.tenants import Tenants
    from fairway.kube.client import Kube
    from fairway.queue import Queue

logger = logging.getLogger(__name__)

_EVERY_S = 60.0
_SOON_S = 5.0


class Reconciler:
    """Runs the pass."""

    def __init__(self, kube: Kube, queue: Queue, cluster: Cluster, pools: Pools, tenants: Tenants) -> None:
        self._kube = kube
        self._queue = queue
        self._cluster = cluster
        self._pools = pools
        self._tenants = tenants

    async def run(self, admission: Admission, statuses: Statuses) -> None:
        """Run a pass every minute, sooner after one that could not be finished, until cancelled."""
        while True:
            try:
                await self._pass(admission, statuses)
            except (KubeError, QueueError) as error:
                logger.warning("a pass over everything was cut off: %s", error)
                await asyncio.sleep(_SOON_S)
            else:
                await asyncio.sleep(_EVERY_S)

    async def _pass(self, admission: Admission, statuses: Statuses) -> None:
        # 1. Every pool and tenant is what its spec says; what they left behind goes.
        for name in {*self._cluster.pools, *await self._pools.orphans()}:
            self._pools.work.add(name)
        for name in list(self._cluster.tenants):
            self._tenants.work.add(name)
        # 2. Every Job that is not over is in its queue, and its status is what the queue says.
        for record in statuses.jobs.unfinished():
            if record.submitted:
                statuses.refresh(record)
            else:
                admission.work.add(record.uid)
        # 3. Every job in a queue still has its object.
        for pool in await self._queue.pools():
            await self._cancel_orphans(pool)

    async def _cancel_orphans(self, pool: str) -> None:
        """Cancel the jobs whose objects are gone, as when they were deleted while nobody watched."""
        # The queue is read before the objects: a job that comes later is then never taken for an orphan.
        waiting = await self._live_objects(pool)
        if not waiting:
            return
        there = {metadata["uid"] async for metadata in self._kube.list_metadata(names.JOBS)}
        for job_id, origin in waiting.items():
            namespace, name, uid = origin.split("/")
            if uid in there:
                continue
            live = await self._kube.get(names.JOBS, name, namespace)
            if live is None or live["metadata"]["uid"] != uid:
                await self._queue.cancel(pool, job_id, "the Job object was deleted")
                logger.info("a job without its object was cancelled", extra={"id": job_id, "job": origin})

    async def _live_objects(self, pool: str) -> dict[str, str]:
        found: dict[str, str] = {}
        cursor = 0
        while True:
            cursor, page = await self._queue.live_objects(pool, cursor)
            found.update(page)
            if cursor == 0:
                return found
