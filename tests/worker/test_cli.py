"""`fairway-worker`: what a person sees who types it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from fairway_worker import cli
from fairway_worker.settings import HELP, Settings, SettingsError, hide_credentials
from tests.worker.support import worker_command

if TYPE_CHECKING:
    from pathlib import Path

MINIMUM = {"FAIRWAY_POOL": "p", "FAIRWAY_REDIS_URL": "redis://localhost"}


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        worker_command(*arguments),
        env={"PATH": os.environ["PATH"], "PYTHONPATH": path, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_defaults() -> None:
    settings = Settings.from_environment(MINIMUM)
    assert (settings.concurrency, settings.drain_seconds, settings.health_port) == (1, 20, 8081)
    assert settings.worker_name
    assert settings.redis_password is None


def test_everything_wrong_is_said_at_once_and_no_secret_repeated() -> None:
    wrong = {
        "FAIRWAY_REDIS_URL": "http://:hush@host",
        "FAIRWAY_CONCURRENCY": "many",
        "FAIRWAY_DRAIN_SECONDS": "-1",
        "FAIRWAY_HEALTH_PORT": "70000",
        "FAIRWAY_LOG_LEVEL": "loud",
    }
    with pytest.raises(SettingsError) as refused:
        Settings.from_environment(wrong)
    said = str(refused.value)
    assert said.splitlines() == [
        "FAIRWAY_POOL is not set: give it the name of a JobPool",
        "FAIRWAY_REDIS_URL must start with redis:// or rediss://",
        'FAIRWAY_CONCURRENCY must be a whole number from 1 to 1000, not "many"',
        'FAIRWAY_DRAIN_SECONDS must be a number from 0 to 10000000, not "-1"',
        'FAIRWAY_HEALTH_PORT must be a whole number from 0 to 65535, not "70000"',
        'FAIRWAY_LOG_LEVEL must be one of debug, info, warning, error, not "loud"',
    ]


def test_the_settings_show_no_password() -> None:
    secret = {"FAIRWAY_REDIS_PASSWORD": "hush", "FAIRWAY_REDIS_URL": "redis://:hush@host"}
    assert "hush" not in repr(Settings.from_environment(MINIMUM | secret))


def test_credentials_leave_the_environment() -> None:
    environment = {"FAIRWAY_REDIS_PASSWORD": "hush", "FAIRWAY_REDIS_URL": "u", "OTHER": "kept"}
    hide_credentials(environment)
    assert environment == {"OTHER": "kept"}


def test_wrong_settings_end_it_with_a_sentence_and_code_2() -> None:
    ended = run("run")
    assert ended.returncode == 2
    assert "fairway-worker: FAIRWAY_POOL is not set" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_help_documents_every_setting() -> None:
    text = run("run", "--help").stdout
    assert [name for name in HELP if name not in text] == []


def test_check_lists_the_handlers() -> None:
    ended = run("check", "tests.worker.programs:worker")
    assert ended.returncode == 0, ended.stderr
    assert "tests.worker.programs:worker: 2 handlers, and command jobs" in ended.stdout
    assert "wait-for-file" in ended.stdout


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("nothing", "write module:worker"),
        ("no_such_module:worker", "cannot import no_such_module: ModuleNotFoundError"),
        ("json:worker", 'json has no "worker"'),
        ("json:dumps", "has a function, not a Worker"),
    ],
)
def test_handlers_that_are_not_there_are_told_apart(
    capsys: pytest.CaptureFixture[str], reference: str, words: str
) -> None:
    assert cli.main(["check", reference]) == 2
    assert words in capsys.readouterr().err


def test_handlers_are_found_in_the_current_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text("from fairway_worker import Worker\nw = Worker()\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert not cli.load_handlers("mine:w").handlers
