"""Where a job runs and who pays: the pool that takes it, the tenant and the account that are charged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairway.api.codes import Refusal, RefusalCode, refuse

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from fairway.api.job import JobSpec

_LISTED = 10
"""A sentence that names more pools or tenants than this is no longer read."""


@dataclass(frozen=True, slots=True)
class PoolOffer:
    """What a pool offers to jobs that do not name one."""

    name: str
    types: frozenset[str] = frozenset()
    capabilities: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class TenantOffer:
    """Whose Job objects may charge a tenant, and whether they may name the account."""

    name: str
    namespaces: frozenset[str] = frozenset()
    accounts_from: str = "namespace"


@dataclass(frozen=True, slots=True)
class Charge:
    """Who pays for a job."""

    tenant: str
    account: str


def route(spec: JobSpec, pools: Collection[PoolOffer]) -> str | Refusal:
    """Return the name of the pool that a job goes to, or why none takes it.

    The declared pool; else the pool that registers the type; else, for a job that requires something, the
    pool whose capabilities cover it. Of several the one with the fewest surplus capabilities, then the first
    by name.
    """
    required = frozenset(spec.requires or ())
    if spec.pool is not None:
        return _declared(spec.pool, required, pools)
    registering = [pool for pool in pools if spec.effective_type in pool.types]
    able = [pool for pool in registering or pools if required <= pool.capabilities]
    if not registering and not required:
        return refuse(RefusalCode.UNKNOWN_TYPE, type=spec.effective_type, known=_names(pools))
    if not able:
        return refuse(RefusalCode.NO_MATCHING_POOL, requires=sorted(required))
    return min(able, key=lambda pool: (len(pool.capabilities - required), pool.name)).name


def charge(spec: JobSpec, namespace: str, tenants: Collection[TenantOffer]) -> Charge | Refusal:
    """Return who pays for a Job object: only a tenant that lists the object's namespace can."""
    tenant = _payer(spec.tenant, namespace, tenants)
    if isinstance(tenant, Refusal):
        return tenant
    if spec.account is None:
        return Charge(tenant.name, namespace)
    if tenant.accounts_from != "spec":
        return refuse(RefusalCode.ACCOUNT_FORBIDDEN, tenant=tenant.name)
    return Charge(tenant.name, spec.account)


def _declared(name: str, required: frozenset[str], pools: Collection[PoolOffer]) -> str | Refusal:
    found = next((pool for pool in pools if pool.name == name), None)
    if found is None:
        return refuse(RefusalCode.UNKNOWN_POOL, pool=name, known=_names(pools))
    if missing := sorted(required - found.capabilities):
        return Refusal(
            RefusalCode.NO_MATCHING_POOL,
            f"The JobPool {name} lacks {', '.join(missing)}, which spec.requires asks for: add it to the "
            "pool's spec.capabilities, name another pool, or leave spec.pool out to have one chosen.",
        )
    return name


def _payer(named: str | None, namespace: str, tenants: Collection[TenantOffer]) -> TenantOffer | Refusal:
    if named is not None:
        found = next((tenant for tenant in tenants if tenant.name == named), None)
        if found is None:
            return refuse(RefusalCode.UNKNOWN_TENANT, tenant=named, namespace=namespace)
        if namespace not in found.namespaces:
            return refuse(RefusalCode.TENANT_FORBIDDEN, tenant=named, namespace=namespace)
        return found
    listing = [tenant for tenant in tenants if namespace in tenant.namespaces]
    if not listing:
        return Refusal(
            RefusalCode.UNKNOWN_TENANT,
            f"No Tenant lists the namespace {namespace}: add it to the spec.namespaces of the one that pays.",
        )
    if len(listing) > 1:
        return refuse(RefusalCode.TENANT_AMBIGUOUS, namespace=namespace, known=_names(listing))
    return listing[0]


def _names(offers: Iterable[PoolOffer | TenantOffer]) -> list[str]:
    names = sorted(offer.name for offer in offers)
    return names if len(names) <= _LISTED else [*names[:_LISTED], "…"]
