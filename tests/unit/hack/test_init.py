"""The PID 1 of our machines, run as an ordinary process: what it starts, reaps and starts again."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from hack.cluster.local import init
from tests.waiting import eventually

SUPERVISE = """
import json, signal, sys
from hack.cluster.local import init
init.RESTART_SECONDS = 0.05
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
machine = init.Init({"PATH": "/usr/bin:/bin"})
for step in json.load(sys.stdin):
    init.follow(machine, step)
machine.supervise()
"""


@contextmanager
def _machine(*steps: Mapping[str, object]) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-c", SUPERVISE]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdin is None:
                raise AssertionError
            process.stdin.write(json.dumps(steps))
            process.stdin.close()
            yield process
        finally:
            process.kill()


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_a_service_that_ends_is_started_again(tmp_path: Path) -> None:
    log = tmp_path / "log"
    step = {"service": "short", "argv": ["sh", "-c", "echo began"], "log": str(log)}
    with _machine(step):
        eventually(lambda: len(_lines(log)) > 2, what="three starts", timeout=20)


def test_steps_follow_each_other_and_read_their_input(tmp_path: Path) -> None:
    log, source = tmp_path / "log", tmp_path / "in"
    source.write_text("first\n")
    with _machine(
        {"run": ["cat"], "stdin": str(source), "log": str(log)},
        {"run": ["echo", "second"], "log": str(log)},
    ):
        eventually(lambda: _lines(log) == ["first", "second"], what="both lines", timeout=20)


def test_a_step_that_fails_ends_the_machine(tmp_path: Path) -> None:
    with _machine({"run": ["false"], "log": str(tmp_path / "log")}) as process:
        assert process.wait(20) == 1
        assert process.stdout is not None
        assert "false ended with 1" in process.stdout.read()


def test_children_do_not_inherit_the_blocked_signal(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with _machine({"run": ["grep", "SigBlk", "/proc/self/status"], "log": str(log)}):
        eventually(lambda: _lines(log), what="the mask", timeout=20)
        assert int(_lines(log)[0].split()[1], 16) == 0


def test_a_socket_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        server.listen()
        init.wait_for_socket(str(path))
    monkeypatch.setattr(init, "PATIENCE_SECONDS", 0.1)
    with pytest.raises(SystemExit):
        init.wait_for_socket(str(path))


def test_without_orders_it_ends() -> None:
    command = [sys.executable, "-I", "-S", init.__file__]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "no orders came" in ended.stdout
