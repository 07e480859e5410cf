"""Runs a job with a Python function: async ones in the loop, plain ones in a thread."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from fairway_worker.errors import DependencyFailure, JobFailure, Permanent, Retry
from fairway_worker.outcome import encode_result, failed
from fairway_worker.threads import in_thread

if TYPE_CHECKING:
    from fairway_worker.app import Handler
    from fairway_worker.context import Context

_log = logging.getLogger(__name__)
_SAID_BY_THE_HANDLER = (Permanent, DependencyFailure, Retry)


class HandlerExecution:
    """One call of a handler."""

    def __init__(self, handler: Handler, context: Context, payload: dict[str, Any]) -> None:
        self._handler = handler
        self._context = context
        self._payload = payload
        self._task: asyncio.Task[Any] | None = None

    async def run(self) -> bytes | None:
        """Call the function and return its result as JSON."""
        self._task = asyncio.current_task()
        return encode_result(await self._call())

    def ask_to_end(self) -> None:
        """Make `ctx.cancelled` true."""
        self._context.ask_to_stop()

    def kill(self) -> None:
        """Cancel an async handler. A thread cannot be ended: whoever waits for it sees that it goes on."""
        if self._handler.is_async and self._task is not None:
            self._task.cancel()

    def last_words(self) -> str:
        """A handler's logs are in the worker's own log."""
        return ""

    async def _call(self) -> Any:
        function = self._handler.function
        try:
            if self._handler.is_async:
                return await function(self._context, self._payload)
            return await in_thread(lambda: function(self._context, self._payload))
        except _SAID_BY_THE_HANDLER:
            raise
        except (SystemExit, KeyboardInterrupt) as error:
            # Left alone, these would end the worker with all its jobs.
            end = failed(error)
            raise JobFailure(end.cls, end.error) from error
        except Exception:
            _log.warning('handler "%s" raised', self._handler.name, exc_info=True)
            raise
