"""Jobs that a program runs: files in and out, exit codes, output, and nothing left behind."""

from __future__ import annotations

import logging
import signal
import stat
import tempfile
from pathlib import Path

import pytest

from fairway.api.phases import FailureClass, JobPhase
from tests.worker.support import Bench, content, log_lines, process_lives, until, until_true


async def test_payload_in_result_out(bench: Bench) -> None:
    async with bench.worker():
        job = await bench.shell('cat "$FAIRWAY_PAYLOAD_FILE" > "$FAIRWAY_RESULT_FILE"', payload={"a": "ä"})
        assert await bench.succeeds(job) == {"a": "ä"}
        assert await bench.succeeds(await bench.shell("true")) is None


async def test_the_environment_of_the_contract_and_nothing_of_the_workers(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAIRWAY_REDIS_PASSWORD", "hush")
    monkeypatch.setenv("FAIRWAY_REDIS_URL", "redis://:hush@somewhere")
    monkeypatch.setenv("PLAIN", "kept")
    async with bench.worker():
        listing = "import os, json; json.dump(dict(os.environ), open(os.environ['FAIRWAY_RESULT_FILE'], 'w'))"
        job = await bench.submit(command=["python3", "-c", listing])
        seen = await bench.succeeds(job)
    assert {name for name in seen if name.startswith("FAIRWAY_")} == {
        "FAIRWAY_JOB_ID",
        "FAIRWAY_JOB_TYPE",
        "FAIRWAY_JOB_TENANT",
        "FAIRWAY_ATTEMPT",
        "FAIRWAY_PAYLOAD_FILE",
        "FAIRWAY_RESULT_FILE",
        "FAIRWAY_PROGRESS_FILE",
    }
    assert (seen["FAIRWAY_JOB_ID"], seen["FAIRWAY_ATTEMPT"], seen["PLAIN"]) == (job, "1", "kept")
    assert "hush" not in str(seen)


async def test_a_failing_command_is_retried_then_dead_lettered_with_its_last_words(bench: Bench) -> None:
    async with bench.worker():
        state = await bench.fails(await bench.shell("echo the disk is full >&2; exit 3"))
    assert [attempt.cls for attempt in state.attempts] == [FailureClass.APP, FailureClass.APP]
    assert "exit code 3" in state.attempts[0].error
    assert "the disk is full" in state.attempts[0].error


@pytest.mark.parametrize(
    ("script", "classes"),
    [
        ("exit 65", [FailureClass.PERMANENT]),
        ("exit 75", [FailureClass.APP, FailureClass.APP]),
        ("kill -KILL $$", [FailureClass.RESOURCE, FailureClass.RESOURCE]),
        ("sh -c 'kill -KILL $$'; exit $?", [FailureClass.RESOURCE, FailureClass.RESOURCE]),
        ("echo '[1e999]' > $FAIRWAY_RESULT_FILE", [FailureClass.PERMANENT]),
        ("kill -SEGV $$", [FailureClass.APP, FailureClass.APP]),
    ],
)
async def test_the_way_it_ends_tells_the_class(
    bench: Bench, script: str, classes: list[FailureClass]
) -> None:
    async with bench.worker():
        state = await bench.fails(await bench.shell(script))
    assert [attempt.cls for attempt in state.attempts] == classes


async def test_a_retry_asked_for_by_75_may_succeed(bench: Bench) -> None:
    async with bench.worker():
        job = await bench.shell('test "$FAIRWAY_ATTEMPT" -gt 1 || exit 75')
        await bench.succeeds(job)
    assert len((await bench.state(job)).attempts) == 2


async def test_what_cannot_be_started_is_not_tried_twice(bench: Bench, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\ntrue\n", encoding="utf-8")
    script.chmod(0o644)
    expected = {
        "no-such-program": 'command not found in the worker image: "no-such-program"',
        str(script): f'command not executable in the worker image: "{script}"',
        "nul\0byte": "could not start",
    }
    async with bench.worker():
        for command, words in expected.items():
            state = await bench.fails(await bench.submit(command=[command, "--flag"]))
            assert [attempt.cls for attempt in state.attempts] == [FailureClass.PERMANENT]
            assert words in state.attempts[0].error


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo '{\"half\":' > $FAIRWAY_RESULT_FILE", "not valid JSON"),
        ("echo NaN > $FAIRWAY_RESULT_FILE", "NaN is not JSON"),
        ("printf '\\377' > $FAIRWAY_RESULT_FILE", "not valid JSON"),
        ("head -c 1048577 /dev/zero | tr '\\0' 1 > $FAIRWAY_RESULT_FILE", "the limit is 1048576"),
    ],
)
async def test_a_result_file_that_cannot_be_used_is_a_clear_failure(
    bench: Bench, script: str, words: str
) -> None:
    async with bench.worker():
        state = await bench.fails(await bench.shell(script))
    assert [attempt.cls for attempt in state.attempts] == [FailureClass.PERMANENT]
    assert words in state.attempts[0].error


