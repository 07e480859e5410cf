"""Processes by pid and start time, so that a stranger who got the pid later is never touched."""

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
# Fields of /proc/<pid>/stat counted after the command's closing parenthesis (the command may hold spaces).
_STATE, _PARENT, _START = 0, 1, 19


def boot_id(proc: Path = PROC) -> str:
    """Name this boot of the machine: pids and start times mean nothing after the next."""
    return (proc / "sys/kernel/random/boot_id").read_text().strip()


def _stat(pid: int, proc: Path) -> list[str] | None:
    try:
        return (proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def start_time(pid: int, proc: Path = PROC) -> int | None:
    """Give the start time of a process in clock ticks since boot; None for a dead one or a zombie."""
    fields = _stat(pid, proc)
    if fields is None or fields[_STATE] in "ZX":
        return None
    return int(fields[_START])


def all_pids(proc: Path = PROC) -> Iterator[int]:
    """Give the pid of every process there is."""
    return (int(entry.name) for entry in proc.iterdir() if entry.name.isdigit())


def child_of(parent: int, proc: Path = PROC) -> int | None:
    """Find the (first) child of a process."""
    for pid in all_pids(proc):
        fields = _stat(pid, proc)
        if fields is not None and int(fields[_PARENT]) == parent:
            return pid
    return None


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    """A process that we started, as it is written down."""

    pid: int
    start: int
    boot: str

    @classmethod
    def of(cls, pid: int) -> "ProcessRecord":
        """Record a running process."""
        start = start_time(pid)
        if start is None:
            raise ProcessLookupError(f"process {pid} has ended")
        return cls(pid, start, boot_id())

    def alive(self) -> bool:
        """Tell whether this very process still runs."""
        return start_time(self.pid) == self.start and boot_id() == self.boot

    def kill(self) -> None:
        """Send SIGKILL, if it is still this process."""
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def wait_gone(self, timeout: float) -> bool:
        """Wait until it has ended; tell whether it has."""
        deadline = time.monotonic() + timeout
        while self.alive():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return True
