"""Turns JobPools into configured queues and worker Deployments, and tells on their status how they do."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fairway.api import names
from fairway.control.pool_status import Workers, pool_status
from fairway.control.workqueue import WorkQueue
from fairway.kube.deployments import (
    Anchor,
    WorkerPlan,
    build_deployment,
    managed_selector,
    selector_text,
    worker_labels,
)
from fairway.kube.errors import KubeError
from fairway.kube.objects import Trouble, deployment_trouble
from fairway.kube.templates import template_problem
from fairway.queue import Algorithm, PoolConfig, QueueError, TenantConfig

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairway.control.admission import Admission
    from fairway.control.followers import Followers
    from fairway.control.settings import Settings
    from fairway.control.state import Cluster, PoolView
    from fairway.kube.client import Kube
    from fairway.policy.effective import EffectivePool, EffectiveTenant
    from fairway.queue import PoolState, Queue

logger = logging.getLogger(__name__)

_WORKERS = 4
_LOOK_EVERY_S = 2.0
_PODS_LOOKED_AT = 20
_AGAIN_AFTER_S = 10.0
_FOR_THE_AUTHOR = frozenset({"NamespaceNotAllowed", "TemplateRejected"})
"""Troubles that only a change of the spec mends, and that change is seen; others are looked at again."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a pool when it was last made what its spec, as in `view`, says."""

    view: PoolView
    desired: int = 0
    namespace: str | None = None
    trouble: Trouble | None = None


