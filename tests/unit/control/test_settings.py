"""Settings from the environment."""

import logging
import os
import subprocess
import sys

import pytest

from fairway.control.settings import SettingsError, read_settings

ENVIRONMENT = {
    "FAIRWAY_NAMESPACE": "fairway-system",
    "FAIRWAY_REDIS_URL": "redis://fairway-redis:6379/0",
    "FAIRWAY_WORKER_ANCHOR": "fairway-workers",
    "FAIRWAY_WORKER_IMAGE": "fairway-worker:dev",
    "FAIRWAY_WORKER_REDIS_SECRET": "fairway-redis-worker",
}


def test_what_is_not_set_has_a_default_that_works() -> None:
    settings = read_settings(ENVIRONMENT)
    assert settings.workers.namespaces == ("fairway-system",)
    assert settings.workers.defaults.redis_url == "redis://fairway-redis:6379/0"
    assert settings.workers.defaults.image_pull_policy == "IfNotPresent"
    assert settings.admission.unknown_grace_ms == 30_000
    assert settings.process.log_level == logging.INFO
    assert settings.process.health_port == 8080
    assert settings.redis.password is None


def test_lists_durations_and_choices_are_read() -> None:
    settings = read_settings(
        {
            **ENVIRONMENT,
            "FAIRWAY_WORKER_NAMESPACES": "a, b,,a",
            "FAIRWAY_UNKNOWN_GRACE": "1m30s",
            "FAIRWAY_LOG_LEVEL": "debug",
            "FAIRWAY_WORKER_REDIS_URL": "rediss://elsewhere:6380/1",
        },
    )
    assert settings.workers.namespaces == ("a", "b")
    assert settings.admission.unknown_grace_ms == 90_000
    assert settings.process.log_level == logging.DEBUG
    assert settings.workers.defaults.redis_url == "rediss://elsewhere:6380/1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FAIRWAY_NAMESPACE", ""),
        ("FAIRWAY_REDIS_URL", "fairway-redis:6379"),
        ("FAIRWAY_UNKNOWN_GRACE", "soon"),
        ("FAIRWAY_LOG_LEVEL", "loud"),
        ("FAIRWAY_HEALTH_PORT", "70000"),
        ("FAIRWAY_WORKER_IMAGE_PULL_POLICY", "Sometimes"),
    ],
)
def test_a_wrong_setting_is_named_with_what_to_write(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        read_settings({**ENVIRONMENT, name: value})


def test_the_process_ends_with_a_sentence_and_code_2() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FAIRWAY_")}
    ended = subprocess.run(
        [sys.executable, "-m", "fairway.control.main"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stderr == (
        "fairway-operator: FAIRWAY_NAMESPACE is not set: set it to the operator's own namespace.\n"
    )
