"""Small container images without any engine or registry: a docker archive of a few static binaries."""

import hashlib
import io
import json
import platform
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path

_EPOCH = "1970-01-01T00:00:00Z"


def write_archive(
    path: Path,
    *,
    reference: str,
    files: Mapping[str, Path],
    entrypoint: Sequence[str],
    user: str = "0:0",
) -> str:
    """Write an image as ``docker save`` would, and give its id; the same files make the same bytes.

    Args:
        path: The archive to write.
        reference: The image's full name with its tag.
        files: The executables, by their path in the image.
        entrypoint: What the image runs.
        user: As whom.
    """
    layer = _layer(files)
    config = json.dumps(
        {
            "architecture": _architecture(),
            "os": "linux",
            "created": _EPOCH,
            "config": {"Entrypoint": list(entrypoint), "User": user, "WorkingDir": "/"},
            "rootfs": {"type": "layers", "diff_ids": [f"sha256:{_sha256(layer)}"]},
            "history": [{"created": _EPOCH, "created_by": "fairway"}],
        },
        sort_keys=True,
    ).encode()
    image_id = _sha256(config)
    manifest = [{"Config": f"{image_id}.json", "RepoTags": [reference], "Layers": ["layer.tar"]}]
    draft = path.with_suffix(".new")
    with tarfile.open(draft, "w", format=tarfile.USTAR_FORMAT) as archive:
        _add(archive, f"{image_id}.json", config)
        _add(archive, "layer.tar", layer)
        _add(archive, "manifest.json", json.dumps(manifest).encode())
    draft.replace(path)
    return f"sha256:{image_id}"


def images_in(archive: Path) -> dict[str, str]:
    """Read a docker archive: the full name of each image in it, and its id."""
    with tarfile.open(archive) as content:
        return {
            full_name(tag): f"sha256:{_sha256(_read(content, entry['Config']))}"
            for entry in json.loads(_read(content, "manifest.json"))
            for tag in entry["RepoTags"] or ()
        }


def full_name(reference: str) -> str:
    """Spell a name out as a node does: ``fairway:dev`` is ``docker.io/library/fairway:dev``."""
    first, slash, _ = reference.partition("/")
    if not slash:
        return f"docker.io/library/{reference}"
    if first == "localhost" or "." in first or ":" in first:
        return reference
    return f"docker.io/{reference}"


def _read(archive: tarfile.TarFile, name: str) -> bytes:
    member = archive.extractfile(name)
    return b"" if member is None else member.read()


def _layer(files: Mapping[str, Path]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as layer:
        for name, source in sorted(files.items()):
            _add(layer, name.lstrip("/"), source.read_bytes(), mode=0o755)
    return buffer.getvalue()


def _add(archive: tarfile.TarFile, name: str, content: bytes, mode: int = 0o644) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    entry.mode = mode
    archive.addfile(entry, io.BytesIO(content))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _architecture() -> str:
    return {"x86_64": "amd64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
