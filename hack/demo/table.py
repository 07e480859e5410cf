"""The live table: redrawn in place on a terminal, a line every few seconds elsewhere."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.table import Table

from hack.demo.scene import TEAMS, DemoError, Picture, look, shares_while_both_waited

if TYPE_CHECKING:
    from hack.cluster import Cluster

PAUSE_SECONDS = 1.0
LINE_EVERY_SECONDS = 4.0
PATIENCE_SECONDS = 180


def follow(cluster: Cluster) -> Picture:
    """Shows the table until every job has ended, and returns what was seen last."""
    console = Console()
    return _follow_live(cluster, console) if console.is_terminal else _follow_lines(cluster)


def _follow_live(cluster: Cluster, console: Console) -> Picture:
    started = time.monotonic()
    picture = look(cluster)
    with Live(_table(picture, 0), console=console, auto_refresh=False) as live:
        while not picture.over:
            _check_patience(started, picture)
            time.sleep(PAUSE_SECONDS)
            picture = look(cluster)
            live.update(_table(picture, time.monotonic() - started), refresh=True)
    return picture


def _follow_lines(cluster: Cluster) -> Picture:
    started = last = time.monotonic()
    picture = look(cluster)
    print(_line(picture, 0), flush=True)
    while not picture.over:
        _check_patience(started, picture)
        time.sleep(PAUSE_SECONDS)
        picture = look(cluster)
        if picture.over or time.monotonic() - last > LINE_EVERY_SECONDS:
            last = time.monotonic()
            print(_line(picture, last - started), flush=True)
    return picture


def _check_patience(started: float, picture: Picture) -> None:
    if time.monotonic() - started > PATIENCE_SECONDS:
        raise DemoError(
            f"demo: the jobs did not end within {PATIENCE_SECONDS} s. {picture.pool_message}\n"
            "Look at `kubectl get fairway -A` and `kubectl logs -n fairway-system deploy/fairway-operator`.",
        )


def _table(picture: Picture, elapsed: float) -> Table:
    table = Table(
        title=f"pool demo, {elapsed:.0f} s: oldest job waits {picture.oldest_age:.0f} s, "
        f"{picture.ready_replicas} of {picture.desired_replicas} workers ready, {picture.total_slots} slots",
        title_justify="left",
    )
    for heading in ("tenant", "weight", "waiting", "running", "succeeded", "other", "share while both wait"):
        table.add_column(heading, justify="left" if heading == "tenant" else "right")
    for row in _rows(picture):
        table.add_row(*row)
    return table


def _line(picture: Picture, elapsed: float) -> str:
    rows = "; ".join(
        f"{team} (weight {weight}): {waiting} waiting, {running} running, {done} succeeded, share {share}"
        for team, weight, waiting, running, done, _, share in _rows(picture)
    )
    age = f"oldest waits {picture.oldest_age:.0f} s"
    return f"{elapsed:5.1f} s  {age}, {picture.ready_replicas}/{picture.desired_replicas} workers | {rows}"


def _rows(picture: Picture) -> list[tuple[str, ...]]:
    shares = shares_while_both_waited(picture)
    rows = []
    for team in TEAMS:
        phases = [job.phase for job in picture.of(team)]
        open_jobs = sum(phase in ("Pending", "Scheduled", "Queued", "Running") for phase in phases)
        # A job that starts and ends within a second never shows as Running; its tenant's count does.
        running = min(picture.running.get(team, 0), open_jobs)
        waiting, succeeded = open_jobs - running, phases.count("Succeeded")
        other = len(phases) - open_jobs - succeeded
        numbers = (waiting, running, succeeded, other)
        rows.append((team, str(picture.weights[team]), *(str(n) for n in numbers), f"{shares[team]:.0%}"))
    return rows
