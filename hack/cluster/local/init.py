"""PID 1 of the control plane or of a node: prepares its namespaces, starts services and keeps them running.

It is run as a script, with nothing but the standard library, inside new namespaces. Its orders come as JSON
on standard input once the network is laid: so when the one who gives orders dies first, it ends too. Ending
this process ends everything in its PID namespace, pods included, as if the plug were pulled.

Orders: ``{"hostname", "mounts": [{"kind", "source", "target"}], "environment": {…}, "steps": [step]}``, with
a step being one of ``{"service": name, "argv", "log", "descriptor"?}``, ``{"run": argv, "stdin"?, "log"}``,
``{"socket": path}`` (wait until somebody listens), ``{"ready": url, "authority": file}`` (wait for a 200).
"""

import json
import os
import resource
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE_SECONDS = 120.0
RESTART_SECONDS = 1.0
POLL_SECONDS = 0.05


@dataclass
class Service:
    """A process that is started again whenever it ends."""

    name: str
    argv: list[str]
    log: str
    descriptor: int | None = None
    restart_at: float | None = None


class Init:
    """What runs in this machine."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self.services: dict[int, Service] = {}
        self.resting: list[Service] = []

    def start(self, service: Service) -> None:
        """Start a service."""
        pid = self._spawn(service.argv, "/dev/null", service.log, service.descriptor)
        say(f"{service.name} started as process {pid}")
        self.services[pid] = service

    def run(self, argv: list[str], stdin: str, log: str) -> None:
        """Run a command to its end; its failure is the machine's."""
        pid = self._spawn(argv, stdin, log, None)
        while True:
            ended, status = os.waitpid(-1, 0)
            if ended != pid:
                self._ended(ended, status)
                continue
            if status != 0:
                fail(f"{argv[0]} ended with {os.waitstatus_to_exitcode(status)}, see {log}")
            return

    def supervise(self) -> None:
        """Reap whatever ends, for ever, and start services again that ended."""
        while True:
            self._reap()
            now = time.monotonic()
            for service in [s for s in self.resting if s.restart_at is not None and s.restart_at <= now]:
                self.resting.remove(service)
                self.start(service)
            times = [s.restart_at - now for s in self.resting if s.restart_at is not None]
            # Blocked signals wait for us, so none can slip in between the reaping and this.
            signal.sigtimedwait({signal.SIGCHLD}, max(0.0, min(times, default=3600.0)))

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            self._ended(pid, status)

    def _ended(self, pid: int, status: int) -> None:
        service = self.services.pop(pid, None)
        if service is None:
            return  # an orphan that became ours when its parent ended
        say(f"{service.name} ended with {os.waitstatus_to_exitcode(status)}; starting it again")
        service.restart_at = time.monotonic() + RESTART_SECONDS
        self.resting.append(service)

    def _spawn(self, argv: list[str], stdin: str, log: str, descriptor: int | None) -> int:
        append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, log, append, 0o644),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ]
        if descriptor is not None:
            os.set_inheritable(descriptor, True)  # noqa: FBT003 # it takes no keyword
        try:
            # The empty signal mask matters: containerd's shims wait for SIGCHLD, which is blocked here.
            return os.posix_spawnp(
                argv[0], argv, self.environment, file_actions=actions, setsid=True, setsigmask=[]
            )
        finally:
            if descriptor is not None:
                os.set_inheritable(descriptor, False)  # noqa: FBT003 # it takes no keyword


def say(text: str) -> None:
    """Write a line to this machine's own log."""
    sys.stdout.write(f"{time.strftime('%H:%M:%S')} {text}\n")
    sys.stdout.flush()


def fail(text: str) -> None:
    """End the machine."""
    say(text)
    raise SystemExit(1)


def mount(order: dict[str, str]) -> None:
    """Make one mount, seen in this mount namespace only."""
    target = order["target"]
    if order["kind"] == "tmpfs":
        command = ["mount", "-t", "tmpfs", "-o", "mode=0755", "tmpfs", target]
    else:
        if order["kind"] == "directory":
            for directory in (target, order["source"]):
                Path(directory).mkdir(parents=True, exist_ok=True)
        elif not Path(target).exists():
            return  # a file that this kernel does not have
        command = ["mount", "--bind", order["source"], target]
    subprocess.run(command, check=True)


def wait_for_socket(path: str) -> None:
    """Wait until somebody listens at a Unix socket."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        with socket.socket(socket.AF_UNIX) as client:
            try:
                client.connect(path)
            except OSError as error:
                if time.monotonic() > deadline:
                    fail(f"nobody listens at {path}: {error}")
            else:
                return
        time.sleep(POLL_SECONDS)


def wait_until_ready(url: str, authority: str) -> None:
    """Wait until an HTTPS address answers 200."""
    context = ssl.create_default_context(cafile=authority)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            with urllib.request.urlopen(url, context=context, timeout=5):  # noqa: S310 # an https address of ours
                return
        except (OSError, urllib.error.URLError) as error:
            if time.monotonic() > deadline:
                fail(f"{url} is not ready: {error}")
        time.sleep(POLL_SECONDS)


def follow(init: Init, step: dict[str, Any]) -> None:
    """Carry out one step."""
    if "service" in step:
        init.start(Service(step["service"], step["argv"], step["log"], step.get("descriptor")))
    elif "run" in step:
        init.run(step["run"], step.get("stdin", "/dev/null"), step["log"])
    elif "socket" in step:
        wait_for_socket(step["socket"])
    else:
        wait_until_ready(step["ready"], step["authority"])


def main() -> None:
    """Read the orders, prepare, start, supervise."""
    text = sys.stdin.read()
    if not text:
        fail("no orders came")
    orders = json.loads(text)
    os.environ.clear()
    os.environ.update(orders["environment"])
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    socket.sethostname(orders["hostname"])
    # A new group of mounts: what the kubelet mounts must reach the pods, and nothing must reach the host.
    subprocess.run(["mount", "--make-rshared", "/"], check=True)
    for order in orders["mounts"]:
        mount(order)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    init = Init(orders["environment"])
    for step in orders["steps"]:
        follow(init, step)
    init.supervise()


if __name__ == "__main__":
    main()
