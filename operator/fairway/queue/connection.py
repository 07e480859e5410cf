"""Talks to Redis: scripts, plain commands and blocking ones; its errors become the queue's own."""

from __future__ import annotations

import asyncio
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from redis import exceptions
from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff

from fairway.queue.errors import QueueError, QueueUnavailable
from fairway.queue.loader import load

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairway.queue.loader import Script

Argument = str | bytes | float

_CONNECTIONS = 16  # at once for calls that answer at once: more would only queue up inside Redis
_BLOCKED_CONNECTIONS = 1024  # every waiting call holds one of its own
_CONNECT_TIMEOUT_S = 5.0
_ANSWER_TIMEOUT_S = 5.0
_RETRIES = 4
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 1.0

_REFUSAL = re.compile(r"^FAIRWAY (?P<code>[A-Z_]+) (?P<sentence>.*?)(?: script: [0-9a-f]{40}, on .*)?$")
_NOT_NOW = ("LOADING", "MISCONF", "READONLY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY", "NOREPLICAS")


def pool_key(pool: str, name: str) -> str:
    """Return one of a pool's keys; the braces make all of them live in the same slot of a cluster."""
    return f"fw:{{{pool}}}:{name}"


class _Client(Protocol):
    """What is used of the Redis client, whose own method has no types."""

    async def execute_command(self, *args: Argument) -> Any: ...

    async def aclose(self) -> None: ...


class Connection:
    """Two sets of connections to one Redis, so that a call that blocks never holds up one that does not."""

    def __init__(self, url: str, *, username: str | None = None, password: str | None = None) -> None:
        credentials = {"username": username, "password": password}
        given = {name: value for name, value in credentials.items() if value is not None}
        self._calls = _client(url, given, connections=_CONNECTIONS, answer_timeout_s=_ANSWER_TIMEOUT_S)
        self._blocked = _client(url, given, connections=_BLOCKED_CONNECTIONS, answer_timeout_s=None)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._calls.aclose()
        await self._blocked.aclose()

    async def run(self, name: str, meta: str, *arguments: Argument) -> Any:
        """Run a script on the pool that `meta` belongs to."""
        script = load(name)
        with _translated(script):
            try:
                return await self._calls.execute_command("EVALSHA", script.sha, 1, meta, *arguments)
            except exceptions.NoScriptError:
                # Redis was restarted or never saw it; EVAL also keeps it for the next EVALSHA.
                return await self._calls.execute_command("EVAL", script.text, 1, meta, *arguments)

    async def command(self, *arguments: Argument) -> Any:
        """Run a command that answers at once."""
        with _translated():
            return await self._calls.execute_command(*arguments)

    async def block(self, *arguments: Argument, timeout_s: float) -> Any:
        """Run a command that may take `timeout_s` to answer, on a connection of its own."""
        with _translated():
            async with asyncio.timeout(timeout_s + _ANSWER_TIMEOUT_S):
                return await self._blocked.execute_command(*arguments)


def _client(
    url: str,
    credentials: dict[str, str],
    *,
    connections: int,
    answer_timeout_s: float | None,
) -> _Client:
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=connections,
        timeout=_ANSWER_TIMEOUT_S,
        socket_timeout=answer_timeout_s,
        socket_connect_timeout=_CONNECT_TIMEOUT_S,
        socket_keepalive=True,
        retry=Retry(ExponentialWithJitterBackoff(cap=_LONGEST_PAUSE_S, base=_FIRST_PAUSE_S), _RETRIES),
        retry_on_error=[exceptions.BusyLoadingError],
        protocol=2,
        **credentials,
    )
    return Redis.from_pool(pool)


@contextmanager
def _translated(script: Script | None = None) -> Iterator[None]:
    try:
        yield
    except (exceptions.ConnectionError, exceptions.TimeoutError, TimeoutError, OSError) as error:
        raise QueueUnavailable(f"Redis does not answer: {error or type(error).__name__}") from error
    except exceptions.NoPermissionError as error:
        raise QueueError("FORBIDDEN", "this Redis user has no access to that pool") from error
    except exceptions.RedisError as error:
        raise _refusal(str(error), script) from error


def _refusal(message: str, script: Script | None) -> QueueError:
    """Make the queue's own error of what Redis, or one of our scripts, answered."""
    if match := _REFUSAL.match(message):
        return QueueError(match["code"], match["sentence"])
    if message.startswith(("OOM", "command not allowed when used memory")):
        return QueueError("STORE_FULL", "Redis is at its memory limit and takes no new jobs")
    if message.startswith(_NOT_NOW):
        return QueueUnavailable(f"Redis cannot serve now: {message}")
    explained = script.explain(message) if script else message
    return QueueError("INTERNAL", f"Redis refused a call of ours: {explained}")
