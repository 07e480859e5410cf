"""A real Redis server for tests and benchmarks: found, or fetched without asking the machine for anything.

`running_redis` starts one on a free loopback port and ends it by its process id. Where none is installed, a
Debian machine gets one: by its package manager for root, unpacked into the user's cache for anybody else.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

SERVERS = ("redis-server", "valkey-server")
PACKAGE = "redis-server"
DPKG_STATUS = Path("/var/lib/dpkg/status")
ADVICE = (
    "No redis-server was found: install the package redis-server (Debian, Ubuntu) or redis (Fedora, "
    "Homebrew), or name one in FAIRWAY_REDIS_SERVER."
)
_START_S = 20.0
_STOP_S = 20.0
_POLL_S = 0.02
_TRIES = 5


class RedisServerError(RuntimeError):
    """No server could be found or started; the message says what to do."""


# -- finding or fetching one -------------------------------------------------------------------------------


def find_server(cache: Path | None = None) -> Path:
    """Return the path of a server's executable; fetch one if there is none and the machine allows it."""
    if found := installed_server():
        return found
    private = cache or cache_directory()
    if found := _unpacked(private):
        return found
    if not shutil.which("apt-get"):
        raise RedisServerError(ADVICE)
    try:
        return _install() if os.geteuid() == 0 else fetch_privately(private)
    except subprocess.CalledProcessError as error:
        said = (error.stderr or error.stdout or "").strip().splitlines()
        raise RedisServerError(f"{ADVICE} Fetching it failed: {said[-1] if said else error}") from error


def installed_server() -> Path | None:
    """Return the server that FAIRWAY_REDIS_SERVER names, or one on PATH."""
    if named := os.environ.get("FAIRWAY_REDIS_SERVER"):
        path = shutil.which(named)
        if path is None:
            raise RedisServerError(f"FAIRWAY_REDIS_SERVER names {named}, which cannot be run.")
        return Path(path)
    paths = (shutil.which(name) for name in SERVERS)
    return next((Path(path) for path in paths if path), None)


