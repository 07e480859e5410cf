"""Runs the named benchmarks, or all there are."""

from __future__ import annotations

import sys

from hack.bench import queue
from hack.bench.figures import table, write

BENCHMARKS = {"queue": queue.measure}
# Named so that their commands answer; there is nothing behind them to measure yet.
NOT_YET = {
    "kubernetes": "the throughput of Job objects",
    "scaling": "scaling on queue age, which is not built yet",
    "drain": "checkpoint before evict, which is not built yet",
    "gateway": "the HTTP gateway, which is not built yet",
}


def main(names: list[str]) -> int:
    """Runs benchmarks; naming one that does not exist yet is an error, running all skips those in words."""
    for name in names or [*BENCHMARKS, *NOT_YET]:
        if name in NOT_YET:
            print(f"bench-{name}: would measure {NOT_YET[name]}: no benchmark yet", file=sys.stderr)
            continue
        print(f"bench-{name}:", flush=True)
        figures = BENCHMARKS[name]()
        print(f"{table(figures)}\n  written to {write(name, figures)}")
    return 1 if any(name in NOT_YET for name in names) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
