"""The operator's process: `python -m fairway.control.main`.

Exit codes: 0 after SIGTERM or SIGINT, 1 after a failure (Kubernetes starts it again), 2 for wrong settings.
"""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import sys

import kopf

from fairway.control.handlers import build_registry, kopf_settings
from fairway.control.logs import set_up_logging
from fairway.control.operator import Operator
from fairway.control.settings import Settings, SettingsError, read_settings
from fairway.kube.client import Kube
from fairway.kube.errors import KubeError
from fairway.queue import Queue

logger = logging.getLogger("fairway.control.main")

FAILED = 1
WRONG_SETTINGS = 2
# The API server takes objects that are nested up to 10,000 levels deep. Below that, decoding one of them must
# not end the operator for everybody: such a Job is to be refused like any other that is wrong.
_RECURSION_LIMIT = 60_000
_STACK_BYTES = 96 * 1024 * 1024


def main() -> None:
    """Run the operator until it is told to stop."""
    try:
        settings = read_settings(os.environ)
    except SettingsError as error:
        sys.stderr.write(f"fairway-operator: {error}\n")
        sys.exit(WRONG_SETTINGS)
    set_up_logging(settings.process.log_level)
    _allow_deep_objects()
    sys.exit(asyncio.run(_run(settings)))


def _allow_deep_objects() -> None:
    """Let the decoders recurse as deep as the API server's do; the main thread's stack grows as needed."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    stack = _STACK_BYTES if most == resource.RLIM_INFINITY else min(_STACK_BYTES, most)
    resource.setrlimit(resource.RLIMIT_STACK, (stack, most))
    if stack == _STACK_BYTES:
        sys.setrecursionlimit(_RECURSION_LIMIT)
    else:
        logger.warning(
            "the stack cannot grow to %d bytes: deeply nested objects may end the operator", _STACK_BYTES
        )


async def _run(settings: Settings) -> int:
    try:
        kube = await Kube.connect()
    except KubeError as error:
        logger.critical("the operator cannot start: %s", error)
        return FAILED
    queue = Queue.connect(settings.redis.url, settings.redis.username, settings.redis.password)
    operator = Operator(kube, queue, settings)
    try:
        await kopf.operator(
            registry=build_registry(operator),
            settings=kopf_settings(),
            clusterwide=True,
            standalone=True,
            liveness_endpoint=f"http://0.0.0.0:{settings.process.health_port}/healthz",
            stop_flag=operator.ended,
        )
    except Exception as error:
        logger.critical("the operator failed: %s", error, exc_info=logger.isEnabledFor(logging.DEBUG))
        return FAILED
    return FAILED if operator.failed else 0


if __name__ == "__main__":
    main()
