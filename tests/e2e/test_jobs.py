"""What a user sees of a Job: it runs, it fails in words, it can be taken back."""

from __future__ import annotations

import json

import pytest

from hack.release import NAMESPACE
from tests.objects import API_VERSION, Objects, Team, condition
from tests.waiting import eventually


def test_a_command_runs_and_kubectl_wait_sees_it_complete(objects: Objects, team: Team) -> None:
    team.run("hello", 'echo hello; echo "{\\"answer\\": 42}" > "$FAIRWAY_RESULT_FILE"')

    wait = ["wait", "--for=condition=Complete", "fjob/hello", "-n", team.name, "--timeout=60s"]
    assert "condition met" in objects.cluster.kubectl(*wait, timeout=70).stdout

    status = team.status("hello")
    assert status["phase"] == "Succeeded"
    assert status["result"] == {"answer": 42}
    assert [(attempt["number"], attempt["class"]) for attempt in status["attempts"]] == [(1, "OK")]
    assert status["attempts"][0]["node"] in objects.cluster.nodes()
    assert status["jobID"].endswith(f"-{team.pool}")


def test_the_output_is_in_the_worker_pods_log_with_the_job_id(objects: Objects, team: Team) -> None:
    team.run("talk", "echo these very words")
    status = team.reaches("talk", "Succeeded")

    (pod,) = objects.pods_of(team.pool)
    log = objects.cluster.kubectl("logs", pod["metadata"]["name"], "-n", NAMESPACE).stdout
    lines = [line for line in log.splitlines() if "these very words" in line]
    assert lines
    assert status["jobID"] in lines[0]


def test_a_handler_of_the_worker_image_gets_the_payload(team: Team) -> None:
    team.submit("echoed", type="echo", payload={"nested": {"list": [1, "two", None]}})
    assert team.reaches("echoed", "Succeeded")["result"] == {"nested": {"list": [1, "two", None]}}


def test_a_failing_command_is_retried_then_dead_lettered_with_its_last_words(team: Team) -> None:
    team.run("broken", "echo the disk is full >&2; exit 3")
    status = team.reaches("broken", "DeadLettered")

    assert [attempt["class"] for attempt in status["attempts"]] == ["APP", "APP"]
    assert "exit code 3" in status["attempts"][0]["error"]
    assert "the disk is full" in status["attempts"][0]["error"]
    assert condition(status, "Failed")["status"] == "True"
    assert condition(status, "Complete").get("status") != "True"


def test_a_command_that_does_not_exist_is_not_tried_twice(team: Team) -> None:
    team.submit("missing", command=["no-such-program", "--flag"])
    status = team.reaches("missing", "DeadLettered")

    assert [attempt["class"] for attempt in status["attempts"]] == ["PERMANENT"]
    assert "no-such-program" in status["attempts"][0]["error"]


def test_a_job_over_its_timeout_is_ended(team: Team) -> None:
    team.run("slow", "sleep 600", timeout="1s")
    status = team.reaches("slow", "DeadLettered")
    assert {attempt["class"] for attempt in status["attempts"]} == {"TIMEOUT"}


@pytest.mark.parametrize("levels", [200, 900, 9_000])
def test_a_payload_nested_without_end_is_refused_and_harms_nobody_else(
    objects: Objects, team: Team, levels: int
) -> None:
    payload = '{"a":' * levels + "1" + "}" * levels
    # Python's own encoder would not nest so deep: the payload is put into its place as text.
    metadata = {"name": "deep", "namespace": team.name}
    spec = {"pool": team.pool, "type": "echo", "payload": "HERE"}
    job = json.dumps({"apiVersion": API_VERSION, "kind": "Job", "metadata": metadata, "spec": spec})
    job = job.replace('"HERE"', payload)
    objects.cluster.kubectl("create", "-f", "-", input=job)
    team.run("harmless", "true")

    team.reaches("harmless", "Succeeded")
    status = team.reaches_by_path("deep", "Failed")
    assert "nested" in status
    (pod,) = objects.find("pods", "-n", NAMESPACE, "-l", "app.kubernetes.io/component=operator")
    assert pod["status"]["containerStatuses"][0]["restartCount"] == 0


@pytest.mark.parametrize("result", ["[1e999]", "[" * 900 + "]" * 900])
def test_a_result_that_cannot_be_stored_is_told_in_words(team: Team, result: str) -> None:
    team.run("odd", f"printf %s '{result}' > $FAIRWAY_RESULT_FILE")
    status = team.reaches("odd", "Succeeded", "DeadLettered")
    assert "result" not in status
    assert "result" in status["message"]


