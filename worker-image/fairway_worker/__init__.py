"""What authors of handlers import, and the runtime that runs them: leases, runs, reports."""

from fairway_worker.app import Worker
from fairway_worker.context import Context
from fairway_worker.errors import DependencyFailure, NotAvailable, Permanent, Retry

__all__ = ["Context", "DependencyFailure", "NotAvailable", "Permanent", "Retry", "Worker"]
