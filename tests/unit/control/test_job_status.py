"""What a Job's status says."""

from dataclasses import replace
from typing import Any

from fairway.api.codes import RefusalCode, refuse
from fairway.api.job import JobStatus
from fairway.api.phases import FailureClass, JobPhase
from fairway.control.job_status import (
    Writing,
    cancelled_status,
    job_status,
    recorded_status,
    refused_status,
)
from fairway.queue import AttemptRecord, JobState

NOW = 1_800_000_000_000
WRITING = Writing(generation=1, now_ms=NOW)
JOB_ID = "01J9ZK3V5W8X7Y6T4R2Q1P0N9M-demo"
WAITING = JobState(
    id=JOB_ID,
    pool="demo",
    tenant="red",
    account="team-a",
    type="greet",
    phase=JobPhase.QUEUED,
    position=3,
    attempts=[],
    result=None,
    created_at_ms=NOW,
    started_at_ms=None,
    finished_at_ms=None,
    slot_us=0,
    progress=None,
    message="",
    origin="team-a/one/uid",
    cancel_requested=False,
)
FIRST = AttemptRecord(1, "worker-a", "node-1", NOW, None, None, counted=False)
FAILED = AttemptRecord(
    1, "worker-a", "node-1", NOW, NOW + 1500, FailureClass.APP, counted=True, error="exit code 3"
)
DONE = AttemptRecord(2, "worker-b", "node-2", NOW + 2000, NOW + 3000, FailureClass.OK, counted=True)


def conditions(status: dict[str, Any]) -> dict[str, tuple[str, str]]:
    JobStatus.model_validate(status)  # every status that is tested here is one that the API takes
    return {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}


def test_a_waiting_job_tells_where_it_stands() -> None:
    status = job_status(WAITING, {}, WRITING)
    assert (status["phase"], status["position"], status["jobID"]) == ("Queued", 3, JOB_ID)
    assert status["message"] == "Waits at position 3 of red's queue."
    assert conditions(status) == {"Admitted": ("True", "Admitted")}


def test_moving_up_is_not_worth_a_write() -> None:
    before = job_status(WAITING, {}, WRITING)
    assert job_status(replace(WAITING, position=1), before, replace(WRITING, now_ms=NOW + 60_000)) == before


def test_a_running_job_tells_on_which_worker() -> None:
    running = replace(WAITING, phase=JobPhase.RUNNING, position=None, attempts=[FIRST], started_at_ms=NOW)
    status = job_status(running, job_status(WAITING, {}, WRITING), WRITING)
    assert status["message"] == "Attempt 1 runs on worker-a (node node-1)."
    assert "position" not in status
    assert status["attempts"] == [
        {"number": 1, "worker": "worker-a", "node": "node-1", "startedAt": "2027-01-15T08:00:00.000Z"},
    ]
    asked = job_status(replace(running, cancel_requested=True, reason="spec.cancel is true"), status, WRITING)
    assert asked["reason"] == "Cancelling"


def test_a_retry_tells_when() -> None:
    later = replace(
        WAITING,
        phase=JobPhase.SCHEDULED,
        position=None,
        attempts=[FAILED],
        due_at_ms=NOW + 5000,
        slot_us=1_500_000,
    )
    status = job_status(later, {}, WRITING)
    assert status["reason"] == "RetryScheduled"
    assert status["message"] == "Attempt 1 ended as APP; it is tried again at 2027-01-15T08:00:05.000Z."
    assert status["slotSeconds"] == 1.5
    assert status["attempts"][0]["error"] == "exit code 3"


SUCCEEDED = replace(
    WAITING,
    phase=JobPhase.SUCCEEDED,
    position=None,
    attempts=[FAILED, DONE],
    result=b'{"loss": 0.1, "note": null}',
    started_at_ms=NOW,
    finished_at_ms=NOW + 3000,
)


def test_success_completes_and_shows_the_result_with_its_nulls() -> None:
    status = job_status(SUCCEEDED, job_status(WAITING, {}, WRITING), WRITING)
    assert conditions(status) == {"Admitted": ("True", "Admitted"), "Complete": ("True", "Succeeded")}
    assert status["result"] == {"loss": 0.1, "note": None}
    assert status["finishedAt"] == "2027-01-15T08:00:03.000Z"
    assert status["message"] == "Attempt 2 succeeded."


