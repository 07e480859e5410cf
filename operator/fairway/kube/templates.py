"""Whether a pool's template has the shape of a pod template, as far as we add to it.

The API server judges the rest when the Deployment is applied; what it would never get to see is judged here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_OBJECTS = ("metadata", "metadata.labels", "metadata.annotations", "spec", "spec.securityContext")
_LISTS_OF_OBJECTS = ("spec.containers", "spec.volumes")
_CONTAINER_LISTS = ("env", "volumeMounts")
_CONTAINER_OBJECTS = ("securityContext", "resources")


def template_problem(template: Mapping[str, Any]) -> str | None:
    """Return what is wrong with the template's shape in words; None: nothing."""
    return next(_problems(template), None)


def _problems(template: Mapping[str, Any]) -> Iterator[str]:
    for path in _OBJECTS:
        yield from _no_object(path, _at(template, path))
    for path in _LISTS_OF_OBJECTS:
        yield from _no_list(path, _at(template, path))
    for number, container in enumerate(_at(template, "spec.containers") or []):
        for name in _CONTAINER_LISTS:
            yield from _no_list(f"spec.containers[{number}].{name}", container.get(name))
        for name in _CONTAINER_OBJECTS:
            yield from _no_object(f"spec.containers[{number}].{name}", container.get(name))


def _at(template: Mapping[str, Any], path: str) -> Any:
    found: Any = template
    for name in path.split("."):
        # What is no object was told already, by the shorter path.
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _no_object(path: str, value: Any) -> Iterator[str]:
    if value is not None and not isinstance(value, dict):
        yield f"{path} has to be an object"


def _no_list(path: str, value: Any) -> Iterator[str]:
    if value is not None and not isinstance(value, list):
        yield f"{path} has to be a list"
    for number, each in enumerate(value or []):
        if not isinstance(each, dict):
            yield f"{path}[{number}] has to be an object"
