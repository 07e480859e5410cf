"""Turns the model into script arguments, and the scripts' answers into the model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from fairway.api.phases import FailureClass, JobPhase
from fairway.policy.retry import AttemptCounts, Bury, Decision, Retry, RetryRules, attempt_timeout, counts
from fairway.queue.errors import QueueError
from fairway.queue.model import (
    AttemptRecord,
    FailKind,
    FailOutcome,
    JobState,
    Lease,
    Leased,
    PoolConfig,
    PoolState,
    Signal,
    SignalKind,
    Submitted,
    TenantConfig,
    TenantState,
    WorkerState,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fairway.queue.model import Failure, Submission

MAX_BODY_BYTES = 512 * 1024
"""A payload may have 256 KiB; the rest of the body is names, a command line and JSON's own signs."""

MAX_ERROR_BYTES = 8 * 1024
"""Of each attempt's error: its beginning says what happened, its end is what was printed last."""

_ERROR_HEAD_BYTES = 1024
_EVENT_ERROR_BYTES = 512

Fields = dict[str, bytes]


def pool_arguments(config: PoolConfig, *, epoch: str) -> list[str | int]:
    """Return the arguments of configure_pool; `epoch` is taken only by a pool that is new."""
    return [
        epoch,
        config.lease_ms * 1000,
        int(config.suspended),
        config.max_workers_lost,
        config.result_ttl_ms,
        config.dead_letter_ttl_ms,
        config.algorithm.value,
        config.events_kept,
    ]


def tenant_arguments(config: TenantConfig) -> list[str | int]:
    """Return the arguments of configure_tenant after the tenant's name."""
    if config.weight < 1:
        raise QueueError("INVALID_WEIGHT", f"a weight is a whole number from 1 up, not {config.weight}")
    return [config.weight, int(config.suspended), "" if config.in_flight is None else config.in_flight]


def submission_arguments(submission: Submission) -> list[str | int | bytes]:
    """Return the arguments of submit."""
    if len(submission.body) > MAX_BODY_BYTES:
        size = len(submission.body)
        raise QueueError("INVALID_PAYLOAD", f"the job has {size} bytes, at most {MAX_BODY_BYTES} are taken")
    if submission.estimate_us < 0 or submission.timeout_ms < 0:
        raise QueueError("INVALID_PAYLOAD", "a job's estimate and timeout cannot be negative")
    return [
        submission.id,
        submission.tenant,
        submission.account,
        submission.type,
        submission.body,
        submission.estimate_us,
        submission.timeout_ms,
        _rules_text(submission.retry),
        submission.origin,
    ]


def submitted(job_id: str, answer: list[bytes]) -> Submitted:
    """Read submit's answer."""
    phase, position, duplicate = answer
    return Submitted(job_id, JobPhase(phase.decode()), int(position) or None, duplicate == b"1")


def leased(pool: str, answer: tuple[list[list[bytes]], bytes, bytes, bytes]) -> Leased:
    """Read lease's answer: jobs, the next due time, and the pool's settings that a lease carries."""
    jobs, due, lease_ms, max_workers_lost = answer
    return Leased(
        jobs=[_lease(pool, _fields(job), int(lease_ms), int(max_workers_lost)) for job in jobs],
        next_due_ms=None if int(due) < 0 else int(due),
    )


def signal(message: bytes) -> Signal:
    """Read one message of an inbox: `wake`, or `cancel:<job id>`."""
    kind, _, job_id = message.decode().partition(":")
    return Signal(SignalKind(kind), job_id or None)


def failure_arguments(failure: Failure, decision: Decision) -> list[str | int | bytes]:
    """Return the arguments of fail after the lease's id."""
    error = _clipped(failure.error.encode(errors="replace"), MAX_ERROR_BYTES)
    match decision:
        case Retry(delay_ms):
            verdict: list[str | int] = ["retry", delay_ms, ""]
        case Bury(reason):
            verdict = ["bury", 0, reason]
    return [failure.cls.value, error, error[-_EVENT_ERROR_BYTES:], failure.ran_us, *verdict]


def fail_outcome(answer: list[bytes]) -> FailOutcome:
    """Read fail's answer."""
    kind, at_ms, reason = answer
    return FailOutcome(FailKind(kind.decode()), int(at_ms) or None, reason.decode())


