from __future__ import annotations

from typing import Any

import pytest

from fairway.control.results import MAX_DEPTH, shown_result


@pytest.mark.parametrize(
    "raw", [b'{"a": [1, null, "\xc3\xa9"]}', b"null", b"-9223372036854775808", b'"text"', b"0.5"]
)
def test_plain_json_is_shown(raw: bytes) -> None:
    _, remark = shown_result(raw)
    assert remark == ""


@pytest.mark.parametrize(
    ("raw", "word"),
    [
        (b"[" * 5_000 + b"]" * 5_000, "too long"),
        (b"[" * 2_000 + b"]" * 2_000, "nested"),
        (b"[" * (MAX_DEPTH + 2) + b"]" * (MAX_DEPTH + 2), "nested"),
        (b'{"a": NaN}', "no JSON"),
        (b"-Infinity", "no JSON"),
        (b"[1e999]", "no JSON"),
        (b'"\\ud800"', "no JSON"),
        (b"\xff", "no JSON"),
        (b'{"a": [9223372036854775808]}', "number"),
        (b'"' + b"x" * 9_000 + b'"', "9 KiB"),
    ],
)
def test_what_the_api_server_cannot_keep_is_told_in_words(raw: bytes, word: str) -> None:
    shown, remark = shown_result(raw)
    assert shown is None
    assert word in remark


def test_the_deepest_that_is_shown_is_shown_whole() -> None:
    raw = b"[" * MAX_DEPTH + b"1" + b"]" * MAX_DEPTH
    shown: Any
    shown, remark = shown_result(raw)
    assert remark == ""
    for _ in range(MAX_DEPTH):
        (shown,) = shown
    assert shown == 1
