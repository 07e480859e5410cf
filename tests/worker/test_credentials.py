"""A command cannot get at what its worker knows."""

from __future__ import annotations

import subprocess
import sys
from typing import IO, TYPE_CHECKING

from tests.worker.support import Bench, log_lines, worker_command

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "correct-horse-battery"  # noqa: S105 - what must not be seen

# Root may look into every process. In a container root lacks the capabilities for it, and so it does here.
WITHOUT_PTRACE = """
import ctypes, os, sys
PR_CAPBSET_DROP, CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON = 24, 19, 21, 38
for capability in (CAP_SYS_PTRACE, CAP_SYS_ADMIN, CAP_PERFMON):
    ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""

# A process of the same user that did not protect itself can be read: the attempt on the worker is a real one.
ATTEMPT = """
import json, os, subprocess, time
def attempt(path):
    try:
        return open(path, "rb").read().decode("utf-8", "replace")
    except OSError as error:
        return type(error).__name__
other = subprocess.Popen(["sleep", "1000"], env={"CONTROL": "visible"})
while "sleep" not in attempt(f"/proc/{other.pid}/cmdline"):
    time.sleep(0.01)
seen = {
    "own": dict(os.environ),
    "control": attempt(f"/proc/{other.pid}/environ"),
    "environ": attempt(f"/proc/{os.getppid()}/environ"),
    "memory": attempt(f"/proc/{os.getppid()}/mem"),
    "maps": attempt(f"/proc/{os.getppid()}/maps"),
}
json.dump(seen, open(os.environ["FAIRWAY_RESULT_FILE"], "w"))
"""


def start(command: list[str], environment: dict[str, str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)


async def test_a_command_finds_the_credentials_neither_in_its_environment_nor_in_proc(
    bench: Bench, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    # The server knows no password, so the secret is in a variable of that family that is not used to log in.
    environment = bench.environment(FAIRWAY_REDIS_EXTRA=SECRET)
    command = [sys.executable, "-c", WITHOUT_PTRACE, *worker_command("run")]
    with (
        log.open("wb") as output,
        start(command, environment, output) as worker,
    ):
        try:
            job = await bench.submit(command=[sys.executable, "-c", ATTEMPT])
            seen = await bench.succeeds(job)
        finally:
            worker.terminate()
    assert seen["control"].rstrip("\0") == "CONTROL=visible"
    assert not [name for name in seen["own"] if name.startswith("FAIRWAY_REDIS_")]
    assert [seen["environ"], seen["memory"], seen["maps"]] == ["PermissionError"] * 3
    assert SECRET not in str(seen)
    assert SECRET not in str(log_lines(log))
