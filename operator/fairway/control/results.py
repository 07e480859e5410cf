"""A job's result as its status may show it: what the API server cannot store is told in words instead."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from fairway.control.nesting import levels

MAX_BYTES = 8 * 1024
MAX_DEPTH = 32
"""Nested deeper than this nobody reads it, and serializers that recurse give up at some hundreds."""
_INT64 = 2**63


def shown_result(raw: bytes) -> tuple[Any, str]:
    """Return the result as JSON, or None and a sentence on why it is not shown."""
    if len(raw) > MAX_BYTES:
        size, most = -(-len(raw) // 1024), MAX_BYTES // 1024
        return None, f"Its result of {size} KiB is too long to be shown here (at most {most} KiB)."
    try:
        value = json.loads(raw, parse_constant=_no_json)
        # Encoded once more for what decodes well and cannot be sent: 1e999, a lone surrogate.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError:
        return None, f"Its result is nested too deeply to be shown here (at most {MAX_DEPTH} levels)."
    except ValueError:
        return None, "Its result is no JSON that can be shown here."
    return _checked(value)


def _checked(value: Any) -> tuple[Any, str]:
    for depth, level in enumerate(levels(value)):
        if depth > MAX_DEPTH:
            return None, f"Its result is nested too deeply to be shown here (at most {MAX_DEPTH} levels)."
        if any(isinstance(each, int) and not -_INT64 <= each < _INT64 for each in level):
            return None, "Its result has a number that the API server cannot keep: write it as text."
    return value, ""


def _no_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