def cache_directory() -> Path:
    """Return where a privately fetched server is kept, outside the checkout."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "fairway" / "redis"


def fetch_privately(cache: Path, status: Path = DPKG_STATUS) -> Path:
    """Download the package, with what it needs and `status` does not list, and unpack it into `cache`.

    Nothing outside `cache` is written, and root is not needed: the package manager is given state and cache
    directories of its own, and `dpkg -x` only unpacks.
    """
    print(f"fetching {PACKAGE} into {cache} (once)", flush=True)
    options = _private_options(cache, status)
    # Some of the machine's sources may be out of reach; the download tells whether what is needed is there.
    subprocess.run(["apt-get", *options, "update"], capture_output=True, text=True, check=False)
    download = [
        "apt-get",
        *options,
        "install",
        "--download-only",
        "--yes",
        "--no-install-recommends",
        PACKAGE,
    ]
    subprocess.run(download, capture_output=True, text=True, check=True)
    archives = sorted((cache / "apt/cache/archives").glob("*.deb"))
    partial = cache / "root.partial"
    shutil.rmtree(partial, ignore_errors=True)
    for archive in archives:
        subprocess.run(["dpkg", "-x", archive, partial], capture_output=True, text=True, check=True)
    shutil.rmtree(cache / "root", ignore_errors=True)
    partial.rename(cache / "root")  # only a whole one gets the name that is looked for
    shutil.rmtree(cache / "apt")
    if server := _unpacked(cache):
        return server
    raise RedisServerError(f"{ADVICE} The downloaded package {PACKAGE} has no server in it.")


def _private_options(cache: Path, status: Path) -> list[str]:
    state, apt_cache = cache / "apt/state", cache / "apt/cache"
    for directory in (state / "lists/partial", apt_cache / "archives/partial"):
        directory.mkdir(parents=True, exist_ok=True)
    settings = {
        "Dir::State": state,
        "Dir::State::lists": state / "lists",
        "Dir::State::status": status,
        "Dir::State::extended_states": state / "extended_states",
        "Dir::Cache": apt_cache,
        "Dir::Cache::archives": apt_cache / "archives",
        "Dir::Log": cache / "apt",
        "Debug::NoLocking": "1",  # the locks that apt would take belong to root
        "APT::Sandbox::User": "root",  # root's downloads stay with root; others cannot change users anyway
    }
    return [part for name, value in settings.items() for part in ("-o", f"{name}={value}")]


def _unpacked(cache: Path) -> Path | None:
    paths = (cache / "root/usr/bin" / name for name in SERVERS)
    return next((path for path in paths if path.exists()), None)


def _install() -> Path:
    print(f"installing {PACKAGE}", flush=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}  # 1: start no service
    install = ["apt-get", "install", "--yes", "--no-install-recommends", PACKAGE]
    subprocess.run(["apt-get", "update"], capture_output=True, text=True, check=False)
    subprocess.run(install, capture_output=True, text=True, check=True, env=environment)
    if found := installed_server():
        return found
    raise RedisServerError(ADVICE)


def _environment(server: Path) -> dict[str, str]:
    """Return the environment a server needs: one that was unpacked privately has its libraries beside it."""
    root = server.parents[2]
    if root.name != "root":
        return dict(os.environ)
    libraries = sorted({str(path.parent) for path in root.glob("**/*.so*")})
    return os.environ | {"LD_LIBRARY_PATH": ":".join(libraries)}


# -- running one -------------------------------------------------------------------------------------------


class RedisServer:
    """One server with its data in `directory`; it may be killed and started again on the same port."""

    def __init__(self, directory: Path, *arguments: str, server: Path | None = None) -> None:
        self.directory = directory
        self.port = 0
        self._arguments = arguments
        self._server = server or find_server()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        """The process id; it is also in `redis.pid` in the directory."""
        if self._process is None:
            raise RedisServerError("The server is not running.")
        return self._process.pid

    def start(self) -> None:
        """Start, and return when it answers. The first start chooses a free port, later ones keep it."""
        for _ in range(_TRIES if self.port == 0 else 1):
            port = self.port or _free_port()
            self._process = self._launch(port)
            if self._answers(port):
                self.port = port
                return
            self.stop()
        log = (self.directory / "redis.log").read_text(encoding="utf-8", errors="replace")
        raise RedisServerError(f"{self._server} did not start; it said:\n{log[-2000:]}")

    def stop(self) -> None:
        """End it in order, by its process id."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_STOP_S)
            except subprocess.TimeoutExpired:
                self.kill()
            self._process = None

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _launch(self, port: int) -> subprocess.Popen[bytes]:
        self.directory.mkdir(parents=True, exist_ok=True)
        settings = ["--bind", "127.0.0.1", "--port", str(port), "--dir", str(self.directory), "--save", ""]
        settings += ["--pidfile", str(self.directory / "redis.pid"), "--daemonize", "no"]
        with (self.directory / "redis.log").open("ab") as log:
            return subprocess.Popen(
                [str(self._server), *settings, *self._arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=_environment(self._server),
            )

    def _answers(self, port: int) -> bool:
        """Wait until it answers; False if it ends first (somebody else took the port) or takes too long."""
        until = time.monotonic() + _START_S
        while time.monotonic() < until and self._process and self._process.poll() is None:
            if _pong(port):
                # Another server on this port would have answered too: ours is the one that is still there.
                return self._process.poll() is None
            time.sleep(_POLL_S)
        return False


@contextmanager
def running_redis(directory: Path, *arguments: str) -> Iterator[str]:
    """Run a server with its data in `directory`, and give its URL."""
    server = RedisServer(directory, *arguments)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _pong(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith((b"+PONG", b"-NOAUTH"))
    except OSError:
        return False
