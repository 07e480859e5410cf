"""The worker's life: lease as many jobs as there are free slots, keep them alive, end them, go in order."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import time
from typing import TYPE_CHECKING, Final

from fairway.queue import Ask, QueueError, SignalKind, WorkerIdentity
from fairway_worker import logs
from fairway_worker.health import Health
from fairway_worker.hooks import run_hooks
from fairway_worker.link import GaveUp, Link
from fairway_worker.outcome import StopReason
from fairway_worker.reporting import Reporter
from fairway_worker.running import STOP_GRACE_S
from fairway_worker.starting import Starter

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any

    from fairway.queue import Lease, Queue, Signal
    from fairway_worker.app import Worker
    from fairway_worker.running import JobRun
    from fairway_worker.settings import Settings

EXIT_CRASHED: Final = 1
EXIT_STUCK: Final = 70
"""A job could not be ended: the process must not go on, and cannot end in order."""

_IDLE_S: Final = (
    10.0  # an idle worker renews its place so often, and so finds what a lost wake would have told
)
_SHORTEST_PAUSE_S: Final = 0.02
_INBOX_S: Final = 20.0
_LAST_LEASE_S: Final = 5.0  # how long a lease that is being answered is waited for when the worker goes
_LEAVE_S: Final = 2.0
_CUT_OFF_CHECK_S: Final = 0.2
_log = logging.getLogger(__name__)


class Runtime:
    """One worker process. `run` returns its exit code after `drain`."""

    def __init__(self, app: Worker, settings: Settings, queue: Queue) -> None:
        self._app = app
        self._queue = queue
        self._pool = settings.pool
        self._slots = settings.concurrency
        self._drain_s = settings.drain_seconds
        # A restarted container has its pod's name again: the suffix keeps it from its forerunner's inbox.
        self.identity = WorkerIdentity(f"{settings.worker_name}-{secrets.token_hex(3)}", settings.node_name)
        self.health = Health(settings.health_port, self.not_ready)
        self._draining, self._hurry, self._cut_off = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._link = Link()
        self._reporter = Reporter(queue, self._link, until=self._cut_off)
        self._starter = Starter(app, queue, os.environ)
        self._runs: dict[
            str, JobRun
        ] = {}  # by lease id: a lost job may come back while its old run still ends
        self._tasks: set[asyncio.Task[None]] = set()
        self._early_cancels: set[str] = set()
        self._wake, self._started, self._ended = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._last_beat = 0.0
        self._accepting = False
        self._exit_code = 0

    # -- from outside --------------------------------------------------------------------------------------

    def drain(self) -> None:
        """Take no more jobs, let those that run finish, then end. A second call gives them back at once."""
        if self._draining.is_set():
            self._hurry.set()
        self._draining.set()
        self._wake.set()

    def not_ready(self) -> str:
        """Return why the worker neither takes nor holds work; nothing when it does."""
        if self._runs:
            return ""
        if self._draining.is_set():
            return "draining"
        if self._link.away_s:
            return "Redis is away"
        return "" if self._accepting else "starting: no answer from the pool's queue yet"

    async def run(self) -> int:
        """Work until `drain`, and return the exit code."""
        async with self.health.serving():
            await run_hooks(self._app.startup_hooks)
            _log.info(
                'worker "%s" works for pool "%s", slots: %d', self.identity.name, self._pool, self._slots
            )
            leasing = self._guarded(self._lease_jobs())
            others = [self._guarded(self._read_inbox()), self._guarded(self._beat())]
            try:
                await self._draining.wait()
                await self._drain(leasing)
            finally:
                await _cancel(leasing, *others, *self._tasks)
            await run_hooks(self._app.shutdown_hooks)
        _log.info("worker ended")
        return self._exit_code

    # -- taking jobs ---------------------------------------------------------------------------------------

    async def _lease_jobs(self) -> None:
        while not self._draining.is_set():
            self._wake.clear()
            free = self._slots - len(self._runs)
            pause: float | None = None
            if free > 0:
                leased = await self._link.call(
                    lambda free=free: self._queue.lease(self._pool, self.identity, free),  # type: ignore[misc]
                    until=self._draining,
                    wait_for_pool=True,
                )
                self._accepting = True
                for lease in leased.jobs:
                    self._start(lease)
                self._early_cancels.clear()
                if leased.jobs:
                    continue  # with slots left, only an empty answer makes us known as idle
                due = leased.next_due_ms
                pause = _IDLE_S if due is None else min(_IDLE_S, max(_SHORTEST_PAUSE_S, due / 1000))
            await _wait(self._wake, pause)

    def _start(self, lease: Lease) -> None:
        run = self._starter.prepare(lease)
        if self._draining.is_set():
            run.stop(StopReason.RELEASE, 0)
        elif lease.job_id in self._early_cancels:
            run.stop(StopReason.CANCEL, 0)
        if not self._runs:
            self._last_beat = time.monotonic()
        self._runs[lease.lease_id] = run
        self._started.set()
        task = asyncio.create_task(self._run_job(run))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run_job(self, run: JobRun) -> None:
        lease = run.lease
        with logs.about(jobID=lease.job_id, job=run.name, type=lease.type, tenant=lease.tenant):
            try:
                _log.info("started, attempt %d", lease.attempt)
                outcome = await run.outcome()
                ran_us = run.ran_us
                if run.stuck:
                    self._give_way()
                await self._reporter.report(lease, outcome, ran_us)
            except GaveUp:
                _log.warning("Redis stayed away; what the job did here is discarded")
            except Exception:  # noqa: BLE001 - one job must not take the others with it
                # The job's own errors never get here. The lease expires, and the job is tried elsewhere.
                _log.exception("the worker failed to run or report the job")
            finally:
                del self._runs[lease.lease_id]
                self._wake.set()
                self._ended.set()

    def _give_way(self) -> None:
        """A thread or task cannot be killed: give the other jobs back and end the process with it."""
        _log.error("the job goes on although it was told to end: the worker gives its jobs back and restarts")
        self._exit_code = EXIT_STUCK
        self.drain()
        self._hurry.set()

    # -- keeping them --------------------------------------------------------------------------------------

    async def _read_inbox(self) -> None:
        while True:
            signals = await self._link.call(
                lambda: self._queue.wait(self._pool, self.identity.name, _INBOX_S), until=self._cut_off
            )
            for signal in signals:
                self._heed_signal(signal)

    def _heed_signal(self, signal: Signal) -> None:
        if signal.kind is SignalKind.WAKE:
            self._wake.set()
        elif signal.job_id is not None:
            run = self._run_of(signal.job_id)
            if run is None:
                self._early_cancels.add(signal.job_id)  # its lease may be on its way to us
            else:
                run.stop(StopReason.CANCEL, run.cancel_grace_s)

    async def _beat(self) -> None:
        while True:
            await self._until_beat()
            try:
                asks = await self._link.call(
                    lambda: self._queue.heartbeat(self._pool, self.identity, self._held()),
                    until=self._cut_off,
                )
            except QueueError:  # the pool is gone, and every lease with it
                asks = dict.fromkeys(self._held(), Ask.LOST)
            self._last_beat = time.monotonic()
            for job_id, ask in asks.items():
                self._heed_ask(job_id, ask)

    async def _until_beat(self) -> None:
        """Return when a third of the shortest lease has passed since the last heartbeat."""
        while True:
            self._started.clear()
            leases = [run.lease.lease_ms for run in self._runs.values() if not run.lost]
            due = self._last_beat + min(leases) / 3000 - time.monotonic() if leases else None
            if due is not None and due <= 0:
                return
            await _wait(self._started, due)

    def _heed_ask(self, job_id: str, ask: Ask) -> None:
        run = self._run_of(job_id)
        if run is None or ask is Ask.CONTINUE:
            return
        if ask is Ask.LOST:
            run.stop(StopReason.LOST, 0)
        else:
            run.stop(StopReason.CANCEL, run.cancel_grace_s)

    def _held(self) -> dict[str, str]:
        return {run.lease.job_id: run.lease.lease_id for run in self._runs.values() if not run.lost}

    def _run_of(self, job_id: str) -> JobRun | None:
        runs = self._runs.values()
        return next((run for run in runs if run.lease.job_id == job_id and not run.lost), None)

    # -- going ---------------------------------------------------------------------------------------------

    async def _drain(self, leasing: asyncio.Task[None]) -> None:
        """End in order: no more leases, time for what runs, the rest given back."""
        until = time.monotonic() + self._drain_s
        _log.info("draining: %d jobs have %g s to finish", len(self._runs), self._drain_s)
        watching = asyncio.create_task(self._watch_for_cut_off())
        try:
            await asyncio.wait({leasing}, timeout=_LAST_LEASE_S)
            await self._leave()
            while self._runs and not self._hurry.is_set() and time.monotonic() < until:
                self._ended.clear()
                await _wait_any(self._ended, self._hurry, seconds=until - time.monotonic())
            for run in self._runs.values():
                run.stop(StopReason.RELEASE, STOP_GRACE_S)
            while self._runs:
                self._ended.clear()
                await self._ended.wait()
        finally:
            await _cancel(watching)

    async def _leave(self) -> None:
        """Stop counting as idle, so that no wake meant for the living comes here."""
        try:
            async with asyncio.timeout(_LEAVE_S):
                await self._queue.lease(self._pool, self.identity, 0)
        except (TimeoutError, QueueError) as error:
            _log.debug("could not take leave of the queue: %s", error)

    async def _watch_for_cut_off(self) -> None:
        """Give up once Redis has been away for longer than the leases: they are lost whatever we do."""
        while True:
            longest_s = max((run.lease.lease_ms / 1000 for run in self._runs.values()), default=0.0)
            if self._runs and self._link.away_s > longest_s:
                break
            await asyncio.sleep(_CUT_OFF_CHECK_S)
        _log.error("Redis has been away for longer than the lease: the jobs are ended, others will run them")
        for run in self._runs.values():
            run.stop(StopReason.LOST, 0)
        self._cut_off.set()

    def _guarded(self, loop: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Run one of the loops; if it breaks, the worker ends in order instead of living on as a half."""

        async def run() -> None:
            try:
                await loop
            except GaveUp:
                pass  # the worker is on its way out
            except Exception:  # noqa: BLE001 - whatever it was, the jobs are given back in order
                _log.exception("the worker broke; it drains and ends")
                self._exit_code = EXIT_CRASHED
                self.drain()

        return asyncio.create_task(run())


async def _wait(event: asyncio.Event, seconds: float | None) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass


async def _wait_any(*events: asyncio.Event, seconds: float) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    await asyncio.wait(waits, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)
    await _cancel(*waits)


async def _cancel(*tasks: asyncio.Future[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
