"""How a handler says what kind of failure it met. Any other exception is the job's own error (APP)."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from fairway.api.durations import parse_duration

if TYPE_CHECKING:
    from fairway.api.phases import FailureClass

_MS_PER_SECOND = 1000


class Permanent(Exception):  # noqa: N818 - the contract's name; users read `raise Permanent(…)`
    """Trying again cannot help: the job goes to the dead letters at once."""


class DependencyFailure(Exception):  # noqa: N818 - the contract's name
    """Something the job depends on is away: it is tried again, and no attempt is used up."""


class Retry(Exception):  # noqa: N818 - the contract's name
    """Try again later. `after` (seconds, a timedelta, or "30s") replaces the pause of the retry rules."""

    def __init__(self, message: str = "", *, after: float | timedelta | str | None = None) -> None:
        super().__init__(message or "the handler asked for a retry")
        self.after_ms = None if after is None else _milliseconds(after)


class NotAvailable(Permanent):
    """The handler uses a part of the SDK that this version of Fairway does not have yet."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is not available in this version of Fairway")


class JobFailure(Exception):  # noqa: N818 - a failure with its class, inside the runtime only
    """A failure whose class is already known."""

    def __init__(self, cls: FailureClass, sentence: str) -> None:
        super().__init__(sentence)
        self.cls = cls


def _milliseconds(after: float | timedelta | str) -> int:
    if isinstance(after, str):
        return parse_duration(after)
    seconds = after.total_seconds() if isinstance(after, timedelta) else float(after)
    if seconds < 0:
        raise ValueError(f"Retry(after={after!r}) is in the past: give seconds from now")
    return round(seconds * _MS_PER_SECOND)
