"""What follows a failed attempt."""

from __future__ import annotations

from itertools import pairwise

import pytest

from fairway.api.phases import FailureClass
from fairway.policy.retry import (
    DEFAULT_BACKOFF_MS,
    MAX_DEPENDENCY_RETRIES,
    AttemptCounts,
    Bury,
    Retry,
    RetryRules,
    attempt_timeout,
    backoff,
    counts,
    decide,
)

RULES = RetryRules(max_attempts=3, backoff_ms=(1_000, 5_000), jitter=0.0)
FRESH = AttemptCounts()
MIDDLE = 0.5


def test_app_failures_use_up_the_attempts() -> None:
    assert decide(FailureClass.APP, FRESH, RULES, MIDDLE) == Retry(1_000)
    assert decide(FailureClass.APP, AttemptCounts(app=1), RULES, MIDDLE) == Retry(5_000)
    assert decide(FailureClass.APP, AttemptCounts(app=2), RULES, MIDDLE) == Bury("it failed 3 of 3 attempts")


def test_one_attempt_means_no_retry() -> None:
    assert isinstance(decide(FailureClass.APP, FRESH, RetryRules(max_attempts=1), MIDDLE), Bury)


def test_what_does_not_count_leaves_the_attempts_alone() -> None:
    lost = AttemptCounts(crash=4, dependency=50, timeout=1, resource=1)
    assert decide(FailureClass.APP, lost, RULES, MIDDLE) == Retry(1_000)


def test_poison_gets_two_attempts_at_most() -> None:
    assert decide(FailureClass.POISON, FRESH, RULES, MIDDLE) == Retry(1_000)
    assert isinstance(decide(FailureClass.POISON, AttemptCounts(app=1), RULES, MIDDLE), Bury)


def test_a_lost_worker_is_retried_at_once_until_too_many_were_lost() -> None:
    assert decide(FailureClass.CRASH, AttemptCounts(crash=3), RULES, MIDDLE) == Retry(0)
    assert decide(FailureClass.CRASH, AttemptCounts(crash=4), RULES, MIDDLE) == Bury(
        "5 workers were lost while running it",
    )


@pytest.mark.parametrize(
    ("failure", "before"),
    [
        (FailureClass.TIMEOUT, AttemptCounts(timeout=1)),
        (FailureClass.RESOURCE, AttemptCounts(resource=1)),
    ],
)
def test_one_retry_and_no_more(failure: FailureClass, before: AttemptCounts) -> None:
    assert decide(failure, FRESH, RULES, MIDDLE) == Retry(1_000)
    assert isinstance(decide(failure, before, RULES, MIDDLE), Bury)


def test_dependencies_are_waited_for_long_but_not_for_ever() -> None:
    last = AttemptCounts(dependency=MAX_DEPENDENCY_RETRIES - 1)
    assert decide(FailureClass.DEPENDENCY, last, RULES, MIDDLE) == Retry(5_000)
    beyond = AttemptCounts(dependency=MAX_DEPENDENCY_RETRIES)
    assert isinstance(decide(FailureClass.DEPENDENCY, beyond, RULES, MIDDLE), Bury)


@pytest.mark.parametrize("failure", [FailureClass.PERMANENT, FailureClass.HANG])
def test_some_failures_are_final(failure: FailureClass) -> None:
    assert isinstance(decide(failure, FRESH, RULES, MIDDLE), Bury)


@pytest.mark.parametrize("ending", [FailureClass.OK, FailureClass.RELEASED, FailureClass.CANCELLED])
def test_what_is_no_failure_is_not_decided(ending: FailureClass) -> None:
    with pytest.raises(ValueError, match="no failure"):
        decide(ending, FRESH, RULES, MIDDLE)


@pytest.mark.parametrize("failure", list(FailureClass))
def test_every_class_is_either_decided_or_no_failure(failure: FailureClass) -> None:
    if failure in {FailureClass.OK, FailureClass.RELEASED, FailureClass.CANCELLED}:
        return
    assert isinstance(decide(failure, FRESH, RULES, MIDDLE), Retry | Bury)


def test_default_pauses_are_the_promised_ones_with_a_quarter_of_jitter() -> None:
    rules = RetryRules()
    pauses = [backoff(failures, rules, MIDDLE) for failures in range(1, 8)]
    assert pauses == [*DEFAULT_BACKOFF_MS, 1_800_000, 1_800_000]
    assert (backoff(1, rules, 0.0), backoff(1, rules, 0.999_999)) == (750, 1_250)
    spread = [backoff(2, rules, number / 10) for number in range(10)]
    assert all(earlier < later for earlier, later in pairwise(spread))


def test_no_pauses_mean_none() -> None:
    assert backoff(1, RetryRules(backoff_ms=()), MIDDLE) == 0


def test_the_attempt_after_a_timeout_has_half_as_long_again() -> None:
    assert attempt_timeout(30_000, FRESH) == 30_000
    assert attempt_timeout(30_000, AttemptCounts(timeout=1)) == 45_000


def test_what_counts() -> None:
    uncounted = {failure for failure in FailureClass if not counts(failure)}
    assert uncounted == {
        FailureClass.CRASH,
        FailureClass.DEPENDENCY,
        FailureClass.RELEASED,
        FailureClass.CANCELLED,
    }
