"""What a Job's status says, as pure functions of what the queue knows and of what the status said before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fairway.api.ids import pool_of
from fairway.api.job import MAX_ATTEMPTS_SHOWN
from fairway.api.phases import ConditionType, FailureClass, JobPhase
from fairway.control.results import shown_result
from fairway.kube.objects import (
    Condition,
    find_condition,
    holds,
    merge_conditions,
    shorten,
    timestamp,
    without_nulls,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from fairway.api.codes import Refusal
    from fairway.queue import AttemptRecord, JobState

_MAX_ERROR = 2048

_BURIED = {
    FailureClass.APP: "AttemptsExhausted",
    FailureClass.TIMEOUT: "TimedOut",
    FailureClass.RESOURCE: "ResourcesExceeded",
    FailureClass.CRASH: "WorkersLost",
    FailureClass.DEPENDENCY: "DependencyFailed",
    FailureClass.PERMANENT: "PermanentFailure",
    FailureClass.POISON: "Poison",
    FailureClass.HANG: "Hung",
}


@dataclass(frozen=True, slots=True)
class Writing:
    """What every status says beside the job's own state."""

    generation: int
    now_ms: int
    notes: str = ""


@dataclass(frozen=True, slots=True)
class _Word:
    reason: str
    message: str


def job_status(state: JobState, previous: Mapping[str, Any], writing: Writing) -> dict[str, Any]:
    """Return the status of a job that the queue has."""
    word = _explain(state)
    result, remark = _result(state)
    message = f"{word.message} {remark}".strip()
    same_phase = previous.get("phase") == str(state.phase)
    return without_nulls(
        {
            "observedGeneration": writing.generation,
            "phase": str(state.phase),
            "jobID": state.id,
            # Written when the phase changes: a live number would cost a write for every job that moves up.
            "position": previous.get("position") if same_phase else state.position,
            "reason": word.reason,
            "message": previous.get("message") if _only_moved(state, previous, word) else message,
            "attempts": [_attempt(each) for each in state.attempts[-MAX_ATTEMPTS_SHOWN:]] or None,
            "progress": state.progress,
            "result": result,
            "startedAt": None if state.started_at_ms is None else timestamp(state.started_at_ms),
            "finishedAt": None if state.finished_at_ms is None else timestamp(state.finished_at_ms),
            "slotSeconds": state.slot_us / 1_000_000 if state.slot_us else None,
            "conditions": merge_conditions(
                previous,
                [_admitted(state, previous, writing), *_outcome(state.phase, word)],
                writing.generation,
                writing.now_ms,
            ),
        },
    )


def recorded_status(job_id: str, previous: Mapping[str, Any], writing: Writing) -> dict[str, Any]:
    """Return the status that records where a job goes, before it is sent there."""
    pool = pool_of(job_id)
    return {
        **previous,
        "observedGeneration": writing.generation,
        "phase": str(JobPhase.PENDING),
        "jobID": job_id,
        "reason": "Routed",
        "message": f"The job goes to the pool {pool}.",
    }


def refused_status(
    refusal: Refusal, previous: Mapping[str, Any], writing: Writing, *, for_good: bool
) -> dict[str, Any]:
    """Return the status of a job that no queue took: it waits, or has failed for good."""
    phase = JobPhase.FAILED if for_good else JobPhase.PENDING
    word = _Word(str(refusal.code), refusal.sentence)
    admitted = Condition(ConditionType.ADMITTED, holds=False, reason=word.reason, message=word.message)
    return _settled(phase, word, previous, writing, admitted)


def cancelled_status(
    reason: str, message: str, previous: Mapping[str, Any], writing: Writing
) -> dict[str, Any]:
    """Return the status of a job that is cancelled and that no queue has."""
    before = find_condition(previous, ConditionType.ADMITTED)
    admitted = None
    if before is None:
        admitted = Condition(ConditionType.ADMITTED, holds=False, reason=reason, message=message)
    return _settled(JobPhase.CANCELLED, _Word(reason, message), previous, writing, admitted)


def _settled(
    phase: JobPhase,
    word: _Word,
    previous: Mapping[str, Any],
    writing: Writing,
    admitted: Condition | None,
) -> dict[str, Any]:
    wanted = [*([admitted] if admitted else []), *_outcome(phase, word)]
    finished = timestamp(writing.now_ms) if phase.finished else None
    return without_nulls(
        {
            **previous,
            "observedGeneration": writing.generation,
            "phase": str(phase),
            "position": None,
            "reason": word.reason,
            "message": shorten(word.message),
            "finishedAt": finished,
            "conditions": merge_conditions(previous, wanted, writing.generation, writing.now_ms),
        },
    )


