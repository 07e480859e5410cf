"""`python -m fairway.api.generate` writes what is made from the models; `--check` only tells what is stale.

These are the CRDs in crds/, the same bytes for the chart, and docs/reference.md.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from fairway.api.crd import KINDS, definition
from fairway.api.reference import reference

COMMAND = "python -m fairway.api.generate"

_HEADER = f"# Written by `{COMMAND}` from operator/fairway/api: change it there.\n"
_CRD_FOLDERS = ("crds", "charts/fairway/files/crds")


def generated() -> dict[str, str]:
    """Every generated file: its path in the repository, and its text."""
    files: dict[str, str] = {}
    for kind in KINDS:
        crd = definition(kind)
        text = _HEADER + yaml.safe_dump(crd, sort_keys=False, allow_unicode=True, width=110)
        files.update({f"{folder}/{crd['metadata']['name']}.yaml": text for folder in _CRD_FOLDERS})
    files["docs/reference.md"] = (
        f"<!-- Written by `{COMMAND}`: change operator/fairway/api. -->\n{reference()}"
    )
    return files


def stale(root: Path, files: Mapping[str, str]) -> list[str]:
    """Files that are missing, differ from what they should be, or are left over from a kind that is gone."""
    differing = [path for path, text in files.items() if _read(root / path) != text]
    left_over = [
        str(found.relative_to(root))
        for folder in _CRD_FOLDERS
        for found in sorted((root / folder).glob("*.yaml"))
        if str(found.relative_to(root)) not in files
    ]
    return differing + left_over


def write(root: Path, files: Mapping[str, str]) -> list[str]:
    """Bring the files up to date, and tell which ones changed."""
    changed = stale(root, files)
    for path in changed:
        if path in files:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(files[path], encoding="utf-8")
        else:
            (root / path).unlink()
    return changed


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or check the files; the exit code is 1 when a check finds stale ones."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, exit 1 when a file is stale")
    parser.add_argument("--root", type=Path, default=_repository(), help="the repository (default: this one)")
    options = parser.parse_args(arguments)
    if not options.check:
        for path in write(options.root, generated()):
            _say(f"wrote {path}")
        return 0
    old = stale(options.root, generated())
    for path in old:
        _say(f"{path} is stale: run {COMMAND}")
    return 1 if old else 0


def _repository() -> Path:
    return Path(__file__).resolve().parents[3]


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
