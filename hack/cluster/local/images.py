"""The images a local cluster itself needs, made from the compiled binaries."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from hack.cluster.archive import write_archive
from hack.cluster.binaries import Note, cache_lock, new_directory
from hack.cluster.local.layout import COREDNS_IMAGE, PAUSE_IMAGE, VOLUME_IMAGE
from hack.cluster.paths import cache_directory

_FORMAT = 1  # to be raised when archives are written differently


@dataclass(frozen=True, slots=True)
class SystemImage:
    """An image with one static binary of the addons."""

    reference: str
    binary: str
    user: str = "0:0"


SYSTEM_IMAGES = (
    SystemImage(PAUSE_IMAGE, "pause", "65535:65535"),
    SystemImage(COREDNS_IMAGE, "coredns"),
    SystemImage(VOLUME_IMAGE, "volume"),
)


def ensure(addons: Path, note: Note) -> list[Path]:
    """Give the archives of all system images, made now if they are not cached."""
    made_from = f"{_FORMAT} {addons.name} {SYSTEM_IMAGES!r}"
    target = cache_directory() / f"images-{hashlib.sha256(made_from.encode()).hexdigest()[:16]}"
    if not target.exists():
        with cache_lock("images", note):
            if not target.exists():
                _write(target, addons)
    return sorted(target.glob("*.tar"))


def _write(target: Path, addons: Path) -> None:
    with new_directory(target) as draft:
        for image in SYSTEM_IMAGES:
            write_archive(
                draft / f"{image.binary}.tar",
                reference=image.reference,
                files={f"/{image.binary}": addons / image.binary},
                entrypoint=[f"/{image.binary}"],
                user=image.user,
            )
