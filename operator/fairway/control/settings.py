"""The operator's settings, read once from the environment. The chart sets every one of them."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fairway.api.durations import parse_duration
from fairway.kube.deployments import WorkerDefaults

if TYPE_CHECKING:
    from collections.abc import Mapping

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_PULL_POLICIES = ("IfNotPresent", "Always", "Never")
_HIGHEST_PORT = 65535


class SettingsError(Exception):
    """A setting is missing or wrong; the message says which one and what to write."""


@dataclass(frozen=True, slots=True)
class RedisSettings:
    """Where the queue is."""

    url: str
    username: str | None
    password: str | None


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Where workers may run, and what they are made of."""

    namespaces: tuple[str, ...]
    """The only namespaces that a JobPool may put its workers into."""
    anchor: str
    """ConfigMap, in each of those namespaces, that owns the workers there."""
    defaults: WorkerDefaults


@dataclass(frozen=True, slots=True)
class AdmissionSettings:
    """How patient the operator is with Jobs that nobody can take."""

    unknown_grace_ms: int
    """How long a Job waits for its JobPool or Tenant to appear before it fails."""


@dataclass(frozen=True, slots=True)
class ProcessSettings:
    """How the process itself behaves."""

    log_level: int
    health_port: int


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings."""

    namespace: str
    """The operator's own namespace: workers run here unless their pool says otherwise."""
    redis: RedisSettings
    workers: WorkerSettings
    admission: AdmissionSettings
    process: ProcessSettings


def read_settings(environment: Mapping[str, str]) -> Settings:
    """Read all settings, or raise `SettingsError`."""
    namespace = _required(environment, "FAIRWAY_NAMESPACE", "the operator's own namespace")
    url = _redis_url(environment, "FAIRWAY_REDIS_URL")
    return Settings(
        namespace=namespace,
        redis=RedisSettings(
            url=url,
            username=environment.get("FAIRWAY_REDIS_USERNAME") or None,
            password=environment.get("FAIRWAY_REDIS_PASSWORD") or None,
        ),
        workers=_workers(environment, namespace, url),
        admission=AdmissionSettings(unknown_grace_ms=_duration(environment, "FAIRWAY_UNKNOWN_GRACE", "30s")),
        process=ProcessSettings(
            log_level=_LEVELS[_choice(environment, "FAIRWAY_LOG_LEVEL", "info", tuple(_LEVELS))],
            health_port=_port(environment, "FAIRWAY_HEALTH_PORT", 8080),
        ),
    )


def _workers(environment: Mapping[str, str], namespace: str, url: str) -> WorkerSettings:
    listed = [each.strip() for each in environment.get("FAIRWAY_WORKER_NAMESPACES", "").split(",")]
    return WorkerSettings(
        namespaces=tuple(dict.fromkeys(each for each in listed if each)) or (namespace,),
        anchor=_required(environment, "FAIRWAY_WORKER_ANCHOR", "the ConfigMap that owns the workers"),
        defaults=WorkerDefaults(
            image=_required(environment, "FAIRWAY_WORKER_IMAGE", "an image such as fairway-worker:dev"),
            image_pull_policy=_choice(
                environment, "FAIRWAY_WORKER_IMAGE_PULL_POLICY", "IfNotPresent", _PULL_POLICIES
            ),
            redis_url=_redis_url(environment, "FAIRWAY_WORKER_REDIS_URL", url),
            redis_username=environment.get("FAIRWAY_WORKER_REDIS_USERNAME", ""),
            redis_secret=_required(
                environment, "FAIRWAY_WORKER_REDIS_SECRET", "a Secret with the key password"
            ),
            revision=environment.get("FAIRWAY_WORKER_REVISION", ""),
        ),
    )


def _required(environment: Mapping[str, str], name: str, what: str) -> str:
    value = environment.get(name, "").strip()
    if not value:
        raise SettingsError(f"{name} is not set: set it to {what}.")
    return value


def _redis_url(environment: Mapping[str, str], name: str, default: str = "") -> str:
    value = environment.get(name, "").strip() or default
    if not value.startswith(("redis://", "rediss://", "unix://")):
        raise SettingsError(
            f"{name} is {value!r}: set it to an address such as redis://fairway-redis:6379/0."
        )
    return value


def _duration(environment: Mapping[str, str], name: str, default: str) -> int:
    try:
        return parse_duration(environment.get(name, "").strip() or default)
    except ValueError as error:
        raise SettingsError(f"{name}: {error}.") from error


def _choice(environment: Mapping[str, str], name: str, default: str, choices: tuple[str, ...]) -> str:
    value = environment.get(name, "").strip() or default
    if value not in choices:
        raise SettingsError(f"{name} is {value!r}: set it to one of {', '.join(choices)}.")
    return value


def _port(environment: Mapping[str, str], name: str, default: int) -> int:
    value = environment.get(name, "").strip() or str(default)
    if not value.isdecimal() or not 0 < int(value) <= _HIGHEST_PORT:
        raise SettingsError(f"{name} is {value!r}: set it to a port from 1 to {_HIGHEST_PORT}.")
    return int(value)
