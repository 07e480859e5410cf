"""Carries a job's progress to the queue: the latest only, so that a busy handler costs Redis little."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from fairway.queue import QueueError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

_INTERVAL_S: Final = 0.5


class ProgressReporter:
    """Takes progress from any thread, sends it from the loop it was made in."""

    def __init__(self, send: Callable[[float, str], Awaitable[bool]], lost: Callable[[], None]) -> None:
        self._send = send
        self._lost = lost
        self._loop = asyncio.get_running_loop()
        self._latest: tuple[float, str] | None = None
        self._sending: asyncio.Task[None] | None = None
        self._closed = False

    def report(self, fraction: float, message: str) -> None:
        """Note how far the job is; it is sent soon."""
        # A closed loop: a thread outlived its worker, and nobody listens any more.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._note, (fraction, message))

    def close(self) -> None:
        """Send nothing more: the attempt is over."""
        self._closed = True
        if self._sending is not None:
            self._sending.cancel()

    def _note(self, latest: tuple[float, str]) -> None:
        if self._closed:
            return
        self._latest = latest
        if self._sending is None or self._sending.done():
            self._sending = self._loop.create_task(self._send_all())

    async def _send_all(self) -> None:
        while self._latest is not None:
            latest, self._latest = self._latest, None
            try:
                if not await self._send(*latest):
                    self._lost()
                    return
            except QueueError:
                pass  # heartbeats tell of an absent Redis; a later report makes this one good
            await asyncio.sleep(_INTERVAL_S)
