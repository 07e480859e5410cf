"""Work by key."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fairway.control.workqueue import Backoff, TryAgain, WorkQueue
from tests.unit.control.neighbours import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable


@asynccontextmanager
async def at_work(
    handle: Callable[[str], Awaitable[None]], workers: int = 4
) -> AsyncIterator[WorkQueue[str]]:
    queue: WorkQueue[str] = WorkQueue("work", handle, workers, Backoff(first_s=0.001, longest_s=0.01))
    task = asyncio.create_task(queue.run())
    try:
        yield queue
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_key_that_waits_is_done_once() -> None:
    done: list[str] = []

    async def handle(key: str) -> None:
        done.append(key)

    async with at_work(handle) as queue:
        for _ in range(5):
            queue.add("a")
        queue.add("b")
        await until(lambda: not len(queue))
    assert sorted(done) == ["a", "b"]


async def test_a_key_is_never_worked_on_twice_at_a_time_and_not_forgotten() -> None:
    under_way, most, calls = 0, 0, 0
    release = asyncio.Event()

    async def handle(_: str) -> None:
        nonlocal under_way, most, calls
        calls += 1
        under_way += 1
        most = max(most, under_way)
        await release.wait()
        under_way -= 1

    async with at_work(handle) as queue:
        queue.add("a")
        await until(lambda: under_way)
        queue.add("a")
        queue.add("a")
        release.set()
        await until(lambda: not len(queue))
    assert (most, calls) == (1, 2)


async def test_a_failed_key_is_tried_until_it_succeeds() -> None:
    errors: list[Exception] = [TryAgain("not yet"), RuntimeError("a surprise"), TryAgain("not yet")]
    calls = 0

    async def handle(_: str) -> None:
        nonlocal calls
        calls += 1
        if errors:
            raise errors.pop()

    async with at_work(handle) as queue:
        queue.add("a")
        await until(lambda: not len(queue))
    assert calls == 4


async def test_an_earlier_wish_wins_over_a_later_one() -> None:
    done: list[str] = []

    async def handle(key: str) -> None:
        done.append(key)

    async with at_work(handle) as queue:
        queue.add("a", 3600)
        queue.add("a", 7200)
        assert len(queue) == 1
        queue.add("a")
        await until(lambda: done)
        await until(lambda: not len(queue))
    assert done == ["a"]


async def test_hurry_does_at_once_what_was_to_wait() -> None:
    done: list[str] = []

    async def handle(key: str) -> None:
        done.append(key)

    async with at_work(handle) as queue:
        queue.add("a", 3600)
        queue.add("b", 3600)
        queue.hurry()
        await until(lambda: not len(queue))
    assert sorted(done) == ["a", "b"]


async def test_no_more_than_so_many_are_worked_on() -> None:
    under_way, most = 0, 0

    async def handle(_: str) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1

    async with at_work(handle, workers=3) as queue:
        for number in range(30):
            queue.add(str(number))
        await until(lambda: not len(queue))
    assert most == 3


def test_pauses_double_up_to_the_longest() -> None:
    backoff = Backoff(first_s=0.5, longest_s=4.0)
    assert [backoff.pause(failures) for failures in (1, 2, 3, 4, 5, 1000)] == [0.5, 1.0, 2.0, 4.0, 4.0, 4.0]
