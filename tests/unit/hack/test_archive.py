import hashlib
import json
import tarfile
from pathlib import Path

import pytest

from hack.cluster.archive import full_name, images_in, write_archive


def _image(directory: Path, name: str) -> tuple[Path, str]:
    binary = directory / "tool"
    binary.write_bytes(b"\x7fELF")
    archive = directory / name
    image_id = write_archive(
        archive, reference="localhost/x/tool:1", files={"/tool": binary}, entrypoint=["/tool"], user="7:7"
    )
    return archive, image_id


def test_an_archive_is_what_docker_save_would_write(tmp_path: Path) -> None:
    path, image_id = _image(tmp_path, "a.tar")
    with tarfile.open(path) as archive:
        contents = {entry.name: archive.extractfile(entry) for entry in archive}
        manifest, config, layer = (
            stream.read() if (stream := contents[name]) else b""
            for name in ("manifest.json", f"{image_id.removeprefix('sha256:')}.json", "layer.tar")
        )
    assert json.loads(manifest)[0]["RepoTags"] == ["localhost/x/tool:1"]
    assert image_id == f"sha256:{hashlib.sha256(config).hexdigest()}"
    assert json.loads(config)["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer).hexdigest()}"]
    assert json.loads(config)["config"] == {"Entrypoint": ["/tool"], "User": "7:7", "WorkingDir": "/"}


def test_the_same_files_make_the_same_bytes(tmp_path: Path) -> None:
    first, first_id = _image(tmp_path, "a.tar")
    second, second_id = _image(tmp_path, "b.tar")
    assert (first.read_bytes(), first_id) == (second.read_bytes(), second_id)


def test_an_archive_tells_its_names_and_ids(tmp_path: Path) -> None:
    path, image_id = _image(tmp_path, "a.tar")
    assert images_in(path) == {"localhost/x/tool:1": image_id}


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("fairway:dev", "docker.io/library/fairway:dev"),
        ("team/fairway:dev", "docker.io/team/fairway:dev"),
        ("localhost/fairway:dev", "localhost/fairway:dev"),
        ("example.com:5000/fairway:dev", "example.com:5000/fairway:dev"),
    ],
)
def test_names_are_spelled_out(short: str, full: str) -> None:
    assert full_name(short) == full
