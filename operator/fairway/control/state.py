"""The pools and tenants that there are, as last seen; filled before the first Job is judged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fairway.api.jobpool import JobPoolSpec
from fairway.api.tenant import TenantSpec
from fairway.kube.client import Identity
from fairway.kube.objects import version_of
from fairway.policy.effective import EffectivePool, EffectiveTenant, effective_pool, effective_tenant
from fairway.policy.routing import PoolOffer, TenantOffer

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class PoolView:
    """A JobPool. `effective` is None when its spec cannot be read, and `problem` says why."""

    identity: Identity
    version: int
    generation: int
    status: Mapping[str, Any]
    effective: EffectivePool | None
    problem: str
    offer: PoolOffer


@dataclass(frozen=True, slots=True)
class TenantView:
    """A Tenant. `effective` is None when its spec cannot be read, and `problem` says why."""

    identity: Identity
    version: int
    generation: int
    status: Mapping[str, Any]
    effective: EffectiveTenant | None
    problem: str
    offer: TenantOffer


@dataclass(slots=True)
class Cluster:
    """What there is, by name."""

    pools: dict[str, PoolView] = field(default_factory=dict)
    tenants: dict[str, TenantView] = field(default_factory=dict)

    def put_pool(self, found: Mapping[str, Any]) -> PoolView:
        """Take in a JobPool as the API server showed it, unless something newer is known."""
        view = read_pool(found)
        known = self.pools.get(view.identity.name)
        if known is not None and known.version > view.version:
            return known
        self.pools[view.identity.name] = view
        return view

    def put_tenant(self, found: Mapping[str, Any]) -> TenantView:
        """Take in a Tenant as the API server showed it, unless something newer is known."""
        view = read_tenant(found)
        known = self.tenants.get(view.identity.name)
        if known is not None and known.version > view.version:
            return known
        self.tenants[view.identity.name] = view
        return view

    def pool_offers(self) -> list[PoolOffer]:
        """Return what jobs can be routed by."""
        return [pool.offer for pool in self.pools.values()]

    def tenant_offers(self) -> list[TenantOffer]:
        """Return what jobs can be charged by."""
        return [tenant.offer for tenant in self.tenants.values()]


def read_pool(found: Mapping[str, Any]) -> PoolView:
    """Return the view of one JobPool."""
    metadata = found["metadata"]
    effective, problem = None, ""
    try:
        effective = effective_pool(JobPoolSpec.model_validate(found.get("spec") or {}))
    except (ValidationError, ValueError) as error:
        problem = sentence(error)
    name = metadata["name"]
    capabilities = frozenset(effective.settings["capabilities"]) if effective else frozenset[str]()
    return PoolView(
        identity=Identity(name, metadata["uid"]),
        version=version_of(metadata),
        generation=metadata.get("generation", 0),
        status=found.get("status") or {},
        effective=effective,
        problem=problem,
        offer=PoolOffer(name, frozenset(effective.types if effective else ()), capabilities),
    )


def read_tenant(found: Mapping[str, Any]) -> TenantView:
    """Return the view of one Tenant."""
    metadata = found["metadata"]
    effective, problem = None, ""
    try:
        effective = effective_tenant(TenantSpec.model_validate(found.get("spec") or {}))
    except (ValidationError, ValueError) as error:
        problem = sentence(error)
    name = metadata["name"]
    offer = TenantOffer(name)
    if effective:
        offer = TenantOffer(name, effective.namespaces, effective.accounts_from)
    return TenantView(
        identity=Identity(name, metadata["uid"]),
        version=version_of(metadata),
        generation=metadata.get("generation", 0),
        status=found.get("status") or {},
        effective=effective,
        problem=problem,
        offer=offer,
    )


def sentence(error: Exception) -> str:
    """Return what is wrong with a spec, naming the fields."""
    if not isinstance(error, ValidationError):
        return str(error)
    parts = []
    for each in error.errors(include_url=False, include_context=False, include_input=False):
        where = ".".join(str(part) for part in ("spec", *each["loc"]))
        parts.append(f"{where}: {each['msg'].removeprefix('Value error, ')}")
    return "; ".join(parts)
