"""Jobs that a Python function runs: its result, its failures, what it is told."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from fairway.api.phases import FailureClass, JobPhase
from fairway_worker import Context, DependencyFailure, NotAvailable, Permanent, Retry, Worker
from tests.worker.support import Bench, until


@pytest.fixture
def app() -> Worker:
    return Worker()


async def test_the_built_in_echo_returns_its_payload(bench: Bench) -> None:
    async with bench.worker():
        payload = {"nested": {"list": [1, "two", None]}, "text": "grün"}
        assert await bench.succeeds(await bench.submit("echo", payload=payload)) == payload


async def test_an_async_handler_is_told_who_it_works_for(bench: Bench, app: Worker) -> None:
    @app.job("about")
    async def about(ctx: Context, payload: dict[str, Any]) -> dict[str, Any]:
        await ctx.progress(0.5, "half")
        return {
            "id": ctx.job_id,
            "who": [ctx.type, ctx.tenant, ctx.account],
            "attempt": [ctx.attempt, ctx.first_attempt],
            "asked": [ctx.cancelled, ctx.checkpoint_requested],
            "payload": payload,
        }

    async with bench.worker(app):
        job = await bench.submit("about", payload={"n": 1})
        assert await bench.succeeds(job) == {
            "id": job,
            "who": ["about", "team", "alice"],
            "attempt": [1, True],
            "asked": [False, False],
            "payload": {"n": 1},
        }


async def test_plain_functions_run_in_threads_at_the_same_time(bench: Bench, app: Worker) -> None:
    meeting = threading.Barrier(3, timeout=20)

    @app.job("meet")
    def meet(ctx: Context, payload: dict[str, Any]) -> str:
        del payload
        ctx.progress(0.1, "waiting")
        meeting.wait()
        return threading.current_thread().name

    async with bench.worker(app, concurrency=3):
        jobs = [await bench.submit("meet") for _ in range(3)]
        for job in jobs:
            assert await bench.succeeds(job) != threading.current_thread().name


async def test_progress_is_seen_while_the_job_runs(bench: Bench, app: Worker) -> None:
    seen = asyncio.Event()

    @app.job("slow")
    async def slow(ctx: Context, payload: dict[str, Any]) -> None:
        del payload
        await ctx.progress(0.25, "a quarter")
        await seen.wait()

    async with bench.worker(app):
        job = await bench.submit("slow")

        async def reported() -> bool:
            state = await bench.state(job)
            return (state.progress, state.message) == (0.25, "a quarter")

        await until(reported, "the progress to be seen")
        seen.set()
        assert await bench.succeeds(job) is None


async def test_a_failing_handler_is_retried_then_dead_lettered(bench: Bench, app: Worker) -> None:
    @app.job("broken")
    async def broken(ctx: Context, _payload: dict[str, Any]) -> None:
        raise ValueError(f"no luck at attempt {ctx.attempt}")

    async with bench.worker(app):
        state = await bench.fails(await bench.submit("broken"))
    assert [attempt.cls for attempt in state.attempts] == [FailureClass.APP, FailureClass.APP]
    assert [attempt.error for attempt in state.attempts] == [
        "ValueError: no luck at attempt 1",
        "ValueError: no luck at attempt 2",
    ]


def _raise(error: BaseException) -> Any:
    raise error


@pytest.mark.parametrize(
    ("error", "cls", "words"),
    [
        (Permanent("the picture is broken"), FailureClass.PERMANENT, "the picture is broken"),
        (NotAvailable("ctx.checkpoint()"), FailureClass.PERMANENT, "not available in this version"),
        (SystemExit(3), FailureClass.APP, "the handler called exit(3)"),
        (asyncio.CancelledError(), FailureClass.APP, "the handler cancelled itself"),
        (MemoryError(), FailureClass.RESOURCE, "ran out of memory"),
        (RuntimeError("half a \ud800 pair"), FailureClass.APP, "half a ? pair"),
    ],
)
@pytest.mark.parametrize("is_async", [True, False])
async def test_what_a_handler_raises_tells_the_class(
    bench: Bench, error: BaseException, cls: FailureClass, words: str, *, is_async: bool
) -> None:
    app = Worker()

    async def in_the_loop(_ctx: Context, _payload: dict[str, Any]) -> None:
        _raise(error)

    app.job("raise")(in_the_loop if is_async else lambda _ctx, _payload: _raise(error))
    async with bench.worker(app):
        state = await bench.fails(await bench.submit("raise"))
    assert state.attempts[0].cls is cls
    assert words in state.attempts[0].error


async def test_a_dependency_failure_and_a_wished_retry_come_again(bench: Bench, app: Worker) -> None:
    @app.job("patient")
    async def patient(ctx: Context, _payload: dict[str, Any]) -> int:
        if ctx.attempt == 1:
            raise DependencyFailure("the store is away")
        if ctx.attempt == 2:
            raise Retry("not yet", after=0.01)
        return ctx.attempt

    async with bench.worker(app):
        job = await bench.submit("patient")
        assert await bench.succeeds(job) == 3
    classes = [attempt.cls for attempt in (await bench.state(job)).attempts]
    assert classes == [FailureClass.DEPENDENCY, FailureClass.APP, FailureClass.OK]


async def test_the_pause_that_a_retry_wishes_for_is_kept(bench: Bench, app: Worker) -> None:
    @app.job("later")
    async def later(_ctx: Context, _payload: dict[str, Any]) -> None:
        raise Retry(after="1h")

    async with bench.worker(app):
        state = await bench.reaches(await bench.submit("later"), JobPhase.SCHEDULED)
    ended = state.attempts[0].ended_at_ms
    assert ended is not None
    assert state.due_at_ms is not None
    assert abs(state.due_at_ms - ended - 3_600_000) < 1000


async def test_an_unknown_type_says_what_there_is(bench: Bench, app: Worker) -> None:
    for name in ("resize", "crop"):
        app.job(name)(lambda _ctx, _payload: None)
    async with bench.worker(app):
        state = await bench.fails(await bench.submit("resise"))
    assert [attempt.cls for attempt in state.attempts] == [FailureClass.PERMANENT]
    assert state.attempts[0].error == 'no handler named "resise" in this worker (it has: crop, resize)'


@pytest.mark.parametrize(
    ("result", "words"),
    [({1, 2}, "not JSON"), (float("nan"), "not JSON"), ("x" * (1 << 20), "the limit is 1048576")],
)
async def test_a_result_that_cannot_be_kept_is_a_clear_failure(
    bench: Bench, app: Worker, result: object, words: str
) -> None:
    app.job("odd")(lambda _ctx, _payload: result)
    async with bench.worker(app):
        state = await bench.fails(await bench.submit("odd"))
    assert state.attempts[0].cls is FailureClass.PERMANENT
    assert words in state.attempts[0].error


async def test_checkpoints_say_that_they_are_not_there_yet(bench: Bench, app: Worker) -> None:
    @app.job("train")
    async def train(ctx: Context, _payload: dict[str, Any]) -> None:
        ctx.load_checkpoint()

    async with bench.worker(app):
        state = await bench.fails(await bench.submit("train"))
    assert state.attempts[0].error == "ctx.load_checkpoint() is not available in this version of Fairway"


async def test_hooks_run_before_the_first_and_after_the_last_job(bench: Bench, app: Worker) -> None:
    steps: list[str] = []

    @app.on_startup
    async def load() -> None:
        steps.append("start")

    @app.on_shutdown
    def unload() -> None:
        steps.append("end")

    app.job("work")(lambda _ctx, _payload: steps.append("work"))
    async with bench.worker(app):
        await bench.succeeds(await bench.submit("work"))
    assert steps == ["start", "work", "end"]


def test_a_program_of_handlers_that_cannot_work_is_refused_at_once(app: Worker) -> None:
    app.job("once")(lambda _ctx, _payload: None)
    with pytest.raises(ValueError, match='two handlers are named "once"'):
        app.job("once")(lambda _ctx, _payload: None)
    with pytest.raises(TypeError, match="must take a context and a payload"):
        app.job("short")(lambda _ctx: None)  # type: ignore[type-var]
    with pytest.raises(NotAvailable, match="process=True"):
        app.job("heavy", process=True)
    with pytest.raises(ValueError, match="in the past"):
        Retry(after=-1)
