"""Job ids: a ULID, a dash, and the pool. An id tells its pool, so any door can find the job.

The ULID is our own few lines: 48 bits of time and 80 bits of anything in Crockford's base 32 need no
dependency, and ids of Job objects need bits that are derived, which ULID packages do not offer.
"""

import hashlib
import secrets
import time

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_ULID_LENGTH = 26
_TIME_BITS = 48
_RANDOM_BITS = 80


def object_job_id(namespace: str, name: str, uid: str, created_ms: int, pool: str) -> str:
    """The id of a Job object: the same for the same object, however often it is computed."""
    # Neither names nor uids can hold a slash, so no two objects give the same text.
    digest = hashlib.sha256(f"{namespace}/{name}/{uid}".encode()).digest()
    bits = int.from_bytes(digest[: _RANDOM_BITS // 8], "big")
    return f"{_ulid(created_ms, bits)}-{pool}"


def new_job_id(pool: str) -> str:
    """A fresh id for a job that no object stands behind."""
    return f"{_ulid(time.time_ns() // 1_000_000, secrets.randbits(_RANDOM_BITS))}-{pool}"


def pool_of(job_id: str) -> str:
    """The pool that a job id names."""
    ulid, dash, pool = job_id.partition("-")
    if not (dash and pool and _is_ulid(ulid)):
        raise ValueError(f"{job_id!r} is not a job id: write one as 01J9ZK3V5W8X7Y6T4R2Q1P0N9M-<pool>")
    return pool


def _ulid(at_ms: int, bits: int) -> str:
    if not 0 <= at_ms < 1 << _TIME_BITS:
        raise ValueError(f"{at_ms} ms is not a time that a job id can hold")
    value = at_ms << _RANDOM_BITS | bits
    return "".join(_ALPHABET[value >> shift & 31] for shift in range(5 * (_ULID_LENGTH - 1), -1, -5))


def _is_ulid(text: str) -> bool:
    # 26 digits of 5 bits hold 130 bits: the first digit carries only the top three of the 128.
    return len(text) == _ULID_LENGTH and text[0] in "01234567" and all(char in _ALPHABET for char in text)
