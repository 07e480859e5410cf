"""The loader: what is shared stands in front, and an error names the file that was written by hand."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from fairway.queue import QueueError, loader
from tests.queue.support import META

if TYPE_CHECKING:
    from pathlib import Path

    from redis.asyncio import Redis

    from fairway.queue.connection import Connection

VERBS = loader.names()


@pytest.fixture
def own_scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the scripts that a test may add its own to."""
    copy = tmp_path / "lua"
    shutil.copytree(loader.LUA, copy)
    monkeypatch.setattr(loader, "LUA", copy)
    return copy


def test_every_verb_has_a_script() -> None:
    assert {"submit", "lease", "heartbeat", "complete", "fail", "release", "cancel", "sweep"} <= set(VERBS)
    assert "prelude" not in VERBS


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_shared_stands_in_front(verb: str) -> None:
    script = loader.load(verb)
    files = [file for file, _ in script.parts]
    assert files == [*loader.SHARED, f"{verb}.lua"]
    lines = script.text.splitlines()
    for file, first in script.parts:
        source = (loader.LUA / file).read_text(encoding="utf-8").splitlines()
        assert lines[first - 1 : first - 1 + len(source)] == source


@pytest.mark.parametrize("verb", VERBS)
def test_every_script_opens_with_its_catalogue(verb: str) -> None:
    text = (loader.LUA / f"{verb}.lua").read_text(encoding="utf-8")
    header = [line for line in text.split("\n\n")[0].splitlines() if line.startswith("--")]
    for entry in ("keys: meta", "args: ", "reads", "answer: ", "cost: O("):
        assert any(line.startswith(f"-- {entry}") for line in header), f"{verb}.lua says nothing of {entry!r}"


@pytest.mark.parametrize("verb", VERBS)
async def test_every_script_compiles_under_the_name_we_give_it(raw: Redis, verb: str) -> None:
    script = loader.load(verb)
    assert await raw.script_load(script.text) == script.sha


@pytest.mark.parametrize("verb", VERBS)
def test_only_a_submission_is_refused_by_a_full_redis(verb: str) -> None:
    drains = loader.load(verb).text.startswith("#!lua flags=allow-oom\n")
    assert drains == (verb != "submit")


async def test_a_syntax_error_names_file_and_line(connection: Connection, own_scripts: Path) -> None:
    (own_scripts / "broken.lua").write_text("-- a verb\nlocal a = 1\nlocal b = = 2\n", encoding="utf-8")
    with pytest.raises(QueueError, match=r"broken\.lua:3: unexpected symbol"):
        await connection.run("broken", META)


async def test_an_error_in_what_is_shared_names_it_too(connection: Connection, own_scripts: Path) -> None:
    prelude = own_scripts / "prelude.lua"
    lines = prelude.read_text(encoding="utf-8").splitlines()
    prelude.write_text("\n".join([*lines, "local function fall() error('over') end"]), encoding="utf-8")
    (own_scripts / "falls.lua").write_text("fall()\n", encoding="utf-8")
    with pytest.raises(QueueError, match=rf"prelude\.lua:{len(lines) + 1}: over"):
        await connection.run("falls", META)
