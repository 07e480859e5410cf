"""Two questions over HTTP: /healthz (does the process still turn) and /readyz (does it take or hold work)."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

_REQUEST_LIMIT_S: Final = 5.0
_REASONS: Final = {200: "OK", 404: "Not Found", 503: "Service Unavailable"}


class Health:
    """A server for kubelets: it reads one request line and answers it."""

    def __init__(self, port: int, not_ready: Callable[[], str]) -> None:
        """Make a server; `not_ready` returns why the worker is not ready, nothing when it is."""
        self.port = port
        self._not_ready = not_ready

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Answer for as long as the block runs. Port 0 takes a free one, which is then in `port`."""
        server = await asyncio.start_server(self._serve, sock=_listen(self.port))
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()
            await server.wait_closed()

    def answer(self, path: str) -> tuple[int, str]:
        """Return status and text for a path."""
        if path == "/healthz":
            return 200, "ok"
        if path == "/readyz":
            why = self._not_ready()
            return (503, why) if why else (200, "ok")
        return 404, "only /healthz and /readyz are here"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_REQUEST_LIMIT_S):
                head = await reader.readuntil(b"\r\n\r\n")
                words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
                status, text = self.answer(words[1].partition("?")[0] if len(words) > 1 else "")
                writer.write(_response(status, text))
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # whoever asked has gone, or never asked
        finally:
            writer.close()


def _listen(port: int) -> socket.socket:
    """Listen for both families where there are both: a pod's address may be of either."""
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))


def _response(status: int, text: str) -> bytes:
    body = f"{text}\n".encode()
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
