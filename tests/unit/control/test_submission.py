"""Job objects as the queue takes them."""

from typing import Any

from fairway.api.body import JobBody
from fairway.api.codes import RefusalCode
from fairway.api.job import JobSpec
from fairway.api.jobpool import JobPoolSpec
from fairway.control.jobs import JobRecord
from fairway.control.submission import Placement, build_submission, check, ignored_fields
from fairway.policy.effective import effective_pool
from fairway.policy.routing import Charge
from fairway.queue import Submission

RECORD = JobRecord("team-a", "one", "some-uid", created_ms=1_800_000_000_000)


def submit(spec: dict[str, Any], pool: dict[str, Any] | None = None) -> Submission:
    settings = effective_pool(JobPoolSpec.model_validate(pool or {"class": "short"}))
    placement = Placement("demo", Charge("red", "team-a"))
    return build_submission(RECORD, RECORD.id_in("demo"), JobSpec.model_validate(spec), placement, settings)


def test_the_defaults_of_the_pool_fill_what_the_job_leaves_out() -> None:
    made = submit({"command": ["true"], "payload": {"a": None}})
    assert (made.tenant, made.account, made.type) == ("red", "team-a", "command")
    assert (made.timeout_ms, made.estimate_us) == (30_000, 10_000_000)
    assert (made.retry.max_attempts, made.retry.backoff_ms[0]) == (5, 1_000)
    assert made.origin == "team-a/one/some-uid"
    body = JobBody.from_bytes(made.body)
    assert body.command == ["true"]
    assert body.payload == {"a": None}
    assert body.timeout_ms == 30_000
    assert body.name == "team-a/one"


def test_the_type_and_the_job_itself_say_more() -> None:
    pool = {
        "class": "long",
        "crash": {"maxWorkersLost": 2},
        "types": [
            {"name": "train", "timeout": "4h", "retry": {"maxAttempts": 7, "backoff": ["30s"], "jitter": 0}}
        ],
    }
    made = submit({"type": "train"}, pool)
    assert made.timeout_ms == 4 * 3_600_000
    assert (made.retry.max_attempts, made.retry.backoff_ms, made.retry.jitter) == (7, (30_000,), 0)
    assert made.retry.max_workers_lost == 2
    assert submit({"type": "train", "timeout": "5m"}, pool).timeout_ms == 300_000


def test_an_object_always_gives_the_same_id_in_a_pool() -> None:
    assert RECORD.id_in("demo") == RECORD.id_in("demo")
    assert RECORD.id_in("demo") != RECORD.id_in("other")
    again = JobRecord("team-a", "one", "another-uid", created_ms=1_800_000_000_000)
    assert again.id_in("demo") != RECORD.id_in("demo")


def test_a_plain_job_passes_the_check() -> None:
    assert check(JobSpec(command=["true"], priority="high", webhook=None)) is None


def test_a_payload_has_a_size() -> None:
    refusal = check(JobSpec(type="x", payload={"text": "x" * 300_000}))
    assert refusal is not None
    assert refusal.code is RefusalCode.INVALID_PAYLOAD
    assert "256 KiB" in refusal.sentence


def test_fields_that_do_not_act_are_told() -> None:
    spec = JobSpec.model_validate(
        {"type": "x", "priority": 3, "idempotencyKey": "k", "ttlAfterFinished": "1h"}
    )
    assert ignored_fields(spec) == ["priority", "idempotencyKey", "ttlAfterFinished"]
