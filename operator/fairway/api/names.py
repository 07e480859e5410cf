"""Every name that Kubernetes, worker pods and their environment share with us, in one place."""

from enum import StrEnum

GROUP = "fairway.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
CATEGORY = "fairway"

JOBPOOLS = "jobpools"
TENANTS = "tenants"
JOBS = "jobs"

ANNOTATION_PREFIX = GROUP
"""Prefix of annotations that the operator keeps on JobPools and Tenants."""

FIELD_MANAGER = "fairway-operator"
"""Who owns the fields that the operator applies."""

LABEL_PART_OF = "app.kubernetes.io/part-of"
PART_OF = "fairway"
LABEL_POOL = f"{GROUP}/pool"
LABEL_TEMPLATE = f"{GROUP}/template"
LABEL_TENANT = f"{GROUP}/tenant"

WORKER_CONTAINER = "worker"
"""The container of `workers.template` that runs the jobs."""

WORKLOAD_PREFIX = "fw-"
MAX_POOL_NAME = 40
"""A pool's name is part of `fw-<pool>-<replica set>-<pod>`, which must fit a label's 63 characters."""

COMMAND_TYPE = "command"
"""The type of a job that has a command and names no type."""


def worker_deployment(pool: str) -> str:
    """Name of the Deployment that runs a pool's workers."""
    return f"{WORKLOAD_PREFIX}{pool}"


class Env(StrEnum):
    """Environment variables of worker processes."""

    POOL = "FAIRWAY_POOL"
    REDIS_URL = "FAIRWAY_REDIS_URL"
    REDIS_USERNAME = "FAIRWAY_REDIS_USERNAME"
    REDIS_PASSWORD = "FAIRWAY_REDIS_PASSWORD"  # noqa: S105 -- the variable's name, not a password
    CONCURRENCY = "FAIRWAY_CONCURRENCY"
    WORKER_NAME = "FAIRWAY_WORKER_NAME"
    NODE_NAME = "FAIRWAY_NODE_NAME"
    DRAIN_SECONDS = "FAIRWAY_DRAIN_SECONDS"
    HANDLERS = "FAIRWAY_HANDLERS"
    HEALTH_PORT = "FAIRWAY_HEALTH_PORT"


class CommandEnv(StrEnum):
    """Environment variables that a `command:` job is started with."""

    JOB_ID = "FAIRWAY_JOB_ID"
    PAYLOAD_FILE = "FAIRWAY_PAYLOAD_FILE"
    RESULT_FILE = "FAIRWAY_RESULT_FILE"
    PROGRESS_FILE = "FAIRWAY_PROGRESS_FILE"
    CHECKPOINT_DIR = "FAIRWAY_CHECKPOINT_DIR"
