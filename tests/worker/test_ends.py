"""How a job's run ends when it is not the job that decides: cancel, drain, a lost lease, Redis away."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any

from fairway.api.phases import FailureClass, JobPhase
from fairway.queue import PoolConfig, Queue, WorkerIdentity
from fairway_worker import Context, Worker, running
from fairway_worker.runtime import EXIT_STUCK, Runtime
from tests.worker.support import Bench, content, log_lines, process_lives, until, until_true

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    import pytest

    from hack.redis_server import RedisServer

PROGRAMS = "tests.worker.programs:worker"


async def ended(worker: subprocess.Popen[bytes]) -> int:
    await until_true(lambda: worker.poll() is not None, "the worker to end")
    return worker.returncode


# -- cancel ------------------------------------------------------------------------------------------------


async def test_an_async_handler_sees_the_cancel_and_may_end_by_itself(bench: Bench) -> None:
    app, polite = Worker(), asyncio.Event()

    @app.job("polite")
    async def handler(ctx: Context, payload: dict[str, Any]) -> None:
        del payload
        while not ctx.cancelled:
            await ctx.progress(0.5)
        polite.set()

    async with bench.worker(app):
        job = await bench.submit("polite")
        await bench.starts(job)
        await bench.queue.cancel(bench.pool, job, "no longer wanted")
        state = await bench.reaches(job, JobPhase.CANCELLED)
    assert polite.is_set()
    assert state.attempts[-1].cls is FailureClass.CANCELLED


async def test_an_async_handler_that_does_not_look_is_cancelled_after_the_grace(bench: Bench) -> None:
    app, interrupted = Worker(), asyncio.Event()

    @app.job("busy")
    async def handler(ctx: Context, payload: dict[str, Any]) -> None:
        del ctx, payload
        try:
            await asyncio.Event().wait()
        finally:
            interrupted.set()

    async with bench.worker(app):
        job = await bench.submit("busy", cancel_grace_ms=50)
        await bench.starts(job)
        await bench.queue.cancel(bench.pool, job, "no longer wanted")
        await bench.reaches(job, JobPhase.CANCELLED)
    assert interrupted.is_set()


async def test_a_cancel_that_races_a_dispatch_wins_before_the_handler_starts(bench: Bench) -> None:
    app, ran = Worker(), []
    app.job("never")(lambda ctx, _payload: ran.append(ctx.job_id))
    async with Queue.connect(bench.url) as queue:
        runtime = Runtime(app, bench.settings(), queue)
        job = await bench.submit("never")
        # The worker's lease is answered, and the cancel is in its inbox, before it acts on either.
        (lease,) = (await queue.lease(bench.pool, runtime.identity, 1)).jobs
        await bench.queue.cancel(bench.pool, job, "no longer wanted")
        for message in await queue.wait(bench.pool, runtime.identity.name, 1):
            runtime._heed_signal(message)  # noqa: SLF001 - this order of events cannot be forced from outside
        runtime._start(lease)  # noqa: SLF001 - the same
        await bench.reaches(job, JobPhase.CANCELLED)
    assert not ran


# -- timeout -----------------------------------------------------------------------------------------------


async def test_an_async_handler_past_its_timeout_is_ended(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "STOP_GRACE_S", 0.05)
    app = Worker()

    @app.job("slow")
    async def handler(ctx: Context, payload: dict[str, Any]) -> None:
        del ctx, payload
        await asyncio.Event().wait()

    async with bench.worker(app):
        state = await bench.fails(await bench.submit("slow", timeout_ms=100))
    assert [attempt.cls for attempt in state.attempts] == [FailureClass.TIMEOUT, FailureClass.TIMEOUT]


async def test_a_thread_that_cannot_be_ended_makes_the_worker_give_its_jobs_back_and_restart(
    bench: Bench, tmp_path: Path
) -> None:
    log, started = tmp_path / "log", {name: str(tmp_path / name) for name in ("deaf", "other")}
    with bench.process(log, PROGRAMS, FAIRWAY_CONCURRENCY="2") as worker:
        other = await bench.submit("wait-for-file", payload={"started": started["other"], "go": "/nowhere"})
        deaf = await bench.submit("deaf", payload={"started": started["deaf"]}, cancel_grace_ms=10)
        await until_true(lambda: (tmp_path / "deaf").exists() and (tmp_path / "other").exists(), "both jobs")
        await bench.queue.cancel(bench.pool, deaf, "no longer wanted")
        assert await ended(worker) == EXIT_STUCK
    assert (await bench.state(deaf)).phase is JobPhase.CANCELLED
    state = await bench.state(other)
    assert (state.phase, state.attempts[-1].cls) == (JobPhase.QUEUED, FailureClass.RELEASED)


# -- drain -------------------------------------------------------------------------------------------------


async def test_a_drained_worker_finishes_what_it_runs_and_takes_nothing_new(
    bench: Bench, tmp_path: Path
) -> None:
    log, started, go = tmp_path / "log", tmp_path / "started", tmp_path / "go"
    with bench.process(log, PROGRAMS, FAIRWAY_DRAIN_SECONDS="60") as worker:
        job = await bench.submit("wait-for-file", payload={"started": str(started), "go": str(go)})
        await until_true(started.exists, "the job to start")
        worker.send_signal(signal.SIGTERM)
        await until_true(lambda: "draining" in content(log), "the drain")
        late = await bench.submit("wait-for-file", payload={"started": str(started), "go": str(go)})
        go.touch()
        assert await bench.succeeds(job) == "went"
        assert await ended(worker) == 0
    assert (await bench.state(late)).phase is JobPhase.QUEUED
    assert all(line["message"] for line in log_lines(log))


async def test_a_drain_gives_back_what_does_not_finish_in_time(bench: Bench, tmp_path: Path) -> None:
    log, started = tmp_path / "log", tmp_path / "started"
    with bench.process(log, PROGRAMS, FAIRWAY_DRAIN_SECONDS="0.1", FAIRWAY_CONCURRENCY="2") as worker:
        handler = await bench.submit("wait-for-file", payload={"started": str(started), "go": "/nowhere"})
        command = await bench.shell(f"echo $$ > {tmp_path}/pid; exec sleep 1000")
        await until_true(lambda: started.exists() and bool(content(tmp_path / "pid")), "both to start")
        worker.send_signal(signal.SIGTERM)
        assert await ended(worker) == 0
    for job in (handler, command):
        state = await bench.state(job)
        assert state.phase is JobPhase.QUEUED
        assert [(a.cls, a.counted) for a in state.attempts] == [(FailureClass.RELEASED, False)]
    assert not process_lives(int(content(tmp_path / "pid")))
    async with bench.worker():  # and another worker takes it up
        await bench.starts(command)


async def test_a_second_sigterm_shortens_the_drain(bench: Bench, tmp_path: Path) -> None:
    log, started = tmp_path / "log", tmp_path / "started"
    with bench.process(log, PROGRAMS, FAIRWAY_DRAIN_SECONDS="3600") as worker:
        job = await bench.submit("wait-for-file", payload={"started": str(started), "go": "/nowhere"})
        await until_true(started.exists, "the job to start")
        worker.send_signal(signal.SIGTERM)
        await until_true(lambda: "draining" in content(log), "the drain")
        worker.send_signal(signal.SIGTERM)
        assert await ended(worker) == 0
    assert (await bench.state(job)).phase is JobPhase.QUEUED


async def test_a_worker_without_jobs_goes_at_once_and_is_woken_no_more(bench: Bench, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with bench.process(log, FAIRWAY_DRAIN_SECONDS="3600") as worker:
        await until_true(lambda: "works for pool" in content(log), "the worker")
        async with bench.worker():
            pass  # one that came and went: its place among the idle is gone with it
        worker.send_signal(signal.SIGTERM)
        assert await ended(worker) == 0


# -- a lost lease ------------------------------------------------------------------------------------------


async def test_a_worker_that_lost_its_lease_stops_the_job_and_discards_its_result(
    bench: Bench, tmp_path: Path
) -> None:
    await bench.queue.configure_pool(bench.pool, PoolConfig(lease_ms=600))
    log, pid = tmp_path / "log", tmp_path / "pid"
    other = WorkerIdentity("other", "node")
    with bench.process(log) as worker:
        script = f"echo $$ >> {pid}; echo '\"late\"' > $FAIRWAY_RESULT_FILE; exec sleep 1000"
        job = await bench.shell(script)
        await until_true(lambda: bool(content(pid)), "the job to start")
        worker.send_signal(signal.SIGSTOP)

        async def taken() -> Any:
            return (await bench.queue.lease(bench.pool, other, 1)).jobs

        (lease,) = await until(taken, "the lease to expire and the job to come to another worker")
        worker.send_signal(signal.SIGCONT)
        await until_true(
            lambda: not process_lives(int(content(pid).split()[0])), "the fenced run to be ended"
        )
        await until_true(lambda: "discarded" in content(log), "the worker to say so")
        assert await bench.queue.complete(bench.pool, job, lease.lease_id, b'"mine"', 1)
    state = await bench.state(job)
    assert (state.phase, state.result) == (JobPhase.SUCCEEDED, b'"mine"')
    assert [attempt.cls for attempt in state.attempts] == [FailureClass.CRASH, FailureClass.OK]


async def test_heartbeats_keep_a_job_that_is_longer_than_its_lease(bench: Bench) -> None:
    await bench.queue.configure_pool(bench.pool, PoolConfig(lease_ms=300))
    async with bench.worker():
        job = await bench.shell("sleep 1.2; echo 1 > $FAIRWAY_RESULT_FILE")
        await bench.starts(job)

        async def swept() -> bool:
            await bench.queue.sweep(bench.pool)  # what another worker would do, all the time
            return (await bench.state(job)).phase is JobPhase.SUCCEEDED

        await until(swept, "the job to succeed")
    assert [attempt.cls for attempt in (await bench.state(job)).attempts] == [FailureClass.OK]


async def test_many_short_jobs_over_two_workers_run_once_each(bench: Bench) -> None:
    app, ran = Worker(), []

    @app.job("count")
    async def count(ctx: Context, _payload: dict[str, Any]) -> None:
        await asyncio.sleep(0)
        ran.append(ctx.job_id)

    async with bench.worker(app, concurrency=20), bench.worker(app, concurrency=5):
        jobs = await asyncio.gather(*(bench.submit("count") for _ in range(300)))
        for job in jobs:
            await bench.succeeds(job)
    assert sorted(ran) == sorted(jobs)


# -- Redis away --------------------------------------------------------------------------------------------


async def test_redis_restarts_in_the_middle_and_every_job_succeeds_once(
    frail_bench: Bench, own_redis: RedisServer, tmp_path: Path
) -> None:
    log, ran = tmp_path / "log", tmp_path / "ran"
    with frail_bench.process(log, FAIRWAY_CONCURRENCY="4") as worker:
        jobs = [await frail_bench.shell(f"echo $FAIRWAY_JOB_ID >> {ran}; sleep 0.2") for _ in range(24)]
        await until_true(lambda: len(content(ran).split()) >= 6, "some jobs to have run")
        own_redis.kill()
        await until_true(lambda: "Redis is away" in content(log), "the worker to notice")
        own_redis.start()
        for job in jobs:
            await frail_bench.reaches(job, JobPhase.SUCCEEDED)
        worker.send_signal(signal.SIGTERM)
        assert await ended(worker) == 0
    assert sorted(content(ran).split()) == sorted(jobs)
    said = [line["message"] for line in log_lines(log) if "Redis is" in line["message"]]
    assert len(said) == 2, said
    assert said[1].startswith("Redis is back after")


async def test_a_draining_worker_that_is_cut_off_ends_its_jobs_after_the_lease(
    frail_bench: Bench, own_redis: RedisServer, tmp_path: Path
) -> None:
    await frail_bench.queue.configure_pool(frail_bench.pool, PoolConfig(lease_ms=600))
    log, pid = tmp_path / "log", tmp_path / "pid"
    with frail_bench.process(log, FAIRWAY_DRAIN_SECONDS="3600") as worker:
        await frail_bench.shell(f"echo $$ > {pid}; exec sleep 1000")
        await until_true(lambda: bool(content(pid)), "the job to start")
        own_redis.kill()
        worker.send_signal(signal.SIGTERM)
        assert await ended(worker) == 0
    assert not process_lives(int(content(pid)))


async def test_a_worker_waits_for_its_pool_to_be_made(bench: Bench) -> None:
    late = Bench(bench.queue, bench.url, f"{bench.pool}-late")
    async with late.worker() as runtime:
        await asyncio.sleep(0)
        assert runtime.not_ready()
        await late.queue.configure_pool(late.pool, PoolConfig(lease_ms=30_000))
        await until_true(lambda: not runtime.not_ready(), "the worker to be ready")
