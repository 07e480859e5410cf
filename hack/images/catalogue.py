"""The images that a development cluster runs, and what each is made of."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_PROJECT = ("pyproject.toml", "README.md", "LICENSE", "operator/fairway", "worker-image/fairway_worker")
_BUILT = (".dockerignore", "requirements/build.txt", *_PROJECT)
_PYTHON_BASES = {"BASE_IMAGE": "runtime", "BUILD_IMAGE": "build"}


@dataclass(frozen=True, slots=True)
class Image:
    """One image: its Dockerfile, the files and folders in it, and the base behind each build argument."""

    name: str
    dockerfile: str
    inputs: tuple[str, ...]
    bases: Mapping[str, str]

    @property
    def reference(self) -> str:
        """The full name, which is what containerd makes of the short one in a manifest."""
        return f"docker.io/library/{self.name}:dev"

    def arguments(self, available: Mapping[str, str]) -> dict[str, str]:
        """Returns the arguments for the bases that are available; others keep the Dockerfile's default."""
        return {argument: available[base] for argument, base in self.bases.items() if base in available}

    def fingerprint(self, arguments: Mapping[str, str], root: Path = ROOT) -> str:
        """Returns a hash that changes with anything that could change the image."""
        digest = hashlib.sha256()
        for argument, value in sorted(arguments.items()):
            digest.update(f"{argument}={value}\0".encode())
        for path in _files(root, (self.dockerfile, *self.inputs)):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(root)} {content}\0".encode())
        return digest.hexdigest()


def _files(root: Path, inputs: tuple[str, ...]) -> Iterator[Path]:
    """Yields the files of the inputs in a fixed order, without what Python leaves beside its sources."""
    for name in sorted(inputs):
        path = root / name
        if path.is_dir():
            yield from sorted(f for f in path.rglob("*") if f.is_file() and "__pycache__" not in f.parts)
        else:
            yield path


IMAGES = (
    Image("fairway", "operator/Dockerfile", ("requirements/operator.txt", *_BUILT), _PYTHON_BASES),
    Image("fairway-worker", "worker-image/Dockerfile", ("requirements/worker.txt", *_BUILT), _PYTHON_BASES),
    Image("fairway-redis", "hack/images/redis.Dockerfile", (), {"BASE_IMAGE": "redis"}),
)
