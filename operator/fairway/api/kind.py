"""What a kind tells Kubernetes about itself beside its schema, and the metadata that every object carries."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import Field

from fairway.api.model import ApiModel, Rule


@dataclass(frozen=True, slots=True)
class Column:
    """One column of `kubectl get`."""

    name: str
    path: str
    type: Literal["string", "integer", "number", "boolean", "date"] = "string"
    wide: bool = False
    """Shown with `-o wide` only."""


@dataclass(frozen=True, slots=True)
class Scale:
    """Where `kubectl scale` and autoscalers read and write."""

    spec_replicas: str
    status_replicas: str
    selector: str


@dataclass(frozen=True, slots=True)
class KindInfo:
    """Names, columns and subresources of a kind."""

    kind: str
    plural: str
    singular: str
    short_names: tuple[str, ...]
    namespaced: bool
    columns: tuple[Column, ...]
    scale: Scale | None = None
    root_rules: tuple[Rule, ...] = ()
    """Rules that look at the object's name, which only the root of the object can."""
    max_name_length: int = 253


class Metadata(ApiModel):
    """The part of Kubernetes' object metadata that we read."""

    name: str = ""
    namespace: str | None = None
    uid: str = ""
    generation: int = 0
    resource_version: str = ""
    creation_timestamp: datetime | None = None
    deletion_timestamp: datetime | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    annotations: dict[str, str] = Field(default_factory=dict)
