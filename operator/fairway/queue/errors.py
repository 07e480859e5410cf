"""What the queue raises. No other room ever sees an exception of the Redis client."""

from __future__ import annotations


class QueueError(Exception):
    """The queue refused a call; `code` is for programs, the message for people."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class QueueUnavailable(QueueError):  # noqa: N818 - says what is the matter; "Error" is in its base's name
    """Redis could not be reached, or did not answer; the call may be repeated."""

    def __init__(self, sentence: str) -> None:
        super().__init__("QUEUE_UNAVAILABLE", sentence)
