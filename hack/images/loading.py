"""Putting the built images into the cluster, where it does not have them yet."""

import json
import tarfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from hack.cluster.paths import cache_directory
from hack.cluster.progress import Progress
from hack.images.catalogue import IMAGES, Image
from hack.images.errors import ImageError

if TYPE_CHECKING:
    from hack.cluster.interface import Cluster
    from hack.images.engine import Engine


def load(engine: "Engine", cluster: "Cluster") -> None:
    """Loads the images that the cluster lacks, all at once."""
    archives = [saved(engine, image) for image in IMAGES]
    lacking = [
        (image, archive)
        for image, archive in zip(IMAGES, archives, strict=True)
        if not cluster.has_image(image.reference, archive_image_id(archive))
    ]
    names = ", ".join(f"{image.name}:dev" for image, _ in lacking)
    title = f"loading {names} into {cluster.name}" if lacking else f"images in {cluster.name}, unchanged"
    with Progress(1).step(title):
        if lacking:
            cluster.load_archives([archive for _, archive in lacking])


def revisions(engine: "Engine") -> dict[str, str]:
    """Returns a short word for the content of each built image, by its name: the tag alone never changes."""
    found = {image.name: engine.image_id(image.reference) for image in IMAGES}
    return {name: image_id.removeprefix("sha256:")[:12] for name, image_id in found.items() if image_id}


def saved(engine: "Engine", image: Image, folder: Path | None = None) -> Path:
    """Returns the image's archive from the cache, written now if it is not there; older ones are removed."""
    image_id = engine.image_id(image.reference)
    if image_id is None:
        raise ImageError(f"There is no image {image.reference} yet: run `make images`.")
    folder = folder or cache_directory().parent / "images"
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"{image.name}@{image_id.removeprefix('sha256:')[:20]}.tar"
    if not archive.exists():
        engine.save(image.reference, archive)
    for older in folder.glob(f"{image.name}@*.tar"):
        if older != archive:
            older.unlink()
    return archive


def archive_image_id(archive: Path) -> str:
    """Returns the id that a node gives the image of an archive: the hash of its configuration."""
    with tarfile.open(archive) as tar:
        member = tar.extractfile("manifest.json")
        if member is None:
            raise ImageError(f"{archive} is no docker archive: remove it and run `make images` again.")
        manifest = json.loads(member.read())
    # Docker has written both `<hash>.json` and `blobs/sha256/<hash>`.
    return f"sha256:{PurePosixPath(manifest[0]['Config']).name.removesuffix('.json')}"
