"""Runs what a program of handlers wants done before its first and after its last job."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from fairway_worker.threads import in_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fairway_worker.app import Hook


async def run_hooks(hooks: Sequence[Hook]) -> None:
    """Run hooks one after the other, in the order in which they were declared; plain ones in a thread."""
    for hook in hooks:
        if inspect.iscoroutinefunction(hook):
            await hook()
            continue
        answer = await in_thread(hook)
        if inspect.isawaitable(answer):
            await answer
