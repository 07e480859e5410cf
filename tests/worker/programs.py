"""Handlers for workers that the tests start in a process of their own."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from fairway_worker import Context, Worker

worker = Worker()
_STEP_S = 0.02


@worker.job("wait-for-file")
def wait_for_file(ctx: Context, payload: dict[str, Any]) -> str:
    """End well when a file appears, and early when asked to."""
    Path(payload["started"]).touch()
    while not Path(payload["go"]).exists():
        if ctx.cancelled:
            return "asked to end"
        time.sleep(_STEP_S)
    return "went"


@worker.job("deaf")
def deaf(ctx: Context, payload: dict[str, Any]) -> None:
    """Never end by itself, and never listen."""
    del ctx
    Path(payload["started"]).touch()
    while True:
        time.sleep(_STEP_S)
