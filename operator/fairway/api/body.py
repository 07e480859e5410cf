"""What a worker reads of a job: the body that travels through the queue, as compact JSON."""

from typing import Annotated, Any

from pydantic import AwareDatetime, Field

from fairway.api.model import ApiModel, Text, Word


class BodyResources(ApiModel):
    """What the job may use, in plain numbers."""

    memory_bytes: Annotated[int, Field(ge=0)] | None = None
    cpu_time_ms: Annotated[int, Field(ge=0)] | None = None


class JobBody(ApiModel):
    """A job as its worker sees it, with every setting resolved: it needs neither pool nor Kubernetes."""

    type: Word
    command: list[str] | None = None
    payload: dict[str, Any] = Field(default_factory=dict)
    timeout_ms: Annotated[int, Field(gt=0)]
    cancel_grace_ms: Annotated[int, Field(ge=0)]
    deadline: AwareDatetime | None = None
    affinity: Text | None = None
    resources: BodyResources | None = None
    name: Text | None = None
    """`namespace/name` of the Job object, for logs."""

    def to_bytes(self) -> bytes:
        """Compact JSON without what is unset: it is kept for every waiting job."""
        return self.model_dump_json(by_alias=True, exclude_none=True).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> "JobBody":
        """Read what `to_bytes` wrote, also by a newer version."""
        return cls.model_validate_json(data)
