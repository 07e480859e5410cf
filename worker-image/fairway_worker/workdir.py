"""The directory that a command job and its worker exchange files in, and that the command starts in.

The command may do to these files what it likes. Its worker can read more than it may (the worker's own
/proc, say), so nothing here follows a link: files are opened relative to a directory held open since before
the command started.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAYLOAD: Final = "payload.json"
_RESULT: Final = "result.json"
_PROGRESS: Final = "progress"
_WORK: Final = "work"
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_TAIL_BYTES: Final = 4096


class WorkDirectory:
    """A temporary directory with the files of one attempt; `remove` ends it."""

    def __init__(self, payload: bytes) -> None:
        self._root = Path(tempfile.mkdtemp(prefix="fairway-"))
        self.work.mkdir()
        self.payload_file.write_bytes(payload)
        self._directory = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    @property
    def work(self) -> Path:
        """Where the command starts: empty, and its own."""
        return self._root / _WORK

    @property
    def payload_file(self) -> Path:
        """Where the command reads its payload."""
        return self._root / _PAYLOAD

    @property
    def result_file(self) -> Path:
        """Where the command may leave its result."""
        return self._root / _RESULT

    @property
    def progress_file(self) -> Path:
        """Where the command may say how far it is."""
        return self._root / _PROGRESS

    def read_result(self, limit: int) -> bytes:
        """Return what the command left, at most one byte more than `limit`; nothing where it left nothing."""
        with self._open(_RESULT) as descriptor:
            return b"" if descriptor is None else _read(descriptor, limit + 1)

    def read_progress(self) -> tuple[float, str] | None:
        """Return what the last line of the progress file says, None where there is none that makes sense."""
        with self._open(_PROGRESS) as descriptor:
            if descriptor is None:
                return None
            start = max(0, os.fstat(descriptor).st_size - _TAIL_BYTES)
            tail = os.pread(descriptor, _TAIL_BYTES, start)
        lines = tail.decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        fraction, _, message = last.partition(" ")
        try:
            value = float(fraction)
        except ValueError:
            return None
        return (value, message.strip()) if 0 <= value <= 1 else None

    def remove(self) -> None:
        """Remove the directory with all that the command left in it, write protected or not."""
        with contextlib.suppress(OSError):
            os.close(self._directory)
        shutil.rmtree(self._root, ignore_errors=True)
        if self._root.is_dir() and not self._root.is_symlink():
            with contextlib.suppress(OSError):
                _unlock(self._root)
            shutil.rmtree(self._root, ignore_errors=True)

    @contextlib.contextmanager
    def _open(self, name: str) -> Iterator[int | None]:
        """Open a plain file here for reading; None where there is none, or something else in its place."""
        try:
            descriptor = os.open(name, _READ, dir_fd=self._directory)
        except OSError:
            yield None
            return
        try:
            yield descriptor if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
        finally:
            os.close(descriptor)


def _read(descriptor: int, limit: int) -> bytes:
    parts: list[bytes] = []
    while limit > 0 and (part := os.read(descriptor, limit)):
        parts.append(part)
        limit -= len(part)
    return b"".join(parts)


def _unlock(root: Path) -> None:
    """Give the owner's rights back on every directory, without following a link."""
    root.chmod(stat.S_IRWXU)
    for parent, names, _ in os.walk(root):
        for directory in (Path(parent, name) for name in names):
            if not directory.is_symlink():
                directory.chmod(stat.S_IRWXU)
