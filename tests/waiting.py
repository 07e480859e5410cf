"""Waiting for a condition, never for a time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
PAUSE_SECONDS = 0.2


def eventually(look: Callable[[], T], *, what: str, timeout: float = 60) -> T:
    """Returns the first truthy thing that `look` sees; fails with what was waited for and what was last seen.

    An AssertionError inside `look` counts as not yet: a test can wait for a whole set of expectations.
    """
    deadline = time.monotonic() + timeout
    last: object = None
    while True:
        try:
            seen = look()
        except AssertionError as error:
            last = error
        else:
            if seen:
                return seen
            last = seen
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout:g} s for {what}; last seen: {last}")
        time.sleep(PAUSE_SECONDS)
