"""What the worker asks of the kernel for itself."""

from __future__ import annotations

import ctypes
import logging
import os
import sys
from typing import Final

_PR_SET_DUMPABLE: Final = 4
_PR_SET_CHILD_SUBREAPER: Final = 36
_log = logging.getLogger(__name__)


def harden() -> None:
    """Close /proc/<worker> to command jobs, which run as the same user, and inherit what they leave behind.

    Not dumpable: another process of this user can read neither the worker's environment (credentials) nor
    its memory. Subreaper: a command's orphans become our children, so they can be reaped, as if we were
    process 1 (which in a container we are).
    """
    if sys.platform != "linux":
        _log.warning("command jobs can read this worker's environment: only Linux can prevent it")
        return
    libc = ctypes.CDLL(None, use_errno=True)
    for option, value in ((_PR_SET_DUMPABLE, 0), (_PR_SET_CHILD_SUBREAPER, 1)):
        if libc.prctl(option, value, 0, 0, 0):
            code = ctypes.get_errno()
            raise OSError(code, f"prctl({option}): {os.strerror(code)}")
