"""Building what changed, and only that."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import yaml

from hack.cluster.progress import Progress
from hack.images.bases import BASES, Base, machine_sources, machine_suite
from hack.images.catalogue import IMAGES, ROOT, Image
from hack.images.engine import DOCKER, Engine, choose
from hack.images.errors import ImageError
from hack.images.pip_settings import build_secrets

_CHART_VALUES = ROOT / "charts" / "fairway" / "values.yaml"


@dataclass(frozen=True, slots=True)
class Work:
    """One line of the progress: what it says, and what is done meanwhile."""

    title: str
    action: Callable[[], None] | None = None


def build() -> Engine:
    """Builds the images whose files changed and returns the engine that has them."""
    engine = choose(lambda text: print(f"images: {text}", flush=True))
    works = _works_with_registry(engine) if engine is DOCKER else _works_without_registry(engine)
    progress = Progress(len(works))
    for work in works:
        with progress.step(work.title):
            if work.action is not None:
                work.action()
    return engine


def chart_redis_image() -> str:
    """Returns the Redis that the chart runs where nobody chooses another."""
    image = yaml.safe_load(_CHART_VALUES.read_text())["redis"]["image"]
    if not image.get("repository") or not image.get("tag"):
        raise ImageError(f"{_CHART_VALUES} names no repository and tag in redis.image.")
    return f"{image['repository']}:{image['tag']}"


def _works_with_registry(engine: Engine) -> list[Work]:
    """Docker pulls the bases that the Dockerfiles and the chart name."""
    return [_image_work(engine, image, {"redis": chart_redis_image()}) for image in IMAGES]


def _works_without_registry(engine: Engine) -> list[Work]:
    """The bases come first: those that an image to be built needs and that this machine does not have."""
    suite = machine_suite()
    references = {base.name: base.reference(suite) for base in BASES}
    images = [(image, _image_work(engine, image, references)) for image in IMAGES]
    needed = {name for image, work in images if work.action is not None for name in image.bases.values()}
    missing = [b for b in BASES if b.name in needed and engine.image_id(references[b.name]) is None]
    return [*(_base_work(engine, base, suite) for base in missing), *(work for _, work in images)]


def _base_work(engine: Engine, base: Base, suite: str) -> Work:
    title = f"base image {base.name} from Debian packages (half a minute, once on this machine)"
    return Work(title, lambda: base.make(engine, suite, machine_sources()))


def _image_work(engine: Engine, image: Image, bases: Mapping[str, str]) -> Work:
    arguments = image.arguments(bases)
    fingerprint = image.fingerprint(arguments)
    if engine.fingerprint(image.reference) == fingerprint:
        return Work(f"image {image.name}:dev, unchanged")

    def action() -> None:
        with build_secrets() as secrets:
            engine.build(image, arguments, fingerprint, secrets)

    return Work(f"image {image.name}:dev, building with {engine.program}", action)
