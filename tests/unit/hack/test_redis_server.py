"""Finding a Redis server, and saying what to install where there is none."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import pytest

from hack import redis_server
from hack.redis_server import RedisServer, RedisServerError, find_server, running_redis

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A PATH on which nothing is found until a test puts it there."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("FAIRWAY_REDIS_SERVER", raising=False)
    return folder


def executable(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\necho no Redis here\nexit 3\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.usefixtures("empty_path")
def test_without_a_server_or_a_way_to_get_one_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(RedisServerError, match="install the package redis-server"):
        find_server(tmp_path / "cache")


@pytest.mark.parametrize("name", redis_server.SERVERS)
def test_a_server_on_the_path_is_taken(empty_path: Path, name: str) -> None:
    server = executable(empty_path / name)
    assert find_server() == server


def test_the_named_server_wins(empty_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    executable(empty_path / "redis-server")
    named = executable(tmp_path / "own" / "redis")
    monkeypatch.setenv("FAIRWAY_REDIS_SERVER", str(named))
    assert find_server() == named
    monkeypatch.setenv("FAIRWAY_REDIS_SERVER", str(tmp_path / "missing"))
    with pytest.raises(RedisServerError, match="which cannot be run"):
        find_server()


@pytest.mark.usefixtures("empty_path")
def test_one_that_was_fetched_before_is_taken_again(tmp_path: Path) -> None:
    server = executable(tmp_path / "cache" / "root/usr/bin/redis-server")
    assert find_server(tmp_path / "cache") == server


def test_a_server_that_does_not_start_is_quoted(tmp_path: Path) -> None:
    server = RedisServer(tmp_path / "data", server=executable(tmp_path / "redis-server"))
    with pytest.raises(RedisServerError, match="no Redis here"):
        server.start()


def test_it_is_there_while_it_is_needed_and_gone_afterwards(tmp_path: Path) -> None:
    with running_redis(tmp_path / "data") as url:
        port = int(url.rsplit(":", 1)[1].split("/")[0])
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pid = int((tmp_path / "data" / "redis.pid").read_text(encoding="utf-8"))
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=5)
