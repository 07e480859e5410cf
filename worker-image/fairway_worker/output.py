"""What a command prints: line by line to the log, and its last part kept for the error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

KEPT_BYTES: Final = 64 * 1024
_MAX_LINE_BYTES: Final = 16 * 1024
_CHUNK_BYTES: Final = 64 * 1024
_LAST_LINES: Final = 20
_LAST_WORDS_LENGTH: Final = 3000
# Escape sequences and control characters: they would reach the terminal of whoever reads the status.
_CONTROL: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


class Output:
    """Takes bytes as they come. Memory is bounded whatever the command prints."""

    def __init__(self, write_line: Callable[[str], None]) -> None:
        self._write_line = write_line
        self._kept = bytearray()
        self._line = bytearray()

    async def follow(self, reader: asyncio.StreamReader) -> None:
        """Take everything until the end of the stream."""
        while chunk := await reader.read(_CHUNK_BYTES):
            self.take(chunk)

    def take(self, chunk: bytes) -> None:
        """Take the next part."""
        self._kept += chunk
        del self._kept[:-KEPT_BYTES]
        *complete, rest = (bytes(self._line) + chunk).split(b"\n")
        for line in complete:
            self._write(line)
        while len(rest) > _MAX_LINE_BYTES:
            self._write(rest[:_MAX_LINE_BYTES])
            rest = rest[_MAX_LINE_BYTES:]
        self._line = bytearray(rest)

    def end(self) -> None:
        """Write a last line that no line break ended."""
        if self._line:
            self._write(bytes(self._line))
            self._line.clear()

    def last_words(self) -> str:
        """Return the last lines, for an error message."""
        lines = _CONTROL.sub("", self._kept.decode("utf-8", "replace")).splitlines()
        said = [line.rstrip() for line in lines if line.strip()]
        return "\n".join(said[-_LAST_LINES:])[-_LAST_WORDS_LENGTH:]

    def _write(self, line: bytes) -> None:
        for start in range(0, max(len(line), 1), _MAX_LINE_BYTES):
            part = line[start : start + _MAX_LINE_BYTES]
            self._write_line(part.decode("utf-8", "replace").rstrip("\r"))
