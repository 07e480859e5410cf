"""What the runtime needs of anything that runs a job, be it a function or a program."""

from __future__ import annotations

from typing import Protocol


class Execution(Protocol):
    """One attempt being run. `run` is called once; the others may come at any time, or never."""

    async def run(self) -> bytes | None:
        """Run the job to its end and return its result as JSON; raise when it fails."""
        ...

    def ask_to_end(self) -> None:
        """Ask the job to end by itself."""
        ...

    def kill(self) -> None:
        """End it without asking, as far as that is possible; `run` then returns or raises soon."""
        ...

    def last_words(self) -> str:
        """What the job last said, for the error of one that had to be ended."""
        ...


class Refused:
    """A job that cannot be run here: it fails at once, in the way that it would have failed later."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def run(self) -> bytes | None:
        """Raise what is wrong."""
        raise self._error

    def ask_to_end(self) -> None:
        """There is nothing to end."""

    def kill(self) -> None:
        """There is nothing to end."""

    def last_words(self) -> str:
        """It said nothing."""
        return ""
