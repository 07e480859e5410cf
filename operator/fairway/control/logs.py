"""Logs as one JSON object per line."""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime

_STANDARD = frozenset(logging.LogRecord("", 0, "", 0, "", None, None).__dict__) | {
    "message",
    "asctime",
    "taskName",
    "settings",  # kopf's own, on every record about an object
    "k8s_skip",
}


class JsonFormatter(logging.Formatter):
    """One object per record; what is given as `extra` becomes fields of it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as a line."""
        told: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        told.update({name: value for name, value in record.__dict__.items() if name not in _STANDARD})
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        return json.dumps(told, default=str, ensure_ascii=False)


def set_up_logging(level: int) -> None:
    """Send all logs of the process to stderr as JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level, handlers=[handler], force=True)
    # kopf tells of every event that it passes on; only a person who looks for a fault wants that.
    logging.getLogger("kopf").setLevel(level if level <= logging.DEBUG else logging.WARNING)
    for noisy in ("asyncio", "aiohttp.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
