"""Images: what makes one new, the commands that build it, and what a cluster is given."""

import io
import json
import shutil
import tarfile
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from hack.images import ImageError, load, revisions
from hack.images.bases import BASES, Base, machine_sources, machine_suite
from hack.images.building import chart_redis_image
from hack.images.catalogue import IMAGES, ROOT, Image
from hack.images.engine import DOCKER, LABEL, PODMAN, Engine, choose, missing_packages
from hack.images.loading import archive_image_id, saved
from hack.images.pip_settings import find_bundle, parse, render

if TYPE_CHECKING:
    from hack.cluster import Cluster

DOCKERFILES = ("operator/Dockerfile", "worker-image/Dockerfile")
IMAGE = Image("app", "app/Dockerfile", ("requirements.txt", "source"), {"BASE_IMAGE": "runtime"})
ARGUMENTS = {"BASE_IMAGE": "base:1"}
IMAGE_ID = "ab" * 32


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("app/Dockerfile", "requirements.txt", "source/main.py", "source/deep/part.lua", "notes.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


@pytest.mark.parametrize("changed", ["app/Dockerfile", "requirements.txt", "source/main.py", "source/new.py"])
def test_a_changed_input_changes_the_fingerprint(checkout: Path, changed: str) -> None:
    before = IMAGE.fingerprint(ARGUMENTS, checkout)
    (checkout / changed).write_text("something else")
    assert IMAGE.fingerprint(ARGUMENTS, checkout) != before


def test_a_moved_or_removed_file_changes_the_fingerprint(checkout: Path) -> None:
    before = IMAGE.fingerprint(ARGUMENTS, checkout)
    (checkout / "source/main.py").rename(checkout / "source/other.py")
    moved = IMAGE.fingerprint(ARGUMENTS, checkout)
    (checkout / "source/other.py").unlink()
    assert len({before, moved, IMAGE.fingerprint(ARGUMENTS, checkout)}) == 3


def test_another_base_changes_the_fingerprint(checkout: Path) -> None:
    assert IMAGE.fingerprint({"BASE_IMAGE": "base:2"}, checkout) != IMAGE.fingerprint(ARGUMENTS, checkout)


def test_what_is_not_in_the_image_does_not_change_the_fingerprint(checkout: Path) -> None:
    before = IMAGE.fingerprint(ARGUMENTS, checkout)
    (checkout / "notes.md").write_text("something else")
    (checkout / "source/__pycache__").mkdir()
    (checkout / "source/__pycache__/main.cpython-311.pyc").write_bytes(b"\0")
    assert IMAGE.fingerprint(ARGUMENTS, checkout) == before


def copied(dockerfile: str) -> set[str]:
    """Returns what a Dockerfile copies from the checkout."""
    lines = [
        line.split() for line in (ROOT / dockerfile).read_text().splitlines() if line.startswith("COPY ")
    ]
    return {source for words in lines if not words[1].startswith("--") for source in words[1:-1]}


@pytest.mark.parametrize("dockerfile", DOCKERFILES)
def test_all_that_a_dockerfile_copies_counts_and_is_let_into_the_build(dockerfile: str) -> None:
    image = next(image for image in IMAGES if image.dockerfile == dockerfile)
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    sources = copied(dockerfile)
    assert sources
    assert sources <= set(image.inputs)
    assert all(any(fnmatch(source, pattern) for pattern in allowed) for source in sources)


def test_every_input_of_every_image_exists() -> None:
    assert [
        name for image in IMAGES for name in (image.dockerfile, *image.inputs) if not (ROOT / name).exists()
    ] == []


def test_docker_builds_on_the_public_base_that_the_dockerfile_names() -> None:
    image = IMAGES[0]
    command = DOCKER.build_command(image, image.arguments({"redis": "redis:7"}), "f00", {})
    file = str(ROOT / "operator/Dockerfile")
    label = f"{LABEL}=f00"
    reference = "docker.io/library/fairway:dev"
    assert command == ["docker", "build", "--file", file, "--label", label, "--tag", reference, str(ROOT)]


def test_podman_pulls_nothing_and_gets_its_bases_and_secrets() -> None:
    secrets = {"pip-conf": Path("/s/pip.conf"), "ca-bundle": Path("/s/ca.crt")}
    arguments = IMAGES[1].arguments({"runtime": "localhost/b:r", "build": "localhost/b:b", "redis": "unused"})
    command = " ".join(PODMAN.build_command(IMAGES[1], arguments, "f00", secrets))
    assert command.startswith("podman build --pull=never --network host --format docker ")
    assert "--build-arg BASE_IMAGE=localhost/b:r --build-arg BUILD_IMAGE=localhost/b:b " in command
    assert "--secret id=ca-bundle,src=/s/ca.crt --secret id=pip-conf,src=/s/pip.conf " in command
    assert "redis" not in command
    assert Path(PODMAN.environment["CONTAINERS_CONF"]).is_file()


def test_the_dockerfiles_know_the_secrets_by_the_ids_that_builds_give() -> None:
    for dockerfile in DOCKERFILES:
        text = (ROOT / dockerfile).read_text()
        assert "--mount=type=secret,id=pip-conf,target=/etc/pip.conf" in text
        assert "--mount=type=secret,id=ca-bundle " in text


def test_an_unknown_engine_is_refused_with_the_known_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIRWAY_IMAGE_ENGINE", "rocket")
    with pytest.raises(ImageError, match="rocket is none of auto, docker and podman"):
        choose(print)


def test_missing_packages_are_those_of_missing_commands() -> None:
    commands = {"sh": "dash", "no-such-command": "one-package", "nor-this-one": "one-package"}
    assert missing_packages(commands) == ["one-package"]


def test_a_base_is_named_after_its_recipe() -> None:
    base = Base("runtime", ("python3",))
    names = {base.reference("bookworm"), base.reference("trixie"), Base("runtime", ()).reference("bookworm")}
    assert len(names) == 3
    assert base.reference("bookworm") == Base("runtime", ("python3",)).reference("bookworm")


def test_a_base_comes_from_the_machines_own_sources() -> None:
    command = BASES[0].command("bookworm", Path("/etc/apt/sources.list"), Path("/tmp/root.tar"))  # noqa: S108 - only a word here
    assert command[0] == "mmdebstrap"
    assert command[-3:] == ["bookworm", "/tmp/root.tar", "/etc/apt/sources.list"]  # noqa: S108 - the same word
    assert not any("://" in word for word in command)


def test_every_base_that_an_image_names_can_be_made() -> None:
    assert {name for image in IMAGES for name in image.bases.values()} == {base.name for base in BASES}


def test_the_release_is_read_from_os_release(tmp_path: Path) -> None:
    release = tmp_path / "os-release"
    release.write_text('NAME="Debian GNU/Linux"\nVERSION_CODENAME=bookworm\n')
    assert machine_suite(release) == "bookworm"
    release.write_text("NAME=Other\n")
    with pytest.raises(ImageError, match="start Docker"):
        machine_suite(release)


def test_sources_are_the_first_file_with_an_entry(tmp_path: Path) -> None:
    absent, empty, filled = (tmp_path / name for name in ("absent", "empty", "filled"))
    empty.write_text("# moved\n\n")
    filled.write_text("Types: deb\n")
    assert machine_sources([absent, empty, filled]) == filled
    with pytest.raises(ImageError, match="says where Debian packages come from"):
        machine_sources([absent, empty])


def test_pip_settings_that_lead_to_the_index_reach_the_build() -> None:
    listing = (
        "global.index-url='https://one.example/simple'\n"
        "global.extra-index-url='\\nhttps://a.example\\nhttps://b.example'\n"
        "install.index-url='https://two.example/simple'\n"
        "freeze.timeout='1'\n"
        ":env:.find-links='/somewhere'\n"
        ":env:.timeout='90'\n"
    )
    assert render(parse(listing), has_bundle=True) == (
        "[global]\n"
        "index-url = https://two.example/simple\n"
        "extra-index-url = https://a.example\n"
        "    https://b.example\n"
        "timeout = 90\n"
        "cert = /run/secrets/ca-bundle\n"
    )
    assert render({}, has_bundle=False) == "[global]\n"


def test_the_bundle_is_the_one_that_pip_names_if_it_is_there(tmp_path: Path) -> None:
    pips, others = tmp_path / "pip.crt", tmp_path / "other.crt"
    pips.touch()
    others.touch()
    assert find_bundle({"cert": str(pips)}, {"SSL_CERT_FILE": str(others)}) == pips
    assert find_bundle({"cert": str(tmp_path / "gone")}, {"SSL_CERT_FILE": str(others)}) == others


def test_docker_gets_the_redis_that_the_chart_runs() -> None:
    repository, _, tag = chart_redis_image().rpartition(":")
    assert repository.endswith("redis")
    assert tag


def write_archive(path: Path, config: str) -> Path:
    """Writes as much of a docker archive as tells the image's id."""
    content = json.dumps([{"Config": config, "RepoTags": [], "Layers": []}]).encode()
    with tarfile.open(path, "w") as tar:
        entry = tarfile.TarInfo("manifest.json")
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    return path


@pytest.mark.parametrize("config", [f"{IMAGE_ID}.json", f"blobs/sha256/{IMAGE_ID}"])
def test_an_archive_tells_the_id_of_its_image(tmp_path: Path, config: str) -> None:
    assert archive_image_id(write_archive(tmp_path / "image.tar", config)) == f"sha256:{IMAGE_ID}"


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """Gives an engine whose program has every image, all with one id, and counts what it saves."""
    archive = write_archive(tmp_path / "original.tar", f"{IMAGE_ID}.json")
    program = tmp_path / "engine"
    program.write_text(
        "#!/bin/sh\n"
        f'case "$1" in image) echo sha256:{IMAGE_ID} ;;\n'
        f'save) echo saved >> {tmp_path}/saves; cp {archive} "$3" ;; esac\n'
    )
    program.chmod(0o755)
    return Engine(str(program))


class Shelf:
    """As much of a cluster as loading needs: it keeps the archives' ids."""

    name = "shelf"

    def __init__(self, *held: str) -> None:
        self.held = set(held)
        self.loaded: list[str] = []

    def has_image(self, reference: str, image_id: str) -> bool:
        """Tells whether the image is on the shelf."""
        return f"{reference} {image_id}" in self.held

    def load_archives(self, archives: Sequence[Path]) -> None:
        """Remembers the names of the images."""
        self.loaded += [path.name.partition("@")[0] for path in archives]


def test_an_archive_is_saved_once_and_replaces_older_ones(engine: Engine, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    for name in ("app@0ld.tar", "app-other@0ld.tar"):
        (cache / name).touch()
    first = saved(engine, IMAGE, cache)
    assert saved(engine, IMAGE, cache) == first
    assert (tmp_path / "saves").read_text() == "saved\n"
    assert sorted(path.name for path in cache.iterdir()) == ["app-other@0ld.tar", first.name]


def test_only_what_the_cluster_lacks_is_loaded(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    shelf: Any = Shelf(f"docker.io/library/fairway:dev sha256:{IMAGE_ID}")
    load(engine, cast("Cluster", shelf))
    assert shelf.loaded == ["fairway-worker", "fairway-redis"]


def test_loading_an_image_that_was_never_built_says_what_to_run(tmp_path: Path) -> None:
    never = Engine(shutil.which("false") or "false")
    with pytest.raises(ImageError, match=r"no image docker\.io/library/app:dev yet: run `make images`"):
        saved(never, IMAGE, tmp_path)


def test_revisions_are_short_ids(engine: Engine) -> None:
    assert revisions(engine) == {image.name: IMAGE_ID[:12] for image in IMAGES}