def test_an_unknown_pool_is_said_and_then_refused_for_good(team: Team) -> None:
    team.run("lost", "true", pool="no-such-pool")

    def said() -> bool:
        admitted = condition(team.status("lost"), "Admitted")
        assert admitted.get("status") == "False"
        assert "no-such-pool" in admitted["message"]
        return True

    eventually(said, what="the Job to say that its pool does not exist")
    status = team.reaches("lost", "Failed", timeout=90)
    assert status["reason"] == "UNKNOWN_POOL"
    assert condition(status, "Failed")["status"] == "True"


def test_a_namespace_that_no_tenant_lists_is_told_so(objects: Objects, team: Team) -> None:
    objects.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"{team.name}-stray"}})
    stray = Team(objects, f"{team.name}-stray", team.pool)
    stray.run("nobody-pays", "true")

    def said() -> bool:
        message = condition(stray.status("nobody-pays"), "Admitted").get("message", "")
        assert "Tenant" in message
        assert stray.name in message
        return True

    eventually(said, what="the Job to say that no Tenant lists its namespace")
    objects.delete("namespace", stray.name, None, "--wait=false")


def test_a_job_deleted_while_it_waits_never_runs(objects: Objects, team: Team) -> None:
    suspend_pool(objects, team.pool, suspended=True)
    try:
        team.run("unwanted", "true")
        team.reaches("unwanted", "Queued")
        team.delete("unwanted")
        eventually(lambda: objects.get("jobpool", team.pool)["status"]["queued"] == 0, what="an empty queue")
    finally:
        suspend_pool(objects, team.pool, suspended=False)
    team.run("wanted", "true")
    team.reaches("wanted", "Succeeded")

    (pod,) = objects.pods_of(team.pool)
    log = objects.cluster.kubectl("logs", pod["metadata"]["name"], "-n", NAMESPACE).stdout
    assert f"{team.name}/unwanted" not in log


def test_a_job_deleted_while_it_runs_is_stopped(objects: Objects, team: Team) -> None:
    team.run("endless", "echo started $$; exec sleep 4321", timeout="1h")
    team.reaches("endless", "Running")
    (pod,) = objects.pods_of(team.pool)
    assert runs_in(objects, pod["metadata"]["name"], "sleep 4321")

    team.delete("endless")
    eventually(
        lambda: not runs_in(objects, pod["metadata"]["name"], "sleep 4321"),
        what="the deleted Job's process to end",
        timeout=30,
    )
    eventually(lambda: objects.get("jobpool", team.pool)["status"]["running"] == 0, what="a free slot")


def test_cancel_ends_a_running_job_and_says_so(objects: Objects, team: Team) -> None:
    team.run("regretted", "sleep 4322", timeout="1h")
    team.reaches("regretted", "Running")
    patch = json.dumps({"spec": {"cancel": True}})
    objects.cluster.kubectl("patch", "fjob", "regretted", "-n", team.name, "--type=merge", "-p", patch)
    status = team.reaches("regretted", "Cancelled")
    assert status["attempts"][-1]["class"] == "CANCELLED"


def test_a_job_made_again_under_the_same_name_runs_again(team: Team) -> None:
    team.run("again", "true")
    first = team.reaches("again", "Succeeded")["jobID"]
    team.delete("again")
    team.run("again", "true")
    assert team.reaches("again", "Succeeded")["jobID"] != first


def suspend_pool(objects: Objects, name: str, *, suspended: bool) -> None:
    patch = json.dumps({"spec": {"suspend": suspended}})
    objects.cluster.kubectl("patch", "jobpool", name, "--type=merge", "-p", patch)
    generation = objects.get("jobpool", name)["metadata"]["generation"]
    eventually(
        lambda: objects.get("jobpool", name)["status"].get("observedGeneration") == generation,
        what="the operator to have seen the change",
    )


def runs_in(objects: Objects, pod: str, command: str) -> bool:
    """Tells whether a process with this command line runs in a pod, by its /proc: the image has no ps."""
    script = "for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $f 2>/dev/null; echo; done"
    listing = objects.cluster.kubectl(
        "exec", pod, "-n", NAMESPACE, "-c", "worker", "--", "sh", "-c", script
    ).stdout
    return any(line.startswith(command) for line in listing.splitlines())
