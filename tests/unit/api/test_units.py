"""Durations, rates and sizes: what people write, and what code counts."""

from __future__ import annotations

import random

import pytest
from pydantic import TypeAdapter, ValidationError

from fairway.api.durations import Duration, format_duration, parse_duration
from fairway.api.quantities import Quantity, parse_quantity
from fairway.api.rates import Rate, parse_rate


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("0s", 0),
        ("250ms", 250),
        ("1.5s", 1500),
        ("90s", 90_000),
        ("5m", 300_000),
        ("1h30m", 5_400_000),
        ("24h", 86_400_000),
        ("7d", 604_800_000),
        ("0.1ms", 0),
        ("0.5ms", 1),
    ],
)
def test_a_duration_is_read(text: str, milliseconds: int) -> None:
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize(
    "text", ["", "5", "5 m", "-1s", "1w", "m", "1e3s", "5m\n", "\u0661s", "9" * 40 + "s", "999999d"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write a"):
        parse_duration(text)


def test_every_duration_survives_being_written_and_read() -> None:
    chance = random.Random(7)  # noqa: S311 -- values for a test, no secrets
    for _ in range(2000):
        milliseconds = chance.randrange(10 ** chance.randrange(1, 12))
        assert parse_duration(format_duration(milliseconds)) == milliseconds


def test_durations_are_written_in_the_usual_form() -> None:
    assert [format_duration(ms) for ms in (0, 250, 90_000, 86_400_000, 3_600_001)] == [
        "0s",
        "250ms",
        "1m30s",
        "24h",
        "1h1ms",
    ]
    with pytest.raises(ValueError, match="negative"):
        format_duration(-1)


def test_a_rate_is_read() -> None:
    assert parse_rate("3/m") == (3, 60_000)
    assert parse_rate("100/s") == (100, 1000)
    assert parse_rate("500/h") == (500, 3_600_000)


@pytest.mark.parametrize("text", ["", "0/s", "3", "3/d", "3 / m", "-1/s", "1.5/s", "3/m\n"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write a rate such as"):
        parse_rate(text)


def test_a_size_is_read_and_rounded_up() -> None:
    assert parse_quantity("2Gi") == 2 * 1024**3
    assert parse_quantity("500M") == 500_000_000
    assert parse_quantity("1k") == 1000
    assert parse_quantity("1.5Ki") == 1536
    assert parse_quantity("0.3") == 1
    assert parse_quantity(4096) == 4096


@pytest.mark.parametrize("text", ["", "2 GB", "-1", "2GiB", "1m", "2Gi\n"])
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write a size such as"):
        parse_quantity(text)


def test_the_models_keep_what_was_written_and_say_what_to_write() -> None:
    assert TypeAdapter(Duration).validate_python("1h30m") == "1h30m"
    assert TypeAdapter(Quantity).validate_python(1024) == "1024"
    for kind, advice in ((Duration, "30s, 5m"), (Rate, "100/s, 3/m"), (Quantity, "512Mi, 2Gi")):
        with pytest.raises(ValidationError, match=advice):
            TypeAdapter(kind).validate_python("much")
