"""What a worker is told by its environment. A wrong value is refused with a sentence, all of them at once."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

from fairway.api.names import Env

if TYPE_CHECKING:
    from collections.abc import Mapping, MutableMapping

LOG_LEVEL: Final = "FAIRWAY_LOG_LEVEL"
CREDENTIAL_PREFIX: Final = "FAIRWAY_REDIS_"
OWN_PREFIX: Final = "FAIRWAY_"
_LEVELS = ("debug", "info", "warning", "error")
_SCHEMES = ("redis://", "rediss://")
_MAX_CONCURRENCY = 1000
_MAX_PORT = 65535

HELP: Final = {
    Env.POOL: "the JobPool to work for; required",
    Env.REDIS_URL: "redis://host:port/db, or rediss:// for TLS; required",
    Env.REDIS_USERNAME: "user in Redis (default: none)",
    Env.REDIS_PASSWORD: "password in Redis (default: none)",
    Env.CONCURRENCY: "how many jobs at once, 1 to 1000 (default: 1)",
    Env.WORKER_NAME: "name shown in a job's attempts; a random suffix is added (default: the host's name)",
    Env.NODE_NAME: "node shown in a job's attempts (default: none)",
    Env.DRAIN_SECONDS: "after SIGTERM, how long running jobs may take to finish before they are given back"
    " (default: 20)",
    Env.HANDLERS: "module:worker to run where the command line names none (default: built-in handlers)",
    Env.HEALTH_PORT: "port of /healthz and /readyz; 0: any free one (default: 8081)",
    LOG_LEVEL: "debug, info, warning or error (default: info)",
}
"""Every variable with what it means, for `fairway-worker run --help`."""


class SettingsError(Exception):
    """What is wrong with the environment, one sentence a line."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one worker process."""

    pool: str
    redis_url: str = field(repr=False)  # a URL may hold a password
    redis_username: str | None = None
    redis_password: str | None = field(default=None, repr=False)
    concurrency: int = 1
    worker_name: str = field(default_factory=socket.gethostname)
    node_name: str = ""
    drain_seconds: float = 20.0
    handlers: str = ""
    health_port: int = 8081
    log_level: str = "info"

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read the settings.

        Raises:
            SettingsError: when something required is missing or a value makes no sense.
        """
        reader = _Reader(environment)
        settings = cls(
            pool=reader.required(Env.POOL, "the name of a JobPool"),
            redis_url=reader.url(),
            redis_username=reader.text(Env.REDIS_USERNAME) or None,
            redis_password=reader.text(Env.REDIS_PASSWORD) or None,
            concurrency=int(reader.number(Env.CONCURRENCY, 1, 1, _MAX_CONCURRENCY, whole=True)),
            worker_name=reader.text(Env.WORKER_NAME) or socket.gethostname(),
            node_name=reader.text(Env.NODE_NAME),
            drain_seconds=reader.number(Env.DRAIN_SECONDS, 20, 0, 10_000_000),
            handlers=reader.text(Env.HANDLERS),
            health_port=int(reader.number(Env.HEALTH_PORT, 8081, 0, _MAX_PORT, whole=True)),
            log_level=reader.one_of(LOG_LEVEL, _LEVELS, "info"),
        )
        if reader.problems:
            raise SettingsError("\n".join(reader.problems))
        return settings


def hide_credentials(environment: MutableMapping[str, str]) -> None:
    """Remove what opens Redis, so that programs started by handlers do not inherit it."""
    for name in [name for name in environment if name.startswith(CREDENTIAL_PREFIX)]:
        del environment[name]


class _Reader:
    """Reads values and collects what is wrong with them, so that a user mends everything at once."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.problems: list[str] = []

    def text(self, name: str) -> str:
        return self._environment.get(name, "").strip()

    def required(self, name: str, what: str) -> str:
        value = self.text(name)
        if not value:
            self.problems.append(f"{name} is not set: give it {what}")
        return value

    def url(self) -> str:
        value = self.required(Env.REDIS_URL, "redis://host:port")
        if value and not value.startswith(_SCHEMES):
            # The value itself is not repeated: it may hold a password.
            self.problems.append(f"{Env.REDIS_URL} must start with redis:// or rediss://")
        return value

    def number(self, name: str, default: float, least: float, most: float, *, whole: bool = False) -> float:
        text = self.text(name)
        if not text:
            return default
        try:
            value = int(text) if whole else float(text)
        except ValueError:
            value = None
        if value is None or not least <= value <= most:
            kind = "a whole number" if whole else "a number"
            self.problems.append(f'{name} must be {kind} from {least} to {most}, not "{text}"')
            return default
        return value

    def one_of(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        value = self.text(name).lower() or default
        if value not in allowed:
            self.problems.append(f'{name} must be one of {", ".join(allowed)}, not "{value}"')
        return value