def job_state(pool: str, job_id: str, answer: list[bytes]) -> JobState:
    """Read one job of inspect_jobs' answer."""
    job = _fields(answer)
    return JobState(
        id=job_id,
        pool=pool,
        tenant=_text(job, "tenant"),
        account=_text(job, "account"),
        type=_text(job, "type"),
        phase=JobPhase(_text(job, "state")),
        position=_number(job, "position") or None,
        attempts=_attempts(job),
        result=job.get("result"),
        created_at_ms=_number(job, "created") // 1000,
        started_at_ms=_ms(job, "started"),
        finished_at_ms=_ms(job, "finished"),
        slot_us=_number(job, "slot"),
        progress=float(job["progress"]) if "progress" in job else None,
        message=_text(job, "message"),
        origin=_text(job, "origin"),
        cancel_requested="cancel" in job,
        reason=_text(job, "reason"),
        due_at_ms=_ms(job, "due"),
    )


def tenant_state(answer: list[bytes]) -> TenantState:
    """Read one tenant of inspect_tenants' answer."""
    name, weight, queued, running, used = answer
    return TenantState(name.decode(), int(weight), int(queued), int(running), int(used))


def pool_state(answer: list[bytes], workers: list[list[bytes]], tenants: list[TenantState]) -> PoolState:
    """Read inspect_pool's answer."""
    queued, delayed, running, dead_lettered, oldest_age_ms = (int(number) for number in answer)
    states = [_worker_state(*worker) for worker in sorted(workers)]
    return PoolState(queued, delayed, running, dead_lettered, oldest_age_ms, states, tenants)


def _worker_state(name: bytes, node: bytes, slots: bytes, busy: bytes) -> WorkerState:
    # Both are counted step by step; a worker that was dropped and came back may be off until its next lease.
    return WorkerState(name.decode(), node.decode(), max(0, int(slots)), max(0, int(busy)))


def _lease(pool: str, job: Fields, lease_ms: int, max_workers_lost: int) -> Lease:
    history = AttemptCounts(
        app=_number(job, "app"),
        crash=_number(job, "crash"),
        timeout=_number(job, "timeouts"),
        resource=_number(job, "resource"),
        dependency=_number(job, "dependency"),
    )
    return Lease(
        pool=pool,
        job_id=_text(job, "id"),
        lease_id=_text(job, "lease"),
        tenant=_text(job, "tenant"),
        account=_text(job, "account"),
        type=_text(job, "type"),
        body=job.get("body", b""),
        attempt=_number(job, "number"),
        timeout_ms=attempt_timeout(_number(job, "timeout"), history),
        lease_ms=lease_ms,
        leased_at_ms=_number(job, "leased") // 1000,
        created_at_ms=_number(job, "created") // 1000,
        counts=history,
        retry=_rules(job["retry"], max_workers_lost),
    )


def _attempts(job: Fields) -> list[AttemptRecord]:
    """Read the ended attempts from the job's log, and the one that runs from its lease."""
    records = []
    for line in job.get("log", b"").splitlines():
        number, worker, node, started, ended, failure, error = json.loads(line)
        cls = FailureClass(failure)
        record = AttemptRecord(int(number), worker, node, int(started), int(ended), cls, counts(cls), error)
        records.append(record)
    if "lease" in job:
        started_ms = _number(job, "leased") // 1000
        worker, node = _text(job, "worker"), _text(job, "node")
        running = AttemptRecord(_number(job, "number"), worker, node, started_ms, None, None, counted=False)
        records.append(running)
    return records


def _rules_text(rules: RetryRules) -> str:
    return json.dumps([rules.max_attempts, list(rules.backoff_ms), rules.jitter], separators=(",", ":"))


def _rules(text: bytes, max_workers_lost: int) -> RetryRules:
    max_attempts, backoff_ms, jitter = json.loads(text)
    return RetryRules(max_attempts, tuple(backoff_ms), jitter, max_workers_lost)


def _clipped(text: bytes, size: int) -> bytes:
    if len(text) > size:
        text = text[:_ERROR_HEAD_BYTES] + "\n…\n".encode() + text[-(size - _ERROR_HEAD_BYTES) :]
    # A cut may go through a character; what is stored is whole UTF-8, and no byte that JSON cannot carry.
    return text.decode(errors="replace").encode()


def _fields(answer: list[bytes]) -> Fields:
    names = (name.decode() for name in answer[::2])
    return dict(zip(names, answer[1::2], strict=True))


def _text(job: Mapping[str, bytes], name: str) -> str:
    return job.get(name, b"").decode(errors="replace")


def _number(job: Mapping[str, bytes], name: str) -> int:
    return int(job.get(name, b"0"))


def _ms(job: Mapping[str, bytes], name: str) -> int | None:
    return int(job[name]) // 1000 if name in job else None