class Pools:
    """Each JobPool by its name: one worker at a time, on what the API server says now."""

    def __init__(
        self, kube: Kube, queue: Queue, cluster: Cluster, followers: Followers, settings: Settings
    ) -> None:
        self._kube = kube
        self._queue = queue
        self._cluster = cluster
        self._followers = followers
        self._settings = settings
        self._outcomes: dict[str, Outcome] = {}
        self.states: dict[str, PoolState] = {}
        """Each pool's queue as last seen."""
        self.looked: Callable[[], None] = lambda: None
        """Told that `states` changed."""
        self.admission: Admission | None = None
        self.work: WorkQueue[str] = WorkQueue("setting up a JobPool", self._set_up, _WORKERS)
        self.looks: WorkQueue[str] = WorkQueue("looking at a JobPool", self._look, _WORKERS)
        followers.unconfigured = self.work.add

    async def watch(self) -> None:
        """Look at every pool every other second, until cancelled."""
        while True:
            for name in list(self._outcomes):
                self.looks.add(name)
            await asyncio.sleep(_LOOK_EVERY_S)

    # -- setting up ----------------------------------------------------------------------------------------

    async def _set_up(self, name: str) -> None:
        found = await self._kube.get(names.JOBPOOLS, name)
        if found is None:
            await self._remove(name)
            return
        view = self._cluster.put_pool(found)
        if view.effective is None:
            self._outcomes[name] = Outcome(view, trouble=Trouble("InvalidSpec", view.problem))
            self.looks.add(name)
            return
        try:
            await self._configure(name, view.effective)
        except QueueError as error:
            # Workers wait for their pool, so they can be made meanwhile; the rest is tried again.
            outcome = await self._apply(name, view, view.effective)
            trouble = outcome.trouble or Trouble("QueueUnavailable", str(error))
            self._outcomes[name] = replace(outcome, trouble=trouble)
            self.looks.add(name)
            raise
        outcome = self._outcomes[name] = await self._apply(name, view, view.effective)
        self._followers.ensure(name)
        self.looks.add(name)
        if outcome.trouble and outcome.trouble.reason not in _FOR_THE_AUTHOR:
            self.work.add(name, _AGAIN_AFTER_S)

    async def _configure(self, name: str, pool: EffectivePool) -> None:
        await self._queue.configure_pool(name, pool_config(pool))
        for tenant in list(self._cluster.tenants.values()):
            if tenant.effective is not None:
                await self._queue.configure_tenant(
                    name, tenant.identity.name, tenant_config(tenant.effective)
                )

    async def _apply(self, name: str, view: PoolView, pool: EffectivePool) -> Outcome:
        namespace = pool.namespace or self._settings.namespace
        desired = max(1, pool.min_replicas)
        trouble = await self._deploy(name, pool, namespace, desired)
        if trouble is None:
            await self._remove_deployments(name, keep=namespace)
        return Outcome(view, desired, namespace, trouble)

    async def _deploy(self, name: str, pool: EffectivePool, namespace: str, desired: int) -> Trouble | None:
        workers = self._settings.workers
        if namespace not in workers.namespaces:
            allowed = ", ".join(workers.namespaces)
            return Trouble(
                "NamespaceNotAllowed",
                f"Workers may not run in namespace {namespace}: set spec.workers.namespace to one of "
                f"{allowed}, or add it to the chart's workers.namespaces.",
            )
        anchor = await self._kube.get_config_map(namespace, workers.anchor)
        if anchor is None or anchor["metadata"].get("deletionTimestamp"):
            return Trouble(
                "AnchorMissing",
                f"The ConfigMap {workers.anchor}, which owns the workers, is not in namespace {namespace}: "
                "it comes with the Helm chart; upgrade the release to get it back.",
            )
        if problem := template_problem(pool.template or {}):
            return Trouble("TemplateRejected", f"spec.workers.template is no pod template: {problem}.")
        plan = WorkerPlan(
            name, namespace, desired, pool.concurrency, pool.drain_grace_ms, pool.template or {}
        )
        owner = Anchor(workers.anchor, anchor["metadata"]["uid"])
        try:
            await self._kube.apply_deployment(build_deployment(plan, workers.defaults, owner))
        except KubeError as error:
            return _apply_trouble(error)
        return None

    # -- removing ------------------------------------------------------------------------------------------

    async def _remove(self, name: str) -> None:
        self._cluster.pools.pop(name, None)
        self._followers.drop(name)
        self._outcomes.pop(name, None)
        self.states.pop(name, None)
        await self._remove_deployments(name)
        await self._queue.remove_pool(name)
        if self.admission is not None:
            self.admission.reconsider(name)
        logger.info("a JobPool is gone", extra={"pool": name})

    async def _remove_deployments(self, name: str, keep: str | None = None) -> None:
        selector = f"{managed_selector()},{names.LABEL_POOL}={name}"
        for namespace in self._settings.workers.namespaces:
            if namespace != keep:
                for found in await self._kube.list_deployments(namespace, selector):
                    metadata = found["metadata"]
                    await self._kube.delete_deployment(namespace, metadata["name"], metadata["uid"])

    async def orphans(self) -> set[str]:
        """Return the names of pools that left something behind: a Deployment, or their queue."""
        left = set(await self._queue.pools())
        for namespace in self._settings.workers.namespaces:
            for found in await self._kube.list_deployments(namespace, managed_selector()):
                left.add((found["metadata"].get("labels") or {}).get(names.LABEL_POOL, ""))
        return left - set(self._cluster.pools) - {""}

    # -- looking -------------------------------------------------------------------------------------------

    async def _look(self, name: str) -> None:
        view, outcome = self._cluster.pools.get(name), self._outcomes.get(name)
        if view is None or outcome is None:
            return
        trouble = outcome.trouble
        state = None
        try:
            await self._queue.sweep(name)
            state = self.states[name] = await self._queue.inspect_pool(name)
            self.looked()
        except QueueError as error:
            trouble = trouble or Trouble("QueueUnavailable", str(error))
        deployment = await self._deployment(name, outcome)
        workers = Workers(outcome.desired)
        if deployment is not None:
            counts = deployment.get("status") or {}
            workers = Workers(outcome.desired, counts.get("replicas", 0), counts.get("readyReplicas", 0))
            trouble = trouble or await self._trouble(name, outcome, workers, deployment)
        # What is in force is what was set up; the spec may be newer by now.
        in_force = replace(outcome.view, status=view.status)
        status = pool_status(in_force, workers, state, trouble, round(time.time() * 1000))
        if status != dict(view.status):
            answer = await self._kube.replace_status(names.JOBPOOLS, view.identity, status)
            if answer is not None and name in self._cluster.pools:
                self._cluster.put_pool(answer)

    async def _deployment(self, name: str, outcome: Outcome) -> Mapping[str, Any] | None:
        if outcome.namespace is None or outcome.namespace not in self._settings.workers.namespaces:
            return None
        selector = f"{managed_selector()},{names.LABEL_POOL}={name}"
        found = await self._kube.list_deployments(outcome.namespace, selector)
        if not found and outcome.trouble is None:
            self.work.add(name)  # somebody deleted it
        return next(iter(found), None)

    async def _trouble(
        self, name: str, outcome: Outcome, workers: Workers, deployment: Mapping[str, Any]
    ) -> Trouble | None:
        if (workers.ready or 0) >= workers.desired or outcome.namespace is None:
            return None
        selector = selector_text(worker_labels(name))
        pods = await self._kube.list_pods(outcome.namespace, selector, _PODS_LOOKED_AT)
        told = f"{workers.ready or 0} of {workers.desired} workers are ready."
        return deployment_trouble(deployment, pods) or Trouble("WaitingForWorkers", told)


def pool_config(pool: EffectivePool) -> PoolConfig:
    """Return what the queue has to know of a pool."""
    return PoolConfig(
        lease_ms=pool.lease_ms,
        suspended=pool.suspended,
        max_workers_lost=pool.max_workers_lost,
        result_ttl_ms=pool.result_ttl_ms,
        dead_letter_ttl_ms=pool.dead_letter_ttl_ms,
        algorithm=Algorithm(pool.algorithm),
    )


def tenant_config(tenant: EffectiveTenant) -> TenantConfig:
    """Return what the queue has to know of a tenant."""
    return TenantConfig(weight=tenant.weight, suspended=tenant.suspended, in_flight=tenant.in_flight)


def _apply_trouble(error: KubeError) -> Trouble:
    """Return why the API server did not take a Deployment; raise where trying again may help."""
    if error.rejected:
        return Trouble("TemplateRejected", f"The API server rejected the workers' template: {error}")
    if error.status == HTTPStatus.FORBIDDEN:
        return Trouble(
            "ApplyForbidden", f"The API server does not let the operator make the workers: {error}"
        )
    if error.not_found:
        return Trouble("NamespaceMissing", f"The workers' namespace is not there: {error}")
    raise error
