"""Job ids."""

from __future__ import annotations

import random
import string

import pytest

from fairway.api.ids import new_job_id, object_job_id, pool_of

ULID_DIGITS = set("0123456789ABCDEFGHJKMNPQRSTVWXYZ")


def _word(chance: random.Random) -> str:
    return "".join(chance.choices(string.ascii_lowercase + string.digits + "-", k=chance.randrange(1, 30)))


def test_an_id_is_a_ulid_and_its_pool() -> None:
    chance = random.Random(3)  # noqa: S311 -- values for a test, no secrets
    for _ in range(500):
        pool = "p" + _word(chance)
        job_id = object_job_id(_word(chance), _word(chance), _word(chance), chance.randrange(2**48), pool)
        assert len(job_id) == 27 + len(pool)
        assert set(job_id[:26]) <= ULID_DIGITS
        assert job_id[0] in "01234567"
        assert pool_of(job_id) == pool


def test_the_same_object_has_the_same_id_and_another_has_not() -> None:
    facts = ("team-a", "train-1", "uid-1", 1_700_000_000_000)
    assert object_job_id(*facts, "long") == object_job_id(*facts, "long")
    others = [
        object_job_id("team-b", *facts[1:], "long"),
        object_job_id("team-a", "train-2", *facts[2:], "long"),
        object_job_id("team-a", "train-1", "uid-2", facts[3], "long"),
        object_job_id("team", "a/train-1", "uid-1", facts[3], "long"),
    ]
    assert len({object_job_id(*facts, "long"), *others}) == 5


def test_ids_sort_by_time_of_creation() -> None:
    chance = random.Random(5)  # noqa: S311 -- values for a test, no secrets
    times = sorted(chance.sample(range(2**48), 300))
    ids = [object_job_id("n", "j", str(time), time, "p") for time in times]
    assert ids == sorted(ids)


def test_a_known_time_has_the_digits_that_ulids_have() -> None:
    # From the ULID specification: 01ARYZ6S41 is 1469918176385 ms.
    assert object_job_id("n", "j", "u", 1_469_918_176_385, "p").startswith("01ARYZ6S41")


def test_fresh_ids_are_all_different() -> None:
    ids = {new_job_id("gpu-long") for _ in range(2000)}
    assert len(ids) == 2000
    assert {pool_of(job_id) for job_id in ids} == {"gpu-long"}


@pytest.mark.parametrize(
    "text", ["", "x", "01ARYZ6S41TSV4RRFFQ69G5FAV", "01ARYZ6S41TSV4RRFFQ69G5FAV-", "U" * 26 + "-p"]
)
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a job id"):
        pool_of(text)


@pytest.mark.parametrize("time", [-1, 2**48])
def test_a_time_that_does_not_fit_is_refused(time: int) -> None:
    with pytest.raises(ValueError, match="not a time"):
        object_job_id("n", "j", "u", time, "p")
