"""What all models of the API have in common: names, descriptions, rules, and what does not act yet."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

PENDING = "x-fairway-pending"
NOT_YET = "Accepted and validated; does not act yet."
REFUSED = "Validated, but does not act yet: a Job that sets it is refused, as it would not run as asked."
UNWRITTEN = "Not written yet."
DEFAULT = "x-fairway-default"
NONE_BY_NULL = "x-fairway-none-by-null"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule in CEL that the API server checks, with a message that says what to write instead."""

    rule: str
    message: str
    at: str | None = None
    """The field (`.minReplicas`) that an error points to, where the rule stands on the object around it."""

    def schema(self) -> dict[str, str]:
        """The rule as an entry of `x-kubernetes-validations`."""
        entry = {"rule": self.rule, "message": self.message}
        return entry if self.at is None else {**entry, "fieldPath": self.at}


class ApiModel(BaseModel):
    """An object of the API. Reading forgives unknown fields: the objects may be newer than this code.

    Doors that talk to people catch typos with `model_validate(…, extra="forbid")`, as the API server does.
    """

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        frozen=True,
    )

    rules: ClassVar[tuple[Rule, ...]] = ()

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Put the model's CEL rules beside its fields."""
        schema = handler.resolve_ref_schema(handler(core))
        if cls.rules:
            schema["x-kubernetes-validations"] = [rule.schema() for rule in cls.rules]
        return schema

    def to_kubernetes(self) -> dict[str, Any]:
        """The object as plain JSON values under its users' names, without what was never set."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def says(
    text: str, *, default: str = "", pending: str = "", none_by_null: bool = False, **limits: Any
) -> FieldInfo:
    """Describe a field for `kubectl explain` and the reference.

    Args:
        text: What the field does.
        default: What holds where it is unset, in words.
        pending: While the field does not act: NOT_YET, REFUSED or UNWRITTEN; the same for what is below it.
        none_by_null: Null means "no limit" here; elsewhere it means the same as leaving the field out.
        limits: Bounds as pydantic names them, and `alias`.
    """
    extra: dict[str, Any] = {}
    if default:
        extra[DEFAULT] = default
    if pending:
        extra[PENDING] = pending
    if none_by_null:
        extra[NONE_BY_NULL] = True
    field: FieldInfo = Field(description=text, json_schema_extra=extra, **limits)
    return field


Name = Annotated[str, Field(min_length=1, max_length=253, pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")]
"""The name of a Kubernetes object."""

Word = Annotated[
    str, Field(min_length=1, max_length=63, pattern=r"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$")
]
"""A short name that users make up: a job type, a capability, a dependency."""

Text = Annotated[str, Field(max_length=1024)]
"""A line of anything."""

Share = Annotated[float, Field(ge=0, le=1)]
"""A part of a whole."""

AnyObject = Annotated[
    dict[str, Any], WithJsonSchema({"type": "object", "x-kubernetes-preserve-unknown-fields": True})
]
"""Any JSON object, kept as it is."""

AnyValue = Annotated[Any, WithJsonSchema({"x-kubernetes-preserve-unknown-fields": True})]
"""Any JSON value, kept as it is."""