def _admitted(state: JobState, previous: Mapping[str, Any], writing: Writing) -> Condition:
    before = find_condition(previous, ConditionType.ADMITTED)
    if before is not None and holds(previous, ConditionType.ADMITTED):
        return Condition(
            ConditionType.ADMITTED, holds=True, reason=before["reason"], message=before["message"]
        )
    message = f"The queue of pool {state.pool} has it, charged to tenant {state.tenant}."
    return Condition(
        ConditionType.ADMITTED, holds=True, reason="Admitted", message=f"{message} {writing.notes}".strip()
    )


def _outcome(phase: JobPhase, word: _Word) -> list[Condition]:
    """Return the condition that a finished job ends with; as with Kubernetes' own Jobs, others have none."""
    if not phase.finished:
        return []
    kind = ConditionType.COMPLETE if phase is JobPhase.SUCCEEDED else ConditionType.FAILED
    return [Condition(kind, holds=True, reason=word.reason, message=word.message)]


def _only_moved(state: JobState, previous: Mapping[str, Any], word: _Word) -> bool:
    """Tell whether nothing but the position of a waiting job changed, which is not worth a write."""
    return (
        state.phase is JobPhase.QUEUED
        and previous.get("phase") == str(state.phase)
        and previous.get("reason") == word.reason
    )


def _explain(state: JobState) -> _Word:
    explain = _EXPLANATIONS.get(state.phase)
    return explain(state) if explain else _Word(str(state.phase), state.reason or state.message)


def _queued(state: JobState) -> _Word:
    return _Word("Queued", f"Waits at position {state.position or '?'} of {state.tenant}'s queue.")


def _succeeded(state: JobState) -> _Word:
    return _Word(
        "Succeeded", f"Attempt {state.attempts[-1].number} succeeded." if state.attempts else "It succeeded."
    )


def _cancelled(state: JobState) -> _Word:
    return _Word("Cancelled", f"Cancelled: {state.reason or 'as asked for'}.")


def _scheduled(state: JobState) -> _Word:
    when = f"at {timestamp(state.due_at_ms)}" if state.due_at_ms else "later"
    if not state.attempts:
        return _Word("Scheduled", f"It is due {when}.")
    last = state.attempts[-1]
    return _Word("RetryScheduled", f"Attempt {last.number} ended as {last.cls}; it is tried again {when}.")


def _running(state: JobState) -> _Word:
    last = state.attempts[-1] if state.attempts else None
    where = f"Attempt {last.number} runs on {last.worker}" if last else "It runs"
    if last and last.node:
        where = f"{where} (node {last.node})"
    if state.cancel_requested:
        return _Word("Cancelling", f"{where} and was asked to stop: {state.reason or 'as asked for'}.")
    return _Word(
        "Running", f"{where}: {shorten(state.message, _MAX_ERROR)}" if state.message else f"{where}."
    )


def _buried(state: JobState) -> _Word:
    last = state.attempts[-1] if state.attempts else None
    reason = _BURIED.get(last.cls, "DeadLettered") if last and last.cls else "DeadLettered"
    why = state.reason or "it failed"
    if last and last.error:
        return _Word(reason, f"Dead-lettered: {why}. Last error: {shorten(last.error.strip(), _MAX_ERROR)}")
    return _Word(reason, f"Dead-lettered: {why}.")


_EXPLANATIONS: dict[JobPhase, Callable[[JobState], _Word]] = {
    JobPhase.QUEUED: _queued,
    JobPhase.SCHEDULED: _scheduled,
    JobPhase.RUNNING: _running,
    JobPhase.SUCCEEDED: _succeeded,
    JobPhase.DEAD_LETTERED: _buried,
    JobPhase.CANCELLED: _cancelled,
}


def _attempt(attempt: AttemptRecord) -> dict[str, Any]:
    return without_nulls(
        {
            "number": attempt.number,
            "worker": attempt.worker or None,
            "node": attempt.node or None,
            "startedAt": timestamp(attempt.started_at_ms),
            "endedAt": None if attempt.ended_at_ms is None else timestamp(attempt.ended_at_ms),
            "class": None if attempt.cls is None else str(attempt.cls),
            "counted": None if attempt.cls is None else attempt.counted,
            "error": shorten(attempt.error, _MAX_ERROR) or None,
        },
    )


def _result(state: JobState) -> tuple[Any, str]:
    """Return the result as JSON, or a sentence on why it is not shown."""
    if state.phase is not JobPhase.SUCCEEDED or state.result is None:
        return None, ""
    return shown_result(state.result)
