"""Brings Tenants into every pool's queue, and tells on their status what they use."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from fairway.api import names
from fairway.control.pool_status import tenant_status
from fairway.control.pools import tenant_config
from fairway.control.workqueue import WorkQueue
from fairway.kube.objects import Trouble
from fairway.queue import QueueError

if TYPE_CHECKING:
    from fairway.control.pools import Pools
    from fairway.control.state import Cluster
    from fairway.kube.client import Kube
    from fairway.queue import Queue

_WORKERS = 4
_LOOK_AFTER_S = 0.2


class Tenants:
    """Each Tenant by its name: one worker at a time, on what the API server says now."""

    def __init__(self, kube: Kube, queue: Queue, cluster: Cluster, pools: Pools) -> None:
        self._kube = kube
        self._queue = queue
        self._cluster = cluster
        self._pools = pools
        self._troubles: dict[str, Trouble | None] = {}
        self.work: WorkQueue[str] = WorkQueue("setting up a Tenant", self._set_up, _WORKERS)
        self.looks: WorkQueue[str] = WorkQueue("looking at a Tenant", self._look, _WORKERS)
        pools.looked = self._look_soon

    def _look_soon(self) -> None:
        """Look at every tenant, once for all the pools that are looked at now."""
        for name in self._troubles:
            self.looks.add(name, _LOOK_AFTER_S)

    async def _set_up(self, name: str) -> None:
        found = await self._kube.get(names.TENANTS, name)
        if found is None:
            # Its jobs in the queues run to their end; it only takes no new ones.
            self._cluster.tenants.pop(name, None)
            self._troubles.pop(name, None)
            return
        view = self._cluster.put_tenant(found)
        self._troubles[name] = Trouble("InvalidSpec", view.problem) if view.effective is None else None
        self.looks.add(name)
        if view.effective is None:
            return
        for pool in list(self._cluster.pools):
            try:
                await self._queue.configure_tenant(pool, name, tenant_config(view.effective))
            except QueueError as error:
                if error.code == "UNKNOWN_POOL":
                    self._pools.work.add(pool)  # which brings all tenants with it
                    continue
                self._troubles[name] = Trouble("QueueUnavailable", str(error))
                raise

    async def _look(self, name: str) -> None:
        view = self._cluster.tenants.get(name)
        if view is None or name not in self._troubles:
            return
        status = tenant_status(view, self._pools.states, self._troubles[name], round(time.time() * 1000))
        if status != dict(view.status):
            answer = await self._kube.replace_status(names.TENANTS, view.identity, status)
            if answer is not None and name in self._cluster.tenants:
                self._cluster.put_tenant(answer)
