"""How this machine's pip reaches its index, given to a build as secrets: mounted there, never copied."""

import ast
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from hack.cluster.command import run

_MOUNTED_BUNDLE = "/run/secrets/ca-bundle"
_SYSTEM_BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
# Only what leads to the index: paths and habits of the machine mean nothing inside a build.
_KEPT = ("index-url", "extra-index-url", "trusted-host", "proxy", "timeout", "default-timeout", "retries")


def parse(listing: str) -> dict[str, str]:
    """Reads what `pip config list` prints; `install` wins over `global`, the environment over both."""
    found: dict[str, dict[str, str]] = {"global": {}, "install": {}, ":env:": {}}
    for line in listing.splitlines():
        name, _, value = line.partition("=")
        section, _, key = name.partition(".")
        if section in found and value:
            found[section][key] = str(ast.literal_eval(value))
    return {**found["global"], **found["install"], **found[":env:"]}


def render(settings: Mapping[str, str], *, has_bundle: bool) -> str:
    """Writes a pip.conf for the build."""
    lines = ["[global]"]
    lines += [f"{key} = {_continued(settings[key])}" for key in _KEPT if key in settings]
    if has_bundle:
        lines.append(f"cert = {_MOUNTED_BUNDLE}")
    return "\n".join(lines) + "\n"


@contextmanager
def build_secrets() -> Iterator[dict[str, Path]]:
    """Gives the files to mount, by the ids that the Dockerfiles use."""
    settings = parse(run([sys.executable, "-m", "pip", "config", "list"], check=False).stdout)
    bundle = find_bundle(settings, os.environ)
    with tempfile.TemporaryDirectory(prefix="fairway-build-") as folder:
        configuration = Path(folder) / "pip.conf"
        configuration.write_text(render(settings, has_bundle=bundle is not None))
        yield {"pip-conf": configuration} | ({"ca-bundle": bundle} if bundle is not None else {})


def find_bundle(settings: Mapping[str, str], environment: Mapping[str, str]) -> Path | None:
    """Returns the certificates that this machine trusts, if it has them in one file."""
    named = (settings.get("cert"), environment.get("REQUESTS_CA_BUNDLE"), environment.get("SSL_CERT_FILE"))
    for candidate in (*named, _SYSTEM_BUNDLE):
        if candidate and Path(candidate).is_file():
            return Path(candidate)
    return None


def _continued(value: str) -> str:
    return "\n    ".join(value.strip().splitlines())
