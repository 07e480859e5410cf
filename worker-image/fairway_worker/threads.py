"""Blocking calls in daemon threads: one that never returns must not keep the process from ending."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from contextvars import copy_context
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class _Call:
    """What a thread leaves behind; not a Future's exception, which could not hold a StopIteration."""

    value: object = None
    error: BaseException | None = None


async def in_thread(function: Callable[[], T]) -> T:
    """Run a blocking function in a thread of its own, and return or raise what it does.

    A thread per call rather than an executor's: those are joined when the process ends, and there are
    fewer of them than a worker may have slots.
    """
    loop = asyncio.get_running_loop()
    ended = loop.create_future()
    call = _Call()

    def tell() -> None:
        if not ended.done():
            ended.set_result(None)

    def run() -> None:
        try:
            call.value = function()
        except BaseException as error:  # noqa: BLE001 - it is raised again where the call is awaited
            call.error = error
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits for this call any more
            loop.call_soon_threadsafe(tell)

    context = copy_context()
    threading.Thread(target=lambda: context.run(run), name="fairway-call", daemon=True).start()
    await ended
    if call.error is not None:
        raise call.error
    return call.value  # type: ignore[return-value]  # what function() returned
