"""Logs: one line of JSON each, with the job it is about, whoever wrote it."""

from __future__ import annotations

import io
import json
import logging
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_about: ContextVar[dict[str, str]] = ContextVar("about", default={})  # noqa: B039 - never changed in place

OUTPUT = logging.getLogger("fairway_worker.output")
"""What command jobs print."""


@contextmanager
def about(**fields: str) -> Iterator[None]:
    """Put fields, those that say something, on every line of the block and of what is started in it."""
    token = _about.set(_about.get() | {name: value for name, value in fields.items() if value})
    try:
        yield
    finally:
        _about.reset(token)


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line; whatever is in the message, it has no line break in it."""
        line: dict[str, str] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **_about.get(),
            "logger": record.name,
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def configure(level: str) -> None:
    """Send all logs of this process to its standard output as JSON."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    logging.getLogger("asyncio").setLevel(logging.WARNING)
