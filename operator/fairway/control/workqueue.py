"""Work by key: each key waits at most once, has one worker at a time, and is tried again after a failure.

Handlers of the API server's events only add keys here. What is to be done for a key is looked up when its
turn comes, so the latest state wins and nothing overtakes anything for the same key.
"""

from __future__ import annotations

import asyncio
import heapq
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from fairway.kube.errors import KubeError
from fairway.queue import QueueError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

logger = logging.getLogger(__name__)

K = TypeVar("K", bound="Hashable")


class TryAgain(Exception):  # noqa: N818 - no error: the work is only not done yet
    """The work for a key cannot be finished now; the message says what it waits for."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long a failed key waits: twice as long each time, up to a limit."""

    first_s: float = 0.2
    longest_s: float = 30.0

    def pause(self, failures: int) -> float:
        """Return the pause after so many failures in a row."""
        return min(self.longest_s, self.first_s * 2.0 ** min(failures - 1, 30))


class WorkQueue(Generic[K]):
    """Keys that wait for `handle`, which is called for up to `workers` of them at a time."""

    def __init__(
        self, name: str, handle: Callable[[K], Awaitable[None]], workers: int, backoff: Backoff | None = None
    ) -> None:
        self._name = name
        self._handle = handle
        self._slots = asyncio.Semaphore(workers)
        self._backoff = backoff or Backoff()
        self._due: dict[K, float] = {}
        self._order: list[tuple[float, int, K]] = []
        self._count = 0
        self._busy: set[K] = set()
        self._again: dict[K, float] = {}
        self._failures: dict[K, int] = {}
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        """Return how many keys wait or are worked on."""
        return len(self._due) + len(self._busy)

    def add(self, key: K, delay_s: float = 0.0) -> None:
        """Have a key worked on after `delay_s`, or sooner where that was asked for before."""
        when = asyncio.get_running_loop().time() + delay_s
        if key in self._busy:
            self._again[key] = min(when, self._again.get(key, when))
        elif when < self._due.get(key, float("inf")):
            self._due[key] = when
            self._count += 1
            heapq.heappush(self._order, (when, self._count, key))
            self._changed.set()

    def hurry(self) -> None:
        """Have every key that waits worked on now."""
        for key in list(self._due):
            self.add(key)

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                await self._slots.acquire()
                key = await self._next()
                self._busy.add(key)
                group.create_task(self._work(key), name=f"{self._name} {key}")

    async def _next(self) -> K:
        while True:
            self._changed.clear()
            now = asyncio.get_running_loop().time()
            while self._order:
                when, _, key = self._order[0]
                if self._due.get(key) == when and when > now:
                    break
                heapq.heappop(self._order)
                if (
                    self._due.get(key) == when
                ):  # else it was asked for sooner, and is done or elsewhere in the order
                    del self._due[key]
                    return key
            await self._wait(self._order[0][0] - now if self._order else None)

    async def _wait(self, timeout: float | None) -> None:  # noqa: ASYNC109 - the time is the next key's turn
        try:
            async with asyncio.timeout(timeout):
                await self._changed.wait()
        except TimeoutError:
            return

    async def _work(self, key: K) -> None:
        try:
            await self._handle(key)
        except Exception as error:  # noqa: BLE001 - whatever it is, this key is tried again and the others go on
            self._failed(key, error)
        else:
            self._failures.pop(key, None)
        finally:
            self._busy.discard(key)
            self._slots.release()
        if key in self._again:
            now = asyncio.get_running_loop().time()
            self.add(key, max(0.0, self._again.pop(key) - now))

    def _failed(self, key: K, error: Exception) -> None:
        failures = self._failures[key] = self._failures.get(key, 0) + 1
        pause = self._backoff.pause(failures)
        now = asyncio.get_running_loop().time()
        self._again[key] = min(now + pause, self._again.get(key, now + pause))
        told = {"key": str(key), "failures": failures, "retry_in_s": round(pause, 1)}
        if isinstance(error, TryAgain):
            logger.debug("%s waits: %s", self._name, error, extra=told)
        elif isinstance(error, (KubeError, QueueError)):
            # The first failure is told, later ones only now and then: an outage has many keys.
            level = logging.WARNING if failures & (failures - 1) == 0 else logging.DEBUG
            logger.log(level, "%s failed: %s", self._name, error, extra=told)
        else:
            logger.error("%s failed unexpectedly", self._name, exc_info=error, extra=told)
