"""What a worker without handlers of its own can do beside `command:` jobs: enough to see a Job go through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairway_worker.app import Worker

if TYPE_CHECKING:
    from fairway_worker.context import Context

worker = Worker()


@worker.job("echo")
async def echo(ctx: Context, payload: dict[str, Any]) -> dict[str, Any]:
    """Return the payload."""
    del ctx
    return payload
