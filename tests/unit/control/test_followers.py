"""Events of the queue become statuses."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from fairway.api.phases import EventVerb, JobPhase
from fairway.control.followers import Followers
from fairway.control.jobs import Jobs
from fairway.control.statuses import Statuses
from fairway.queue import Cursor, Event, EventBatch, QueueError, Submission
from tests.unit.control.neighbours import MemoryKube, MemoryQueue, state_of, until

if TYPE_CHECKING:
    from fairway.control.jobs import JobRecord
    from fairway.kube.client import Kube
    from fairway.queue import Queue

SUBMISSION = Submission("", "red", "team-a", "command", b"{}", estimate_us=1, timeout_ms=1)


@dataclass
class EventfulQueue(MemoryQueue):
    """A queue whose events a test puts in one by one."""

    batches: asyncio.Queue[EventBatch | QueueError] = field(default_factory=asyncio.Queue)
    cursors: list[Cursor] = field(default_factory=list)

    async def events(self, _pool: str, after: Cursor, _block_ms: int) -> EventBatch:
        """Return, or raise, what the test put in."""
        self.cursors.append(after)
        batch = await self.batches.get()
        if isinstance(batch, QueueError):
            raise batch
        return batch

    def tell(self, *events: Event, gap: bool = False) -> None:
        """Have the next reader get these."""
        self.batches.put_nowait(EventBatch(list(events), Cursor("life", len(events)), gap))


@dataclass
class Scene:
    """One job in a followed pool."""

    kube: MemoryKube
    queue: EventfulQueue
    followers: Followers
    record: JobRecord
    submission: Submission
    unconfigured: list[str]
    tasks: list[asyncio.Task[None]]

    def enter(self, phase: JobPhase) -> Event:
        """Move the job to a phase, and return the event of it."""
        self.queue.jobs[self.submission.id] = state_of(self.submission, phase)
        return Event(1, EventVerb.LEASE, self.submission.id, 0, "red", {"phase": str(phase)})

    def phases(self) -> list[str]:
        """Return the phases that were written."""
        return [write["phase"] for write in self.kube.writes]

    async def close(self) -> None:
        """End what runs."""
        await self.followers.stop()
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


def _scene(submission: Submission, coalesce_s: float) -> Scene:
    kube, queue, jobs = MemoryKube(), EventfulQueue(), Jobs()
    record = jobs.observe(kube.create("one", {"pool": "demo", "command": ["true"]}))
    submission = replace(submission, id=record.id_in("demo"), origin=record.origin)
    record.submitted = True
    statuses = Statuses(cast("Kube", kube), cast("Queue", queue), jobs, coalesce_s)
    followers = Followers(cast("Queue", queue), statuses)
    scene = Scene(kube, queue, followers, record, submission, [], [asyncio.create_task(statuses.work.run())])
    followers.unconfigured = scene.unconfigured.append
    followers.ensure("demo")
    return scene


async def test_the_end_of_a_job_is_written_at_once_and_what_was_before_it_is_not() -> None:
    scene = _scene(SUBMISSION, coalesce_s=3600)
    scene.queue.tell()
    scene.queue.tell(scene.enter(JobPhase.RUNNING))
    scene.queue.tell(scene.enter(JobPhase.SUCCEEDED))
    await until(scene.phases)
    assert scene.phases() == ["Succeeded"]
    await scene.close()


async def test_a_change_is_written_when_no_other_follows() -> None:
    scene = _scene(SUBMISSION, coalesce_s=0.01)
    scene.queue.tell()
    scene.queue.tell(scene.enter(JobPhase.RUNNING))
    await until(lambda: scene.phases() == ["Running"])
    await scene.close()


async def test_after_a_gap_every_job_is_looked_at() -> None:
    scene = _scene(SUBMISSION, coalesce_s=0.01)
    scene.enter(JobPhase.RUNNING)
    scene.queue.tell()
    await until(lambda: scene.phases() == ["Running"])
    scene.enter(JobPhase.SUCCEEDED)
    scene.queue.tell(gap=True)
    await until(lambda: scene.phases() == ["Running", "Succeeded"])
    await scene.close()


async def test_a_pool_that_the_queue_forgot_is_set_up_again_and_looked_at() -> None:
    scene = _scene(SUBMISSION, coalesce_s=0.01)
    scene.queue.batches.put_nowait(QueueError("UNKNOWN_POOL", "pool demo is not known to the queue"))
    await until(lambda: scene.unconfigured == ["demo"])
    scene.enter(JobPhase.RUNNING)
    scene.queue.tell()
    await until(lambda: scene.phases() == ["Running"])
    assert scene.queue.cursors[1] == Cursor.from_now()
    await scene.close()