async def test_the_worker_reads_through_no_link_that_a_command_lays(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tmp_path.chmod(0o755)  # noqa: ASYNC240 - a test may block for a moment
    secret = tmp_path / "secrets" / "result.json"
    secret.parent.mkdir()
    secret.write_text('"only the worker may read this"', encoding="utf-8")
    swap = f'd=$(dirname "$FAIRWAY_RESULT_FILE"); mv "$d" "$d.old" && ln -s "{secret.parent}" "$d"'
    async with bench.worker():
        for script in (f'ln -s "{secret}" "$FAIRWAY_RESULT_FILE"', 'mkfifo "$FAIRWAY_RESULT_FILE"', swap):
            assert await bench.succeeds(await bench.shell(script)) is None
    assert secret.exists()
    # Tidying up reaches nothing outside of the directory.
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755  # noqa: ASYNC240 - a test may block for a moment


async def test_progress_of_a_command(bench: Bench, tmp_path: Path) -> None:
    go = tmp_path / "go"
    script = f'echo "0.4 epoch 3" > "$FAIRWAY_PROGRESS_FILE"; until test -e {go}; do sleep 0.05; done'
    async with bench.worker():
        job = await bench.shell(script)

        async def reported() -> bool:
            state = await bench.state(job)
            return (state.progress, state.message) == (0.4, "epoch 3")

        await until(reported, "the progress to be seen")
        go.touch()
        await bench.succeeds(job)


async def test_output_goes_to_the_log_line_by_line_whatever_is_in_it(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="fairway_worker.output")
    async with bench.worker():
        job = await bench.shell(
            "printf 'one\\n\\377\\376 two\\n%%s {} \\nlast'; printf ' words' >&2; exit 65"
        )
        state = await bench.fails(job)
    lines = [record.getMessage() for record in caplog.records if record.name == "fairway_worker.output"]
    assert lines == ["one", "\ufffd\ufffd two", "%s {} ", "last words"]
    assert "\ufffd\ufffd two\n%s {}\nlast words" in state.attempts[0].error


async def test_endless_output_is_forwarded_but_only_its_end_kept(bench: Bench, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with bench.process(log):
        state = await bench.fails(
            await bench.shell("yes 0123456789abcde | head -c 2000000; echo the end; exit 65")
        )
    assert state.attempts[0].error.endswith("the end")
    assert len(state.attempts[0].error) < 4096
    said = [line for line in log_lines(log) if line["logger"] == "fairway_worker.output"]
    assert len(said) == 125_001
    assert {line["jobID"] for line in said} == {state.id}
    assert {line["job"] for line in said} == {"team/some-job"}


async def test_the_directory_is_empty_writable_and_gone_afterwards(bench: Bench) -> None:
    script = "ls -A > ../listing; mkdir -p a/b; touch a/b/c; chmod 500 a/b; chmod 000 a; pwd"
    script += ' | sed "s/.*/\\"&\\"/" > "$FAIRWAY_RESULT_FILE"; test ! -s ../listing'
    async with bench.worker():
        directory = Path(await bench.succeeds(await bench.shell(script)))
    assert directory.is_relative_to(tempfile.gettempdir())
    assert not directory.parent.exists()


async def test_nothing_of_a_finished_command_goes_on(bench: Bench, tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    async with bench.worker():
        await bench.succeeds(await bench.shell(f"sleep 1000 & echo $! > {pid_file}"))
        pid = int(content(pid_file))
        await until_true(lambda: not process_lives(pid), "the command's child to be gone")


async def test_a_timeout_ends_the_whole_group(bench: Bench, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    script = f"(trap '' TERM; sleep 1000 & echo $! >> {pids}; wait) & echo $! >> {pids}; echo waiting; wait"
    async with bench.worker():
        state = await bench.fails(await bench.shell(script, timeout_ms=300))
    assert [attempt.cls for attempt in state.attempts] == [FailureClass.TIMEOUT, FailureClass.TIMEOUT]
    assert "longer than its timeout of 0.3 s" in state.attempts[0].error
    assert "waiting" in state.attempts[0].error
    for pid in map(int, content(pids).split()):
        await until_true(lambda pid=pid: not process_lives(pid), "the group to be gone")  # type: ignore[misc]


async def test_a_cancelled_command_gets_sigterm_and_time_to_clean_up(bench: Bench, tmp_path: Path) -> None:
    ready, cleaned = tmp_path / "ready", tmp_path / "cleaned"
    script = f"trap 'echo yes > {cleaned}; exit 0' TERM; touch {ready}; while :; do sleep 0.02; done"
    async with bench.worker():
        job = await bench.shell(script)
        await until_true(ready.exists, "the command to be ready")
        await bench.queue.cancel(bench.pool, job, "no longer wanted")
        state = await bench.reaches(job, JobPhase.CANCELLED)
    assert state.attempts[-1].cls is FailureClass.CANCELLED
    assert content(cleaned) == "yes\n"


async def test_a_command_that_ignores_a_cancel_is_killed_after_the_grace(
    bench: Bench, tmp_path: Path
) -> None:
    ready = tmp_path / "ready"
    script = f"trap '' TERM; echo $$ > {ready}; while :; do sleep 0.02; done"
    async with bench.worker():
        job = await bench.shell(script, cancel_grace_ms=100)
        await until_true(lambda: bool(content(ready)), "the command to be ready")
        await bench.queue.cancel(bench.pool, job, "no longer wanted")
        await bench.reaches(job, JobPhase.CANCELLED)
    assert not process_lives(int(content(ready)))


async def test_a_command_gets_no_input_and_default_signals(bench: Bench) -> None:
    async with bench.worker():
        await bench.succeeds(await bench.shell('test -z "$(cat)"'))
        state = await bench.fails(await bench.shell(f"kill -{signal.SIGPIPE.value} $$; exit 0"))
    assert "SIGPIPE" in state.attempts[0].error
