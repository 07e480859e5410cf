"""What a program of handlers declares: its jobs by name, what to do before the first and after the last."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from fairway_worker.context import Context
from fairway_worker.errors import NotAvailable

Function = Callable[[Context, dict[str, Any]], Any]
Hook = Callable[[], Awaitable[None] | None]
F = TypeVar("F", bound=Function)
H = TypeVar("H", bound=Hook)


@dataclass(frozen=True, slots=True)
class Handler:
    """A function that runs the jobs of one type."""

    name: str
    function: Function
    is_async: bool

    @property
    def kind(self) -> str:
        """How it is run, as `fairway-worker check` tells it."""
        return "async" if self.is_async else "thread"

    @property
    def source(self) -> str:
        """Where it comes from."""
        module = getattr(self.function, "__module__", "?")
        return f"{module}.{getattr(self.function, '__qualname__', type(self.function).__qualname__)}"


class Worker:
    """The handlers of an image. Make one, decorate functions, start `fairway-worker run module:worker`."""

    def __init__(self) -> None:
        self._handlers: dict[str, Handler] = {}
        self.startup_hooks: list[Hook] = []
        self.shutdown_hooks: list[Hook] = []

    @property
    def handlers(self) -> Mapping[str, Handler]:
        """The handlers by their job type."""
        return MappingProxyType(self._handlers)

    def job(self, name: str, *, process: bool = False) -> Callable[[F], F]:
        """Register a function for the jobs of a type.

        Args:
            name: The `type` of the jobs.
            process: Run it in a process of its own. Not available in this version: refused, never ignored.

        Raises:
            NotAvailable: for `process=True`.
            ValueError: when the name is empty or taken.
            TypeError: (from the decorator) when the function cannot be called with a context and a payload.
        """
        if process:
            raise NotAvailable(f'process=True (handler "{name}")')
        if not name:
            raise ValueError('a handler needs a name: @worker.job("resize")')

        def register(function: F) -> F:
            if name in self._handlers:
                raise ValueError(f'two handlers are named "{name}": {self._handlers[name].source} was first')
            self._handlers[name] = Handler(name, function, is_async=_check(name, function))
            return function

        return register

    def on_startup(self, hook: H) -> H:
        """Run a function, async or plain, once before the first job."""
        self.startup_hooks.append(hook)
        return hook

    def on_shutdown(self, hook: H) -> H:
        """Run a function, async or plain, once after the last job."""
        self.shutdown_hooks.append(hook)
        return hook


def _check(name: str, function: Function) -> bool:
    """Return whether a handler is async; refuse what could never run, here rather than at the first job."""
    call = getattr(function, "__call__", function)  # noqa: B004 - the method itself is wanted, to see if it is async
    for candidate in (function, call):
        if inspect.isasyncgenfunction(candidate) or inspect.isgeneratorfunction(candidate):
            raise TypeError(f'handler "{name}" is a generator: return the result instead of yielding it')
    try:
        inspect.signature(function).bind(None, {})
    except ValueError:
        pass  # some built-in callables tell nothing of their signature
    except TypeError as error:
        raise TypeError(f'handler "{name}" must take a context and a payload: {error}') from None
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)
