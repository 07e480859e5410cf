"""What a JobPool says about its jobs: types, time limits, order, and when they are given up."""

from typing import Annotated

from fairway.api.defaults import TYPE_BREAKER, in_words, pool_default
from fairway.api.durations import Duration
from fairway.api.model import NOT_YET, ApiModel, Share, Word, says
from fairway.api.shared import Resources, Retry

MAX_TYPES = 256


class TypeBreaker(ApiModel):
    """When retries of one type are halted."""

    error_rate: Annotated[
        Share | None, says("Part of its jobs that must fail.", default=in_words(TYPE_BREAKER["errorRate"]))
    ] = None
    window: Annotated[Duration | None, says("Over how long.", default=in_words(TYPE_BREAKER["window"]))] = (
        None
    )
    consecutive: Annotated[
        int | None,
        says(
            "Or so many failures in a row; 0: not counted.",
            default=in_words(TYPE_BREAKER["consecutive"]),
            ge=0,
            le=1_000_000,
        ),
    ] = None
    open_for: Annotated[
        Duration | None, says("How long until a probe is let in.", default=in_words(TYPE_BREAKER["openFor"]))
    ] = None
    refuse_new: Annotated[
        bool | None,
        says("Whether new jobs of it are refused too.", default=in_words(TYPE_BREAKER["refuseNew"])),
    ] = None


class JobType(ApiModel):
    """A type of job that lives in the pool."""

    name: Annotated[Word, says("Name of the type, as Jobs and handlers write it.")]
    timeout: Annotated[Duration | None, says("How long one attempt may run.", default="defaults.timeout")] = (
        None
    )
    dependency: Annotated[
        Word | None,
        says("What its DEPENDENCY failures are counted against.", default="the type", pending=NOT_YET),
    ] = None
    retry: Annotated[Retry | None, says("How its failed jobs are tried again.", default="defaults.retry")] = (
        None
    )
    resources: Annotated[
        Resources | None, says("What one job may use; process and command jobs.", pending=NOT_YET)
    ] = None
    hang_after: Annotated[
        Duration | None, says("No progress for so long is a hang.", default="never", pending=NOT_YET)
    ] = None
    breaker: Annotated[TypeBreaker | None, says("When its retries are halted.", pending=NOT_YET)] = None


class JobDefaults(ApiModel):
    """For types that say nothing."""

    timeout: Annotated[
        Duration | None, says("How long one attempt may run.", default=pool_default("defaults.timeout"))
    ] = None
    estimate: Annotated[
        Duration | None,
        says(
            "What a job is thought to take until its type is measured.",
            default=pool_default("defaults.estimate"),
        ),
    ] = None
    retry: Annotated[Retry | None, says("How failed jobs are tried again.")] = None


class PriorityDelays(ApiModel):
    """A job is served as if it had come so much later."""

    high: Annotated[
        Duration | None, says("Head start lost by high priority.", default=pool_default("priority.high"))
    ] = None
    medium: Annotated[
        Duration | None, says("Head start lost by medium priority.", default=pool_default("priority.medium"))
    ] = None
    low: Annotated[
        Duration | None, says("Head start lost by low priority.", default=pool_default("priority.low"))
    ] = None
    strict: Annotated[
        bool | None,
        says("True: a higher priority always goes first.", default=pool_default("priority.strict")),
    ] = None


class Crash(ApiModel):
    """Jobs that lose their workers."""

    max_workers_lost: Annotated[
        int | None,
        says(
            "A job that lost so many workers is dead-lettered.",
            default=pool_default("crash.maxWorkersLost"),
            ge=1,
            le=1000,
        ),
    ] = None


class Poison(ApiModel):
    """Types that mostly fail."""

    failure_rate: Annotated[
        Share | None,
        says("Part of a tenant's jobs of a type that must fail.", default=pool_default("poison.failureRate")),
    ] = None
    window: Annotated[Duration | None, says("Over how long.", default=pool_default("poison.window"))] = None
    max_attempts: Annotated[
        int | None,
        says("Attempts that its jobs then get.", default=pool_default("poison.maxAttempts"), ge=1, le=100),
    ] = None
