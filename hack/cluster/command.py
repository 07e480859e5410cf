"""Running commands: their failure becomes a sentence with what they said."""

import os
import shlex
import subprocess
from collections.abc import Mapping, Sequence
from typing import IO

from hack.cluster.errors import ClusterError

# Not every shell has the administrator's commands in its PATH, root's own included.
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_TAIL_LINES = 12


class CommandError(ClusterError):
    """A command failed; ``result`` has its exit code and output."""

    def __init__(self, message: str, result: subprocess.CompletedProcess[str]) -> None:
        super().__init__(message)
        self.result = result


def run(  # noqa: PLR0913 # the choices that subprocess.run has, of which each caller takes few
    argv: Sequence[str],
    *,
    input: str | None = None,  # noqa: A002 # named as subprocess.run names it
    stdin: IO[bytes] | None = None,
    check: bool = True,
    timeout: float | None = 120,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end and give what it printed."""
    inherited = os.environ if env is None else env
    environment = {**inherited, "PATH": f"{inherited.get('PATH', '')}:{SYSTEM_PATH}".lstrip(":")}
    source = {"stdin": stdin or subprocess.DEVNULL} if input is None else {"input": input}
    try:
        result: subprocess.CompletedProcess[str] = subprocess.run(
            argv, **source, capture_output=True, text=True, timeout=timeout, env=environment, check=False
        )
    except FileNotFoundError as error:
        raise ClusterError(f"The command {argv[0]} is not installed.") from error
    except subprocess.TimeoutExpired as error:
        raise ClusterError(f"{shlex.join(argv)} did not end within {timeout:g} s.") from error
    if check and result.returncode != 0:
        said = tail(result.stderr or result.stdout)
        raise CommandError(f"{shlex.join(argv)} ended with {result.returncode}: {said}", result)
    return result


def tail(text: str, lines: int = _TAIL_LINES) -> str:
    """Give the last lines of a text."""
    return "\n".join(text.strip().splitlines()[-lines:])
