"""How one attempt ended, before the queue is told."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final

from fairway.api.phases import FailureClass
from fairway_worker.errors import DependencyFailure, JobFailure, Permanent, Retry

MAX_RESULT_BYTES: Final = 1 << 20
MAX_ERROR_LENGTH: Final = 4096


class StopReason(IntEnum):
    """Why the runtime ended an attempt; where several apply, the highest counts."""

    RELEASE = 1
    """The worker has to go: the job is given back."""
    TIMEOUT = 2
    CANCEL = 3
    LOST = 4
    """The lease is no longer ours: whatever the job did here is discarded."""


@dataclass(frozen=True, slots=True)
class Succeeded:
    """It ran to its end; `result` is JSON, or None."""

    result: bytes | None


@dataclass(frozen=True, slots=True)
class Failed:
    """It ended badly; `error` is for a person."""

    cls: FailureClass
    error: str
    retry_after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Stopped:
    """The runtime ended it, or never started it. How it took that does not matter."""

    reason: StopReason


Outcome = Succeeded | Failed | Stopped


def failed(error: BaseException) -> Failed:
    """Return the failure that an exception means."""
    cls, sentence = _class_and_sentence(error)
    # Text from outside may hold halves of surrogate pairs, which no store takes.
    clean = sentence.encode("utf-8", "replace").decode()
    return Failed(cls, clean[:MAX_ERROR_LENGTH], error.after_ms if isinstance(error, Retry) else None)


def encode_result(value: Any) -> bytes | None:
    """Return a handler's result as JSON; None is no result.

    Raises:
        Permanent: when it is no JSON, or too much of it.
    """
    if value is None:
        return None
    try:
        text = json.dumps(value, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
        data = text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise Permanent(f"the handler's result is not JSON: {error}") from None
    return check_size(data)


def check_size(result: bytes) -> bytes:
    """Return the result as it is.

    Raises:
        Permanent: when it is over the limit.
    """
    if len(result) > MAX_RESULT_BYTES:
        raise Permanent(
            f"the result has {len(result)} bytes, the limit is {MAX_RESULT_BYTES} (1 MiB): "
            "put it into a store of yours and return where it is"
        )
    return result


def _class_and_sentence(error: BaseException) -> tuple[FailureClass, str]:
    words = str(error) or type(error).__name__
    cls, sentence = FailureClass.APP, words
    match error:
        case Permanent():
            cls = FailureClass.PERMANENT
        case DependencyFailure():
            cls = FailureClass.DEPENDENCY
        case JobFailure():
            cls = error.cls
        case MemoryError():
            cls, sentence = FailureClass.RESOURCE, "the handler ran out of memory"
        case asyncio.CancelledError():
            sentence = "the handler cancelled itself"
        case SystemExit():
            sentence = f"the handler called exit({error.code!r})"
        case Retry():
            pass
        case _:
            sentence = f"{type(error).__name__}: {error}".removesuffix(": ")
    return cls, sentence
