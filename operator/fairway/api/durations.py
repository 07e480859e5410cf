"""Durations as people write them (`30s`, `5m`, `1h30m`) and as code counts them: integer milliseconds."""

import re
from decimal import ROUND_HALF_UP, Decimal
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

PATTERN = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h|d))+$"
ADVICE = "write a duration such as 250ms, 30s, 5m, 1h30m or 7d"
MAX_LENGTH = 32
MAX_MS = 100 * 365 * 86_400_000
"""A century: far past any use, and far below where milliseconds stop fitting a double exactly."""

_UNITS = {"d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000, "ms": 1}
_WHOLE = re.compile(PATTERN)
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)")


def parse_duration(text: str) -> int:
    """Milliseconds in a duration; parts of a millisecond are rounded."""
    if len(text) > MAX_LENGTH or not _WHOLE.fullmatch(text):
        raise ValueError(f"{text[:MAX_LENGTH]!r} is not a duration: {ADVICE}")
    total = sum((Decimal(number) * _UNITS[unit] for number, unit in _PART.findall(text)), Decimal(0))
    if total > MAX_MS:
        raise ValueError(f"{text!r} is longer than a hundred years: write a shorter duration")
    return int(total.to_integral_value(rounding=ROUND_HALF_UP))


def format_duration(milliseconds: int) -> str:
    """The shortest usual form: `90s` stays `1m30s`, a day `24h`; days are read but never written."""
    if milliseconds < 0:
        raise ValueError(f"{milliseconds} ms is no duration: it is negative")
    parts = []
    rest = milliseconds
    for unit in ("h", "m", "s", "ms"):
        count, rest = divmod(rest, _UNITS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def _check(text: str) -> str:
    parse_duration(text)
    return text


Duration = Annotated[
    str,
    AfterValidator(_check),
    WithJsonSchema(
        {
            "type": "string",
            "maxLength": MAX_LENGTH,
            "pattern": PATTERN,
            "x-kubernetes-validations": [{"rule": f"self.matches(r'{PATTERN}')", "message": ADVICE}],
            "x-fairway-type": "duration",
        }
    ),
]
"""A duration, kept as the user wrote it; `parse_duration` gives its milliseconds."""
