"""Locks the dependencies: `make lock` writes requirements/*.txt, each with versions and hashes.

`dev.txt` is resolved from pyproject.toml; the images' files are subsets of it, so that what is tested is
what ships. Not three resolutions: they could disagree, and each has to hash every file of every package.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from packaging.metadata import parse_email
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "requirements"
HEADER = "# Written by `make lock` from pyproject.toml: do not edit.\n"


def subsets(pyproject: dict[str, Any]) -> dict[str, list[str]]:
    """Returns what each of the images' files has to contain, as pyproject.toml asks for it."""
    base = pyproject["project"]["dependencies"]
    return {
        "operator.txt": [*base, *pyproject["project"]["optional-dependencies"]["operator"]],
        "worker.txt": base,
        "build.txt": pyproject["build-system"]["requires"],
    }


def resolve_everything() -> None:
    """Runs pip-compile for the union of all extras."""
    quiet = [
        "--quiet",
        "--no-header",
        "--no-emit-index-url",
        "--no-emit-find-links",
        "--no-emit-trusted-host",
    ]
    extras = ["--extra", "operator", "--extra", "dev"]
    command = [
        sys.executable,
        "-m",
        "piptools",
        "compile",
        "--generate-hashes",
        "--allow-unsafe",
        "--strip-extras",
    ]
    target = REQUIREMENTS / "dev.txt"
    print("lock: resolving and hashing every package (some minutes)")
    subprocess.run([*command, *quiet, *extras, "-o", str(target), "pyproject.toml"], cwd=ROOT, check=True)


def pinned_blocks() -> dict[str, str]:
    """Returns each package's pin with its hashes, by its canonical name."""
    blocks: dict[str, str] = {}
    for block in re.split(r"\n(?=[a-zA-Z0-9])", (REQUIREMENTS / "dev.txt").read_text()):
        lines = [line for line in block.splitlines() if not line.lstrip().startswith("#")]
        if lines:
            blocks[canonicalize_name(lines[0].split("==")[0].strip())] = "\n".join(lines) + "\n"
    return blocks


def installed_requirements(name: str) -> list[Requirement]:
    """Returns what an installed package asks for, as its metadata says."""
    from importlib.metadata import distribution  # noqa: PLC0415 - looked up late: only this command needs it

    text = distribution(name).read_text("METADATA") or ""
    raw, _ = parse_email(text)
    return [Requirement(line) for line in raw.get("requires_dist", [])]


def closure(wanted: list[Requirement]) -> set[str]:
    """Returns the names of all packages that the wanted ones need, themselves included."""
    seen: set[tuple[str, str]] = set()
    todo = [(canonicalize_name(r.name), extra) for r in wanted for extra in ("", *r.extras)]
    while todo:
        name, extra = todo.pop()
        if (name, extra) in seen:
            continue
        seen.add((name, extra))
        for requirement in installed_requirements(name):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                found = canonicalize_name(requirement.name)
                todo += [(found, inner) for inner in ("", *requirement.extras)]
    return {name for name, _ in seen}


def main() -> None:
    """Resolves (unless told `--subsets`, when dev.txt is current) and writes the images' subsets."""
    if "--subsets" not in sys.argv[1:]:
        resolve_everything()
    blocks = pinned_blocks()
    (REQUIREMENTS / "dev.txt").write_text(HEADER + "".join(blocks[name] for name in sorted(blocks)))
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for file, lines in subsets(pyproject).items():
        names = closure([Requirement(line) for line in lines])
        (REQUIREMENTS / file).write_text(HEADER + "".join(blocks[name] for name in sorted(names)))


if __name__ == "__main__":
    main()