def test_a_long_result_is_left_out_with_a_sentence() -> None:
    status = job_status(replace(SUCCEEDED, result=b'"' + b"x" * 9000 + b'"'), {}, WRITING)
    assert "result" not in status
    assert status["message"] == (
        "Attempt 2 succeeded. Its result of 9 KiB is too long to be shown here (at most 8 KiB)."
    )


def test_a_result_that_is_no_json_is_left_out_with_a_sentence() -> None:
    status = job_status(replace(SUCCEEDED, result=b"\xff"), {}, WRITING)
    assert "result" not in status
    assert "no JSON" in status["message"]


def test_a_dead_letter_tells_why_and_the_last_error() -> None:
    buried = replace(
        WAITING,
        phase=JobPhase.DEAD_LETTERED,
        position=None,
        attempts=[FAILED],
        reason="it failed 1 of 1 attempts",
        finished_at_ms=NOW + 1500,
    )
    status = job_status(buried, {}, WRITING)
    assert status["reason"] == "AttemptsExhausted"
    assert status["message"] == "Dead-lettered: it failed 1 of 1 attempts. Last error: exit code 3"
    assert conditions(status)["Failed"] == ("True", "AttemptsExhausted")


def test_a_cancelled_job_has_failed_with_the_reason_given() -> None:
    cancelled = replace(WAITING, phase=JobPhase.CANCELLED, position=None, reason="spec.cancel is true")
    status = job_status(cancelled, {}, WRITING)
    assert status["message"] == "Cancelled: spec.cancel is true."
    assert conditions(status)["Failed"] == ("True", "Cancelled")


def test_conditions_keep_their_times_through_a_life() -> None:
    first = job_status(WAITING, {}, WRITING)
    last = job_status(SUCCEEDED, first, replace(WRITING, now_ms=NOW + 3_000))
    times = {each["type"]: each["lastTransitionTime"] for each in last["conditions"]}
    assert times == {"Admitted": "2027-01-15T08:00:00Z", "Complete": "2027-01-15T08:00:03Z"}


def test_what_is_ignored_is_told_once_and_kept() -> None:
    first = job_status(WAITING, {}, replace(WRITING, notes="Not acting yet, and ignored: spec.priority."))
    last = job_status(SUCCEEDED, first, WRITING)
    assert last["conditions"][0]["message"].endswith("Not acting yet, and ignored: spec.priority.")


def test_only_the_last_hundred_attempts_are_shown() -> None:
    many = [replace(FAILED, number=number) for number in range(1, 151)]
    status = job_status(replace(WAITING, attempts=many), {}, WRITING)
    assert [status["attempts"][0]["number"], status["attempts"][-1]["number"]] == [51, 150]
    conditions(status)


def test_a_refusal_waits_or_fails() -> None:
    refusal = refuse(RefusalCode.UNKNOWN_POOL, pool="nosuch", known=["demo"])
    waiting = refused_status(refusal, {}, WRITING, for_good=False)
    assert (waiting["phase"], conditions(waiting)) == ("Pending", {"Admitted": ("False", "UNKNOWN_POOL")})
    failed = refused_status(refusal, waiting, WRITING, for_good=True)
    assert failed["phase"] == "Failed"
    assert conditions(failed) == {"Admitted": ("False", "UNKNOWN_POOL"), "Failed": ("True", "UNKNOWN_POOL")}
    assert failed["finishedAt"]


def test_an_admission_after_a_refusal_turns_the_condition() -> None:
    refusal = refuse(RefusalCode.UNKNOWN_POOL, pool="demo", known=[])
    waiting = refused_status(refusal, {}, WRITING, for_good=False)
    assert conditions(job_status(WAITING, waiting, WRITING)) == {"Admitted": ("True", "Admitted")}


def test_a_job_of_a_deleted_pool_stays_admitted_and_has_failed() -> None:
    status = cancelled_status(
        "PoolDeleted", "The JobPool demo was deleted.", job_status(WAITING, {}, WRITING), WRITING
    )
    assert conditions(status) == {"Admitted": ("True", "Admitted"), "Failed": ("True", "PoolDeleted")}
    assert "position" not in status


def test_a_route_is_recorded_as_pending() -> None:
    status = recorded_status(JOB_ID, {}, WRITING)
    assert (status["phase"], status["jobID"]) == ("Pending", JOB_ID)
    assert status["message"] == "The job goes to the pool demo."
