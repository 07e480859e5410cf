"""What the API server says when it does not do what it was asked. No other room sees the client's errors."""

from __future__ import annotations

from http import HTTPStatus

_REJECTED = frozenset(
    {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY, HTTPStatus.REQUEST_ENTITY_TOO_LARGE}
)
_UNREADABLE = ("failed to create typed patch object", "failed to convert new object")


class KubeError(Exception):
    """The API server refused a call: `status` is HTTP's, `reason` its word, the message its sentence."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason

    @property
    def not_found(self) -> bool:
        """Whether the object, or its kind, does not exist."""
        return self.status == HTTPStatus.NOT_FOUND

    @property
    def rejected(self) -> bool:
        """Whether what was sent is wrong, so that sending it again is of no use."""
        # Server-side apply calls a field or a value that no schema knows an internal error.
        return self.status in _REJECTED or any(phrase in str(self) for phrase in _UNREADABLE)

    @property
    def temporary(self) -> bool:
        """Whether the same call may succeed later."""
        return not self.rejected and (
            self.status == HTTPStatus.TOO_MANY_REQUESTS or self.status >= HTTPStatus.INTERNAL_SERVER_ERROR
        )


class KubeUnavailable(KubeError):  # noqa: N818 - says what is the matter; "Error" is in its base's name
    """The API server could not be reached, or did not answer; the call may be repeated."""

    def __init__(self, message: str) -> None:
        super().__init__(HTTPStatus.SERVICE_UNAVAILABLE, "Unavailable", message)
