"""The record of a running cluster: ``.cluster/state.json``."""

import json
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from hack.cluster.errors import ClusterError
from hack.cluster.processes import ProcessRecord


class Way(StrEnum):
    """How a cluster is had."""

    KIND = "kind"
    LOCAL = "local"
    EXISTING = "existing"


@dataclass(frozen=True, slots=True)
class Machine:
    """The control plane or a node of a local cluster: its PID 1, and the namespaces it lives in."""

    init: ProcessRecord
    namespaces: dict[str, str]


@dataclass(frozen=True, slots=True)
class State:
    """What must be known to use a cluster and to take it down."""

    way: Way
    name: str
    machines: dict[str, Machine] = field(default_factory=dict)
    # nftables tables of the host before we began: whatever of ours is there later is a leftover.
    host_tables: list[str] = field(default_factory=list)

    def with_machine(self, name: str, machine: Machine) -> "State":
        """Give the state with one machine added or replaced."""
        return replace(self, machines={**self.machines, name: machine})

    def save(self, path: Path) -> None:
        """Write it so that a reader sees the old or the new one, never half of it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps(asdict(self), indent=1) + "\n")
        draft.replace(path)

    @classmethod
    def load(cls, path: Path) -> "State | None":
        """Read the record; None when there is none."""
        try:
            raw = json.loads(path.read_text())
            machines = {
                name: Machine(ProcessRecord(**machine["init"]), machine["namespaces"])
                for name, machine in raw["machines"].items()
            }
            return cls(Way(raw["way"]), raw["name"], machines, raw["host_tables"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise ClusterError(
                f"{path} cannot be read ({error}): it was not written by this command."
            ) from error
