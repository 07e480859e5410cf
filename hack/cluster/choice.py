"""Which way of having a cluster is used: ``FAIRWAY_CLUSTER``, or what the machine offers."""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping

from hack.cluster.errors import ClusterError
from hack.cluster.state import Way

VARIABLE = "FAIRWAY_CLUSTER"
AUTO = "auto"
_DOCKER_SECONDS = 10


def docker_answers() -> bool:
    """Tell whether a Docker engine can be reached; the client alone does not help."""
    if shutil.which("docker") is None:
        return False
    command = ["docker", "version", "--format", "{{.Server.Version}}"]
    try:
        answer = subprocess.run(command, capture_output=True, timeout=_DOCKER_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return answer.returncode == 0


def choose(environment: Mapping[str, str] = os.environ, docker: Callable[[], bool] = docker_answers) -> Way:
    """Choose a way; an existing cluster is used only when it is asked for by name."""
    value = environment.get(VARIABLE) or AUTO
    if value == AUTO:
        return Way.KIND if docker() else Way.LOCAL
    try:
        return Way(value)
    except ValueError:
        known = ", ".join([AUTO, *Way])
        raise ClusterError(f"{VARIABLE} is {value!r}; it must be one of {known}.") from None
