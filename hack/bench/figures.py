"""What a benchmark found out: figures with an optional bar, as a file and as a table."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / ".bench"


@dataclass(frozen=True)
class Figure:
    """One measured number. `bar` is what it is held to, `against` what it was compared with, if anything."""

    name: str
    value: float
    unit: str
    bar: float | None = None
    holds: bool | None = None
    against: str | None = None


def write(name: str, figures: list[Figure]) -> Path:
    """Writes the figures where other programs find them."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.json"
    path.write_text(json.dumps({"figures": [asdict(figure) for figure in figures]}, indent=2) + "\n")
    return path


def table(figures: list[Figure]) -> str:
    """Returns the figures as lines that a person reads."""
    width = max(len(figure.name) for figure in figures)
    return "\n".join(f"  {figure.name:<{width}}  {figure.value:>12,.1f} {figure.unit}" for figure in figures)
