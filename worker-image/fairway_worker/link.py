"""Calls that outlive an absence of Redis: repeated with a growing pause, told once in the log."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from typing import TYPE_CHECKING, Final, TypeVar

from fairway.queue import QueueError, QueueUnavailable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

UNKNOWN_POOL: Final = "UNKNOWN_POOL"
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 5.0
_log = logging.getLogger(__name__)
T = TypeVar("T")


class GaveUp(Exception):  # noqa: N818 - not an error: the caller's own event said to stop
    """The call was not answered before it was told to stop trying."""


class Link:
    """What the worker knows of the way to Redis, shared by all its calls."""

    def __init__(self) -> None:
        self._away_since: float | None = None

    @property
    def away_s(self) -> float:
        """For how many seconds Redis has not answered; 0 while it does."""
        return 0.0 if self._away_since is None else time.monotonic() - self._away_since

    async def call(
        self, make: Callable[[], Awaitable[T]], *, until: asyncio.Event, wait_for_pool: bool = False
    ) -> T:
        """Return the answer of a call, however often it takes to get one.

        Args:
            make: Makes the call anew for every try.
            until: Once set, a failed try is the last.
            wait_for_pool: Try again, too, while the queue does not know the pool.

        Raises:
            GaveUp: when `until` was set before an answer came.
            QueueError: UNKNOWN_POOL, unless it is to be waited for.
        """
        pause = _FIRST_PAUSE_S
        said = ""
        while True:
            try:
                answer = await make()
            except QueueUnavailable as error:
                self._note_away(error)
            except QueueError as error:
                if error.code == UNKNOWN_POOL and not wait_for_pool:
                    raise
                if said != error.code:
                    said = error.code
                    _log.warning(
                        "the queue refuses a call (%s), trying again until it does not: %s", said, error
                    )
            else:
                self._note_back()
                return answer
            await _sleep(pause * random.uniform(0.75, 1.25), until)  # noqa: S311 - spreads workers, no secret
            if until.is_set():
                raise GaveUp
            pause = min(pause * 2, _LONGEST_PAUSE_S)

    def _note_away(self, error: QueueUnavailable) -> None:
        if self._away_since is None:
            self._away_since = time.monotonic()
            _log.warning("Redis is away; jobs go on, and their ends are told when it is back: %s", error)

    def _note_back(self) -> None:
        if self._away_since is not None:
            _log.info("Redis is back after %.1f s", self.away_s)
            self._away_since = None


async def _sleep(seconds: float, until: asyncio.Event) -> None:
    try:
        async with asyncio.timeout(seconds):
            await until.wait()
    except TimeoutError:
        pass
