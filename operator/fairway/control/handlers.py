"""What kopf is told to call. Handlers only pass on what was seen; all work is done elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import kopf

from fairway.api import names
from fairway.control.operator import StartError

if TYPE_CHECKING:
    from fairway.control.operator import Operator

_POOLS = (names.GROUP, names.VERSION, names.JOBPOOLS)
_TENANTS = (names.GROUP, names.VERSION, names.TENANTS)
_JOBS = (names.GROUP, names.VERSION, names.JOBS)


def kopf_settings() -> kopf.OperatorSettings:
    """Return how kopf is to behave."""
    settings = kopf.OperatorSettings()
    # The kinds are looked for at the start only, so no permission on CRDs and namespaces is needed.
    settings.scanning.disabled = True
    settings.posting.enabled = False
    settings.process.ultimate_exiting_timeout = 20
    # JobPools and Tenants remember what was last handled under our own name; nothing ever gets a finalizer.
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage(prefix=names.ANNOTATION_PREFIX)
    settings.persistence.diffbase_storage = kopf.AnnotationsDiffBaseStorage(prefix=names.ANNOTATION_PREFIX)
    settings.persistence.finalizer = f"{names.ANNOTATION_PREFIX}/operator"
    return settings


def build_registry(operator: Operator) -> kopf.OperatorRegistry:
    """Return the handlers, bound to an operator."""
    registry = kopf.OperatorRegistry()
    _register_process(registry, operator)
    _register_pools(registry, operator)
    _register_tenants(registry, operator)
    _register_jobs(registry, operator)
    return registry


def _register_process(registry: kopf.OperatorRegistry, operator: Operator) -> None:
    @kopf.on.login(registry=registry)
    async def login(**arguments: Any) -> kopf.ConnectionInfo | None:
        return kopf.login_with_service_account(**arguments) or kopf.login_with_kubeconfig(**arguments)

    @kopf.on.startup(registry=registry)
    async def start(**_: Any) -> None:
        try:
            await operator.start()
        except StartError as error:
            raise kopf.PermanentError(str(error)) from error

    @kopf.on.cleanup(registry=registry)
    async def stop(**_: Any) -> None:
        await operator.stop()

    @kopf.on.probe(id="jobs", registry=registry)
    async def jobs(**_: Any) -> int:
        return len(operator.statuses.jobs)


def _register_pools(registry: kopf.OperatorRegistry, operator: Operator) -> None:
    @kopf.on.event(*_POOLS, registry=registry)
    async def pool_seen(event: kopf.RawEvent, **_: Any) -> None:
        operator.pool_seen(event["object"], deleted=event["type"] == "DELETED")

    @kopf.on.resume(*_POOLS, registry=registry)
    @kopf.on.create(*_POOLS, registry=registry)
    @kopf.on.update(*_POOLS, registry=registry)
    async def pool_changed(name: str, **_: Any) -> None:
        operator.pools.work.add(name)


def _register_tenants(registry: kopf.OperatorRegistry, operator: Operator) -> None:
    @kopf.on.event(*_TENANTS, registry=registry)
    async def tenant_seen(event: kopf.RawEvent, **_: Any) -> None:
        operator.tenant_seen(event["object"], deleted=event["type"] == "DELETED")

    @kopf.on.resume(*_TENANTS, registry=registry)
    @kopf.on.create(*_TENANTS, registry=registry)
    @kopf.on.update(*_TENANTS, registry=registry)
    async def tenant_changed(name: str, **_: Any) -> None:
        operator.tenants.work.add(name)


def _register_jobs(registry: kopf.OperatorRegistry, operator: Operator) -> None:
    # Events only: a finalizer or an annotation on each Job would double the writes to the API server.
    @kopf.on.event(*_JOBS, registry=registry)
    async def job_seen(event: kopf.RawEvent, **_: Any) -> None:
        operator.admission.observe(event["object"], deleted=event["type"] == "DELETED")
