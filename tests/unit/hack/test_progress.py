import io
import re

import pytest

from hack.cluster import ClusterError
from hack.cluster.progress import Progress, StepError, seconds


def test_a_step_is_one_line_with_its_time() -> None:
    out = io.StringIO()
    progress = Progress(12, out)
    with progress.step("certificates"):
        assert out.getvalue() == "[ 1/12] certificates …"
    assert re.fullmatch(r"\[ 1/12\] certificates … \d\.\d s\n", out.getvalue())


def test_notes_stand_on_lines_of_their_own() -> None:
    out = io.StringIO()
    with Progress(1, out).step("binaries") as step:
        step.note("compiling")
    lines = out.getvalue().splitlines()
    assert [line.split(" (")[0] for line in lines[:2]] == ["[1/1] binaries …", "        compiling"]
    assert re.fullmatch(r"\[1/1\] binaries … \d\.\d s", lines[2])


def test_a_failed_step_is_named() -> None:
    out = io.StringIO()
    with (
        pytest.raises(StepError, match=r"^nodes Ready: the kubelet is ill$"),
        Progress(1, out).step("nodes Ready"),
    ):
        raise ClusterError("the kubelet is ill")
    assert "failed after" in out.getvalue()


@pytest.mark.parametrize(
    ("value", "text"), [(0.04, "0.0 s"), (4.14, "4.1 s"), (59.94, "59.9 s"), (312, "5:12 min")]
)
def test_durations_read_well(value: float, text: str) -> None:
    assert seconds(value) == text
