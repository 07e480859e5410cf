"""Runs the test suites, each in a pytest of its own, and prints how long each took beside its budget.

`python -m hack.suites fast e2e faults`. Suites that need a cluster get one: a running one is used and left
alone, one that had to be started is taken down at the end (FAIRWAY_KEEP_CLUSTER=1 leaves it).
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hack import cluster, images

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
MINUTE = 60


@dataclass(frozen=True)
class Suite:
    """A named part of the tests with the time it may take, warm, on two cores."""

    name: str
    folders: tuple[str, ...]
    budget_minutes: int
    needs_cluster: bool = False


SUITES = {
    "fast": Suite("unit and queue", ("tests/unit", "tests/queue", "tests/worker"), 6),
    "e2e": Suite("e2e", ("tests/e2e",), 20, needs_cluster=True),
    "faults": Suite("faults", ("tests/faults",), 10, needs_cluster=True),
}


@dataclass(frozen=True)
class Result:
    """How one suite ended."""

    suite: Suite
    passed: bool
    seconds: float

    def line(self) -> str:
        """Returns the row of the closing table."""
        outcome = "passed" if self.passed else "FAILED"
        over = "  OVER BUDGET" if self.seconds > self.suite.budget_minutes * MINUTE else ""
        minutes, seconds = divmod(round(self.seconds), MINUTE)
        budget = f"{self.suite.budget_minutes:>2}:00"
        return f"  {self.suite.name:<16} {outcome}  {minutes:>2}:{seconds:02} of {budget}{over}"


def run_suite(suite: Suite) -> Result:
    """Runs one suite and measures it."""
    print(f"\n== {suite.name}", flush=True)
    started = time.monotonic()
    finished = subprocess.run([sys.executable, "-m", "pytest", *suite.folders], cwd=ROOT, check=False)
    return Result(suite, finished.returncode == 0, time.monotonic() - started)


def is_running() -> bool:
    """Tells whether this checkout has a cluster that answers."""
    try:
        cluster.connect()
    except cluster.ClusterError:
        return False
    return True


@contextmanager
def cluster_when_needed(suites: list[Suite]) -> Iterator[None]:
    """Gives the suites a cluster with the current images in it, if any of them needs one."""
    if not any(suite.needs_cluster for suite in suites):
        yield
        return
    was_running = is_running()
    cluster.up()
    try:
        images.build_and_load()
        yield
    finally:
        if not was_running and not os.environ.get("FAIRWAY_KEEP_CLUSTER"):
            cluster.down()


def main(names: list[str]) -> int:
    """Runs the named suites in order and prints how long each took."""
    unknown = [name for name in names if name not in SUITES]
    if unknown or not names:
        print(
            f"suites: say which of {', '.join(SUITES)} to run (not {', '.join(unknown) or 'nothing'})",
            file=sys.stderr,
        )
        return 2
    suites = [SUITES[name] for name in names]
    started = time.monotonic()
    results: list[Result] = []
    failure: str | None = None
    try:
        # The cluster comes first: its helm is what the tests of the chart render with.
        with cluster_when_needed(suites):
            results += [run_suite(suite) for suite in suites]
    except (cluster.ClusterError, images.ImageError) as error:
        failure = str(error)
    print("\n== time against budget (warm, 2 cores)")
    print("\n".join(result.line() for result in results))
    print(f"  {'all, with setup':<16} {'':<6}  {(time.monotonic() - started) / MINUTE:>5.1f} min", flush=True)
    if failure is not None:
        print(f"\n{failure}", file=sys.stderr)
    return 0 if failure is None and all(result.passed for result in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
