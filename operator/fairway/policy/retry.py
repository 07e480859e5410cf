"""What follows a failed attempt: another one, after a pause, or the dead letters.

The rules are row F1 of the contract with users: each failure class has its own allowance, so that a worker
that was lost never uses up the attempts that a job's own errors are counted against.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairway.api.phases import FailureClass

if TYPE_CHECKING:
    from collections.abc import Callable

DEFAULT_BACKOFF_MS = (1_000, 5_000, 30_000, 300_000, 1_800_000)
"""Pauses after the first, second… counted failure; the last one is repeated."""

MAX_DEPENDENCY_RETRIES = 100
"""A dependency that stays away is not the job's fault, yet a job may not wait for it for ever."""

MAX_POISON_ATTEMPTS = 2
"""A type that mostly fails gets no more than this, whatever its own rules allow."""


@dataclass(frozen=True, slots=True)
class RetryRules:
    """How often and how patiently a job is tried again. `max_attempts` counts attempts that ended as APP."""

    max_attempts: int = 3
    backoff_ms: tuple[int, ...] = DEFAULT_BACKOFF_MS
    jitter: float = 0.25
    max_workers_lost: int = 5


@dataclass(frozen=True, slots=True)
class AttemptCounts:
    """How many earlier attempts of a job ended in each class; the one being decided on is not in it."""

    app: int = 0
    crash: int = 0
    timeout: int = 0
    resource: int = 0
    dependency: int = 0


@dataclass(frozen=True, slots=True)
class Retry:
    """Try again, no sooner than `delay_ms` from now."""

    delay_ms: int


@dataclass(frozen=True, slots=True)
class Bury:
    """Put it with the dead letters; `reason` is a sentence for a person."""

    reason: str


Decision = Retry | Bury

_UNCOUNTED = frozenset(
    {FailureClass.CRASH, FailureClass.DEPENDENCY, FailureClass.RELEASED, FailureClass.CANCELLED},
)


def counts(failure: FailureClass) -> bool:
    """Tell whether an attempt that ended like this used up one of the job's attempts."""
    return failure not in _UNCOUNTED


def backoff(failures: int, rules: RetryRules, random: float) -> int:
    """Return the pause in ms after so many failures (1 for the first); `random` in [0, 1) spreads it."""
    if not rules.backoff_ms:
        return 0
    pause = rules.backoff_ms[min(failures, len(rules.backoff_ms)) - 1]
    return max(0, round(pause * (1 + rules.jitter * (2 * random - 1))))


def attempt_timeout(timeout_ms: int, history: AttemptCounts) -> int:
    """Return the timeout of the next attempt: half as long again once one has timed out."""
    return timeout_ms * 3 // 2 if history.timeout else timeout_ms


def decide(failure: FailureClass, history: AttemptCounts, rules: RetryRules, random: float) -> Decision:
    """Decide on an attempt that just failed with `failure`, after the attempts in `history`.

    `random`, from 0 up to but without 1, spreads the pauses of jobs that failed together.
    """
    if failure not in _DECIDERS:
        raise ValueError(f"{failure} is no failure: nothing is to be decided")
    return _DECIDERS[failure](history, rules, random)


def _app(history: AttemptCounts, rules: RetryRules, random: float) -> Decision:
    return _counted(history.app + 1, rules.max_attempts, rules, random)


def _poison(history: AttemptCounts, rules: RetryRules, random: float) -> Decision:
    return _counted(history.app + 1, min(rules.max_attempts, MAX_POISON_ATTEMPTS), rules, random)


def _counted(failures: int, allowed: int, rules: RetryRules, random: float) -> Decision:
    if failures >= allowed:
        return Bury(f"it failed {failures} of {allowed} attempts")
    return Retry(backoff(failures, rules, random))


def _crash(history: AttemptCounts, rules: RetryRules, _random: float) -> Decision:
    lost = history.crash + 1
    if lost >= rules.max_workers_lost:
        return Bury(f"{lost} workers were lost while running it")
    return Retry(0)


def _timeout(history: AttemptCounts, rules: RetryRules, random: float) -> Decision:
    if history.timeout:
        return Bury("it ran past its timeout twice")
    return Retry(backoff(1, rules, random))


def _resource(history: AttemptCounts, rules: RetryRules, random: float) -> Decision:
    if history.resource:
        return Bury("it used more than its resources allow twice")
    return Retry(backoff(1, rules, random))


def _dependency(history: AttemptCounts, rules: RetryRules, random: float) -> Decision:
    failures = history.dependency + 1
    if failures > MAX_DEPENDENCY_RETRIES:
        return Bury(f"what it depends on failed {failures} times")
    return Retry(backoff(failures, rules, random))


def _hang(_history: AttemptCounts, _rules: RetryRules, _random: float) -> Decision:
    return Bury("it made no progress for too long; a hang is not tried again")


def _permanent(_history: AttemptCounts, _rules: RetryRules, _random: float) -> Decision:
    return Bury("the failure is permanent; it is not tried again")


_DECIDERS: dict[FailureClass, Callable[[AttemptCounts, RetryRules, float], Decision]] = {
    FailureClass.APP: _app,
    FailureClass.POISON: _poison,
    FailureClass.CRASH: _crash,
    FailureClass.TIMEOUT: _timeout,
    FailureClass.RESOURCE: _resource,
    FailureClass.DEPENDENCY: _dependency,
    FailureClass.HANG: _hang,
    FailureClass.PERMANENT: _permanent,
}
