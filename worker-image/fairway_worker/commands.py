"""Runs a job with a program: files for what goes in and out, signals for what is asked of it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from typing import TYPE_CHECKING, Final

from fairway.api.names import CommandEnv
from fairway.api.phases import FailureClass
from fairway_worker import logs
from fairway_worker.errors import JobFailure, Permanent, Retry
from fairway_worker.outcome import MAX_RESULT_BYTES, check_size
from fairway_worker.output import Output
from fairway_worker.settings import OWN_PREFIX
from fairway_worker.threads import in_thread
from fairway_worker.workdir import WorkDirectory

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from fairway_worker.context import Context

EXIT_PERMANENT: Final = 65  # EX_DATAERR
EXIT_RETRY: Final = 75  # EX_TEMPFAIL
_SHELL_SAYS_KILLED: Final = 128 + signal.SIGKILL  # the program that a shell ran was killed
ATTEMPT_VARIABLE: Final = "FAIRWAY_ATTEMPT"
TYPE_VARIABLE: Final = "FAIRWAY_JOB_TYPE"
TENANT_VARIABLE: Final = "FAIRWAY_JOB_TENANT"
_PROGRESS_INTERVAL_S: Final = 1.0
_OUTPUT_GRACE_S: Final = 1.0
_REAP_PAUSE_S: Final = 0.01
_REAP_LIMIT_S: Final = 5.0


class CommandExecution:
    """One run of a program, in a process group of its own that does not outlive it."""

    def __init__(
        self,
        command: list[str],
        payload: dict[str, Any],
        context: Context,
        environment: Mapping[str, str],
    ) -> None:
        self._command = command
        self._payload = payload
        self._context = context
        self._environment = environment
        self._output = Output(logs.OUTPUT.info)
        self._process: subprocess.Popen[bytes] | None = None
        self._end_asked = self._killed = False

    async def run(self) -> bytes | None:
        """Run the program and return what it left in its result file."""
        files = WorkDirectory(json.dumps(self._payload, ensure_ascii=False).encode("utf-8", "replace"))
        try:
            code = await self._run_in(files)
            return self._result(code, files)
        finally:
            await in_thread(files.remove)

    def ask_to_end(self) -> None:
        """Send SIGTERM to the whole group."""
        self._end_asked = True
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL to the whole group."""
        self._killed = True
        self._signal(signal.SIGKILL)

    def last_words(self) -> str:
        """Return the last lines of its output."""
        return self._output.last_words()

    async def _run_in(self, files: WorkDirectory) -> int:
        """Start the program, follow it to its end, and leave no process of its group behind."""
        process, reader, transport = await self._start(files)
        following = asyncio.create_task(self._output.follow(reader))
        watching = asyncio.create_task(self._watch_progress(files))
        try:
            # The leader is seen to end but not yet reaped: its number, which is the group's, is not free
            # for anybody else while the rest of the group is killed.
            await in_thread(lambda: os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT))
        finally:
            self._process = None
            _signal_group(process.pid, signal.SIGKILL)
            watching.cancel()
        code = process.wait()
        await _reap_group(process.pid)
        # A process that left the group may still hold the pipe: its output is not waited for.
        await asyncio.wait({following, watching}, timeout=_OUTPUT_GRACE_S)
        transport.close()
        following.cancel()
        await asyncio.wait({following, watching})
        self._output.end()
        return code

    async def _start(
        self, files: WorkDirectory
    ) -> tuple[subprocess.Popen[bytes], asyncio.StreamReader, asyncio.BaseTransport]:
        read_end, write_end = os.pipe()
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        transport, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_end, "rb", buffering=0)
        )
        try:
            process = self._spawn(files, write_end)
        except BaseException:
            transport.close()
            raise
        finally:
            os.close(write_end)
        self._process = process
        if self._killed:  # both came while it was being started
            self.kill()
        elif self._end_asked:
            self.ask_to_end()
        return process, reader, transport

    def _spawn(self, files: WorkDirectory, output: int) -> subprocess.Popen[bytes]:
        name = self._command[0] if self._command else ""
        try:
            return subprocess.Popen(
                self._command,
                cwd=files.work,
                env=self._variables(files),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except (FileNotFoundError, NotADirectoryError, IndexError):
            raise Permanent(f'command not found in the worker image: "{name}"') from None
        except PermissionError:
            raise Permanent(f'command not executable in the worker image: "{name}"') from None
        except BlockingIOError as error:  # no room for another process now; there may be later
            raise JobFailure(FailureClass.RESOURCE, f'could not start "{name}": {error.strerror}') from None
        except (OSError, ValueError) as error:
            raise Permanent(f'could not start "{name}": {error}') from None

    def _variables(self, files: WorkDirectory) -> dict[str, str]:
        """Return the worker's environment without what is the worker's own, and with what is the job's."""
        inherited = {
            name: value for name, value in self._environment.items() if not name.startswith(OWN_PREFIX)
        }
        return inherited | {
            CommandEnv.JOB_ID: self._context.job_id,
            CommandEnv.PAYLOAD_FILE: str(files.payload_file),
            CommandEnv.RESULT_FILE: str(files.result_file),
            CommandEnv.PROGRESS_FILE: str(files.progress_file),
            ATTEMPT_VARIABLE: str(self._context.attempt),
            TYPE_VARIABLE: self._context.type,
            TENANT_VARIABLE: self._context.tenant,
        }

    async def _watch_progress(self, files: WorkDirectory) -> None:
        last: tuple[float, str] | None = None
        while True:
            await asyncio.sleep(_PROGRESS_INTERVAL_S)
            now = files.read_progress()
            if now is not None and now != last:
                last = now
                self._context.progress(*now)

    def _result(self, code: int, files: WorkDirectory) -> bytes | None:
        if code:
            raise self._failure(code)
        data = check_size(files.read_result(MAX_RESULT_BYTES))
        if not data.strip():
            return None
        try:
            # Encoded again because 1e999 is read as infinity, which no JSON can say.
            json.dumps(json.loads(data, parse_constant=_refuse_constant), allow_nan=False)
        except (ValueError, RecursionError) as error:
            # The content is not repeated: it may be anything.
            raise Permanent(f"the result file is not valid JSON: {error}") from None
        return data

    def _failure(self, code: int) -> Exception:
        if code == EXIT_PERMANENT:
            return Permanent(self._sentence(f"the command refused its data (exit code {code})"))
        if code == EXIT_RETRY:
            return Retry(self._sentence(f"the command asked for a retry (exit code {code})"))
        if code in (-signal.SIGKILL, _SHELL_SAYS_KILLED) and not self._killed:
            killed = "the command was killed by SIGKILL from outside: most likely it ran out of memory"
            return JobFailure(FailureClass.RESOURCE, self._sentence(killed))
        how = f"exit code {code}" if code > 0 else f"signal {_signal_name(-code)}"
        return JobFailure(FailureClass.APP, self._sentence(f"the command ended with {how}"))

    def _sentence(self, what: str) -> str:
        words = self.last_words()
        return f"{what}; it last said:\n{words}" if words else what

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            _signal_group(self._process.pid, number)


def _signal_group(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass  # all of it has ended
    except PermissionError:
        pass  # what is left of it runs as another user by its own doing


async def _reap_group(group: int) -> None:
    """Wait until the killed members of a group are gone; as a subreaper the worker inherits them."""
    tries = round(_REAP_LIMIT_S / _REAP_PAUSE_S)
    for _ in range(tries):
        try:
            while os.waitid(os.P_PGID, group, os.WEXITED | os.WNOHANG):  # noqa: ASYNC222 - it does not wait
                pass
        except ChildProcessError:
            return
        await asyncio.sleep(_REAP_PAUSE_S)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
