"""Rates as people write them: `3/m`, `100/s`."""

import re
from typing import Annotated

from pydantic import AfterValidator, WithJsonSchema

PATTERN = r"^[1-9][0-9]*/(s|m|h)$"
ADVICE = "write a rate such as 100/s, 3/m or 500/h"
MAX_LENGTH = 16

_WHOLE = re.compile(PATTERN)
_PERIODS = {"s": 1000, "m": 60_000, "h": 3_600_000}


def parse_rate(text: str) -> tuple[int, int]:
    """How many, and per how many milliseconds."""
    if len(text) > MAX_LENGTH or not _WHOLE.fullmatch(text):
        raise ValueError(f"{text[:MAX_LENGTH]!r} is not a rate: {ADVICE}")
    count, period = text.split("/")
    return int(count), _PERIODS[period]


def _check(text: str) -> str:
    parse_rate(text)
    return text


Rate = Annotated[
    str,
    AfterValidator(_check),
    WithJsonSchema(
        {
            "type": "string",
            "maxLength": MAX_LENGTH,
            "pattern": PATTERN,
            "x-kubernetes-validations": [{"rule": f"self.matches(r'{PATTERN}')", "message": ADVICE}],
            "x-fairway-type": "rate",
        }
    ),
]
"""A rate, kept as the user wrote it; `parse_rate` gives its numbers."""
