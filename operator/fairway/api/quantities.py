"""Sizes as Kubernetes writes them: `2Gi`, `500M`, or a plain number of bytes."""

import re
from decimal import ROUND_CEILING, Decimal
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

PATTERN = r"^[0-9]+(\.[0-9]+)?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?$"
ADVICE = "write a size such as 512Mi, 2Gi or 500M"
MAX_LENGTH = 32

_WHOLE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?")
_UNITS = {
    "": 1,
    **{unit: 1000**power for power, unit in enumerate(("k", "M", "G", "T", "P", "E"), start=1)},
    **{unit: 1024**power for power, unit in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), start=1)},
}


def parse_quantity(text: str | int) -> int:
    """Bytes in a size, rounded up as Kubernetes does."""
    match = _WHOLE.fullmatch(str(text)) if len(str(text)) <= MAX_LENGTH else None
    if match is None:
        raise ValueError(f"{str(text)[:MAX_LENGTH]!r} is not a size: {ADVICE}")
    number, unit = match.groups(default="")
    return int((Decimal(number) * _UNITS[unit]).to_integral_value(rounding=ROUND_CEILING))


def _number_as_text(value: object) -> object:
    """YAML reads `memory: 1000000` as a number, and the API server keeps it as one."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _check(text: str) -> str:
    parse_quantity(text)
    return text


Quantity = Annotated[
    str,
    BeforeValidator(_number_as_text),
    AfterValidator(_check),
    WithJsonSchema(
        {
            "x-kubernetes-int-or-string": True,
            "maxLength": MAX_LENGTH,
            "pattern": PATTERN,
            "x-kubernetes-validations": [
                {"rule": f"type(self) == int ? self >= 0 : self.matches(r'{PATTERN}')", "message": ADVICE}
            ],
            "x-fairway-type": "size",
        }
    ),
]
"""A size, kept as the user wrote it; `parse_quantity` gives its bytes."""
