"""The two programs that build images, Docker and podman: where they differ, and the commands they share."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hack.cluster import packages
from hack.cluster.choice import docker_answers
from hack.cluster.command import run
from hack.images.catalogue import ROOT, Image
from hack.images.errors import ImageError

LABEL = "dev.fairway.inputs"
FORCE = "FAIRWAY_IMAGE_ENGINE"
PODMAN_COMMANDS = {"podman": "podman", "runc": "runc", "mmdebstrap": "mmdebstrap"}
_BUILD_SECONDS = 1200
_QUESTION_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Engine:
    """A program with Docker's command line."""

    program: str
    build_flags: tuple[str, ...] = ()
    save_flags: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def build_command(
        self, image: Image, arguments: Mapping[str, str], fingerprint: str, secrets: Mapping[str, Path]
    ) -> list[str]:
        """Returns the command that builds the image and labels it with what it was built from."""
        command = [self.program, "build", *self.build_flags, "--file", str(ROOT / image.dockerfile)]
        for name, value in sorted(arguments.items()):
            command += ["--build-arg", f"{name}={value}"]
        for name, path in sorted(secrets.items()):
            command += ["--secret", f"id={name},src={path}"]
        return [*command, "--label", f"{LABEL}={fingerprint}", "--tag", image.reference, str(ROOT)]

    def build(
        self, image: Image, arguments: Mapping[str, str], fingerprint: str, secrets: Mapping[str, Path]
    ) -> None:
        """Builds the image; the one that had its name before is removed, since nothing names it any more."""
        before = self.image_id(image.reference)
        self._run(*self.build_command(image, arguments, fingerprint, secrets)[1:], timeout=_BUILD_SECONDS)
        if before is not None and before != self.image_id(image.reference):
            self._ask("image", "rm", before)

    def fingerprint(self, reference: str) -> str | None:
        """Returns what an image was built from, or None where there is no such image."""
        return self._ask("image", "inspect", "--format", f'{{{{index .Config.Labels "{LABEL}"}}}}', reference)

    def image_id(self, reference: str) -> str | None:
        """Returns the id of an image, or None where there is no such image."""
        return self._ask("image", "inspect", "--format", "{{.Id}}", reference)

    def import_root(self, archive: Path, reference: str, path: str) -> None:
        """Makes an image of a root file system in a tar file; `path` is where its commands are."""
        self._run("import", "--change", f"ENV PATH={path}", str(archive), reference, timeout=_BUILD_SECONDS)

    def save(self, reference: str, archive: Path) -> None:
        """Writes an image as a docker archive."""
        draft = archive.with_suffix(".new")
        draft.unlink(missing_ok=True)  # left by a run that was cut off; podman refuses to write over it
        self._run("save", *self.save_flags, "--output", str(draft), reference, timeout=_BUILD_SECONDS)
        draft.replace(archive)

    def _run(self, *args: str, timeout: float) -> None:
        run([self.program, *args], timeout=timeout, env={**os.environ, **self.environment})

    def _ask(self, *args: str) -> str | None:
        env = {**os.environ, **self.environment}
        answer = run([self.program, *args], check=False, timeout=_QUESTION_SECONDS, env=env)
        return answer.stdout.strip() if answer.returncode == 0 else None


DOCKER = Engine("docker", environment={"DOCKER_BUILDKIT": "1"})
# Nothing is pulled: the bases are made here. Docker's format, because the cluster is given a docker archive.
PODMAN = Engine(
    "podman",
    build_flags=("--pull=never", "--network", "host", "--format", "docker"),
    save_flags=("--quiet", "--format", "docker-archive"),
    environment={"CONTAINERS_CONF": str(Path(__file__).with_name("containers.conf"))},
)


def choose(note: Callable[[str], None]) -> Engine:
    """Returns Docker where its engine answers, else podman, which root on Debian gets installed."""
    forced = os.environ.get(FORCE, "auto")
    if forced not in {"auto", "docker", "podman"}:
        raise ImageError(f"{FORCE}={forced} is none of auto, docker and podman.")
    if forced == "docker" or (forced == "auto" and docker_answers()):
        return DOCKER
    missing = missing_packages(PODMAN_COMMANDS)
    if missing:
        packages.install(missing, note)
    return PODMAN


def missing_packages(commands: Mapping[str, str]) -> list[str]:
    """Returns the packages of those commands that are not there."""
    return sorted({package for command, package in commands.items() if packages.which(command) is None})
