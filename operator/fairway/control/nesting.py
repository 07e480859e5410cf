"""How deep a JSON value is nested, found without recursion: the value may come from anybody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def levels(value: Any) -> Iterator[list[Any]]:
    """Yield the values of each level, from the outermost."""
    level = [value]
    while level:
        yield level
        level = [below for each in level for below in _children(each)]


def nested_deeper(value: Any, most: int) -> bool:
    """Tell whether objects and lists stand in each other more than `most` levels deep."""
    return any(depth > most for depth, _ in enumerate(levels(value)))


def _children(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
