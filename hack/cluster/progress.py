"""Progress lines: which step, out of how many, and how long it took."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from hack.cluster.errors import ClusterError

HEARTBEAT_SECONDS = 30.0


class StepError(ClusterError):
    """A step failed; the message begins with the step's name."""


class Progress:
    """Prints one line a step, such as ``[ 2/9] etcd and API server … 4.1 s``."""

    def __init__(self, steps: int, out: TextIO | None = None) -> None:
        self._steps = steps
        self._out = out or sys.stdout
        self._number = 0
        self._begun = time.monotonic()

    @property
    def elapsed(self) -> float:
        """Seconds since the first step could begin."""
        return time.monotonic() - self._begun

    @contextmanager
    def step(self, title: str) -> Iterator["Step"]:
        """Announce a step, and print its time when it is done or where it failed."""
        self._number += 1
        width = len(str(self._steps))
        step = Step(f"[{self._number:>{width}}/{self._steps}] {title} …", self._out)
        try:
            yield step
        except ClusterError as error:
            step.end("failed after ")
            raise StepError(f"{title}: {error}") from error
        except BaseException:
            step.end("stopped after ")
            raise
        step.end("")


class Step:
    """One line being written; notes go below it and the line is begun again after them."""

    def __init__(self, prefix: str, out: TextIO) -> None:
        self._prefix = prefix
        self._out = out
        self._begun = time.monotonic()
        self._noted = False
        self._write(prefix)

    def note(self, text: str) -> None:
        """Say something in the middle of a step, on a line of its own."""
        self._write(f"{'' if self._noted else chr(10)}        {text} ({seconds(self._elapsed())})\n")
        self._noted = True

    def end(self, word: str) -> None:
        """Close the line with the time it took."""
        prefix = self._prefix if self._noted else ""
        self._write(f"{prefix} {word}{seconds(self._elapsed())}\n")

    def _elapsed(self) -> float:
        return time.monotonic() - self._begun

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()


def seconds(value: float) -> str:
    """Write a duration as people read it: ``4.1 s``, ``5:12 min``."""
    minute = 60
    if value < minute:
        return f"{value:.1f} s"
    whole = round(value)
    return f"{whole // minute}:{whole % minute:02d} min"
