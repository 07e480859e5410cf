"""Reads the Lua scripts: what they share is put in front of each, and Redis' line numbers are traced back."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LUA = Path(__file__).parent / "lua"
SHARED = ("prelude.lua", "shared/tenants.lua", "shared/workers.lua", "shared/jobs.lua", "shared/due.lua")
"""In this order in front of every script; each may use what stands before it."""

REFUSED_AT_OOM = frozenset({"submit"})
"""A full Redis takes no new jobs, but every other script must run, or it could never drain."""

_LINE = re.compile(r"@?user_script: ?(\d+)")


@dataclass(frozen=True, slots=True)
class Script:
    """One script, ready to be sent. `parts` says which file each stretch of lines came from."""

    name: str
    text: str
    sha: str
    parts: tuple[tuple[str, int], ...]
    """(file, number of its first line in `text`), ascending."""

    def locate(self, line: int) -> str:
        """Return `file:line` for a line of `text`."""
        for file, first in reversed(self.parts):
            if line >= first:
                return f"{file}:{line - first + 1}"
        return f"{self.name}.lua:header"

    def explain(self, message: str) -> str:
        """Replace Redis' `user_script:<line>` in an error message by the file and line it means."""
        return _LINE.sub(lambda match: self.locate(int(match.group(1))), message)


def assemble(name: str, sources: list[tuple[str, str]]) -> Script:
    """Join sources, given as (file, text) with the script itself last, into one script."""
    flags = "" if name in REFUSED_AT_OOM else " flags=allow-oom"
    text = f"#!lua{flags}\n"
    parts = []
    for file, source in sources:
        parts.append((file, text.count("\n") + 1))
        text += source if source.endswith("\n") else source + "\n"
    # Redis names scripts by their SHA-1; it protects nothing here.
    sha = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
    return Script(name, text, sha, tuple(parts))


@cache
def load(name: str) -> Script:
    """Return the script of one verb."""
    files = [*SHARED, f"{name}.lua"]
    return assemble(name, [(file, (LUA / file).read_text(encoding="utf-8")) for file in files])


def names() -> list[str]:
    """Return the names of all scripts, sorted."""
    return sorted(path.stem for path in LUA.glob("*.lua") if path.name not in SHARED)
