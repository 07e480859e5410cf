"""A Job object as the queue takes it, as pure functions of its spec and its pool's settings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairway.api.body import BodyResources, JobBody
from fairway.api.codes import Refusal, RefusalCode, refuse
from fairway.api.defaults import MAX_PAYLOAD_BYTES, MAX_PAYLOAD_DEPTH
from fairway.api.durations import parse_duration
from fairway.api.job import JobSpec
from fairway.api.model import NOT_YET, PENDING, REFUSED
from fairway.api.quantities import parse_quantity
from fairway.control.nesting import nested_deeper
from fairway.policy.retry import RetryRules
from fairway.queue import Submission

if TYPE_CHECKING:
    from fairway.api.shared import Resources
    from fairway.control.jobs import JobRecord
    from fairway.policy.effective import EffectivePool
    from fairway.policy.routing import Charge


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a job goes and who pays."""

    pool: str
    charge: Charge


def ignored_fields(spec: JobSpec) -> list[str]:
    """Return the names of the fields that are set and do not act yet."""
    return [
        field.alias or attribute
        for attribute, field in JobSpec.model_fields.items()
        if _pending(attribute) == NOT_YET and getattr(spec, attribute) is not None
    ]


def check(spec: JobSpec) -> Refusal | None:
    """Return why a job cannot be taken at all, whatever pools and tenants there are."""
    refused = [
        f"spec.{field.alias or attribute}"
        for attribute, field in sorted(JobSpec.model_fields.items())
        # Run as if it had not been set, such a job would run at the wrong time.
        if _pending(attribute) == REFUSED and getattr(spec, attribute) is not None
    ]
    if refused:
        return refuse(RefusalCode.NOT_YET_SUPPORTED, fields=refused)
    if nested_deeper(spec.payload, MAX_PAYLOAD_DEPTH):
        reason = f"it is nested more than {MAX_PAYLOAD_DEPTH} levels deep."
        return refuse(RefusalCode.INVALID_PAYLOAD, reason=reason)
    size = len(json.dumps(spec.payload or {}, separators=(",", ":"), ensure_ascii=False).encode())
    if size > MAX_PAYLOAD_BYTES:
        most = MAX_PAYLOAD_BYTES // 1024
        return refuse(
            RefusalCode.INVALID_PAYLOAD, reason=f"it has {size} bytes, and at most {most} KiB are taken."
        )
    return None


def build_submission(
    record: JobRecord, job_id: str, spec: JobSpec, placement: Placement, pool: EffectivePool
) -> Submission:
    """Return the submission of a Job object to its pool's queue."""
    settings = pool.for_type(spec.effective_type)
    timeout_ms = settings.timeout_ms if spec.timeout is None else max(1, parse_duration(spec.timeout))
    body = JobBody(
        type=spec.effective_type,
        command=spec.command,
        payload=spec.payload or {},
        timeout_ms=timeout_ms,
        cancel_grace_ms=pool.cancel_grace_ms,
        affinity=spec.affinity,
        resources=_resources(spec.resources),
        name=f"{record.namespace}/{record.name}",
    )
    return Submission(
        id=job_id,
        tenant=placement.charge.tenant,
        account=placement.charge.account,
        type=spec.effective_type,
        body=body.to_bytes(),
        estimate_us=settings.estimate_ms * 1000,
        timeout_ms=timeout_ms,
        retry=RetryRules(
            max_attempts=settings.max_attempts,
            backoff_ms=settings.backoff_ms,
            jitter=settings.jitter,
            max_workers_lost=pool.max_workers_lost,
        ),
        origin=record.origin,
    )


def _pending(attribute: str) -> str | None:
    extra = JobSpec.model_fields[attribute].json_schema_extra
    return str(extra[PENDING]) if isinstance(extra, dict) and PENDING in extra else None


def _resources(resources: Resources | None) -> BodyResources | None:
    if resources is None:
        return None
    return BodyResources(
        memory_bytes=None if resources.memory is None else parse_quantity(resources.memory),
        cpu_time_ms=None if resources.cpu_time is None else parse_duration(resources.cpu_time),
    )
