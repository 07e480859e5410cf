"""`fairway-worker`: runs the handlers of an image, or tells what they are."""

from __future__ import annotations

import argparse
import asyncio
import importlib
import logging
import os
import signal
import sys
from typing import TYPE_CHECKING, Final

from fairway.queue import Queue
from fairway_worker import logs, process
from fairway_worker.app import Worker
from fairway_worker.runtime import EXIT_CRASHED, EXIT_STUCK, Runtime
from fairway_worker.settings import HELP, Settings, SettingsError, hide_credentials

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_USAGE: Final = 2
BUILTIN: Final = "fairway_worker.builtin:worker"
_log = logging.getLogger(__name__)


class HandlersError(Exception):
    """The handlers that were named cannot be had; the message says why."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    options = _parser().parse_args(arguments)
    try:
        return _check(options.handlers) if options.command == "check" else _run(options.handlers)
    except (SettingsError, HandlersError) as error:
        for line in str(error).splitlines():
            print(f"fairway-worker: {line}", file=sys.stderr)  # noqa: T201 - a command's answer to its caller
        return EXIT_USAGE


def load_handlers(reference: str) -> Worker:
    """Return the Worker that `module:name` names, imported from the current directory or what is installed.

    Raises:
        HandlersError: when there is none.
    """
    module_name, _, attribute = reference.partition(":")
    if not module_name or not attribute:
        raise HandlersError(f'"{reference}" names no handlers: write module:worker, as in my_handlers:worker')
    if "" not in sys.path and os.getcwd() not in sys.path:  # noqa: PTH109 - sys.path holds texts
        sys.path.insert(0, os.getcwd())  # noqa: PTH109 - the same
    try:
        module = importlib.import_module(module_name)
    except Exception as error:
        _log.debug("import failed", exc_info=True)
        raise HandlersError(f"cannot import {module_name}: {type(error).__name__}: {error}") from error
    found = getattr(module, attribute, None)
    if not isinstance(found, Worker):
        what = "has no" if found is None else f"has a {type(found).__name__}, not a Worker, as"
        raise HandlersError(f'{module_name} {what} "{attribute}": it should say {attribute} = Worker()')
    return found


def _check(named: str | None) -> int:
    reference = named or os.environ.get("FAIRWAY_HANDLERS") or BUILTIN
    worker = load_handlers(reference)
    print(f"{reference}: {len(worker.handlers)} handlers, and command jobs")  # noqa: T201 - the answer
    for name, handler in sorted(worker.handlers.items()):
        print(f"  {name:<24} {handler.kind:<8} {handler.source}")  # noqa: T201 - the answer
    return 0


def _run(named: str | None) -> int:
    # As process 1 of a container a signal without a handler does nothing, and handlers may take long to load.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    process.harden()
    settings = Settings.from_environment(os.environ)
    hide_credentials(os.environ)
    logs.configure(settings.log_level)
    app = load_handlers(named or settings.handlers or BUILTIN)
    with asyncio.Runner() as runner:
        try:
            code = runner.run(_serve(app, settings))
        except Exception:  # noqa: BLE001 - whatever it was, it is logged as JSON like the rest
            _log.exception("the worker could not work")
            code = EXIT_CRASHED
        if code == EXIT_STUCK:
            # What cannot be ended would keep the loop from closing: leave it, and the process, behind.
            sys.stdout.flush()
            os._exit(code)
    return code


async def _serve(app: Worker, settings: Settings) -> int:
    async with Queue.connect(settings.redis_url, settings.redis_username, settings.redis_password) as queue:
        runtime = Runtime(app, settings, queue)
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, runtime.drain)
        return await runtime.run()


def _parser() -> argparse.ArgumentParser:
    width = max(len(name) for name in HELP)
    settings = "\n".join(f"  {name:<{width}}  {text}" for name, text in HELP.items())
    parser = argparse.ArgumentParser(prog="fairway-worker", description="Runs the jobs of a Fairway pool.")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser(
        "run",
        help="lease jobs and run them",
        description="Leases jobs of a pool and runs them, until SIGTERM.",
        epilog=f"settings, from the environment:\n{settings}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    check = commands.add_parser("check", help="import the handlers and list them; needs no Redis")
    for command in (run, check):
        command.add_argument(
            "handlers", nargs="?", metavar="module:worker", help="default: built-in handlers"
        )
    return parser


if __name__ == "__main__":
    sys.exit(main())
