"""Why a job was refused: a code that programs switch on, a sentence that tells a person what to do."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus


class RefusalCode(StrEnum):
    """Codes of refusals; also the reason of a Job's condition `Admitted`."""

    UNKNOWN_POOL = "UNKNOWN_POOL"
    UNKNOWN_TENANT = "UNKNOWN_TENANT"
    UNKNOWN_TYPE = "UNKNOWN_TYPE"
    NO_MATCHING_POOL = "NO_MATCHING_POOL"
    TENANT_AMBIGUOUS = "TENANT_AMBIGUOUS"
    TENANT_FORBIDDEN = "TENANT_FORBIDDEN"
    TENANT_SUSPENDED = "TENANT_SUSPENDED"
    TENANT_RATE_LIMITED = "TENANT_RATE_LIMITED"
    POOL_SUSPENDED = "POOL_SUSPENDED"
    POOL_NOT_READY = "POOL_NOT_READY"
    POOL_BREAKER_OPEN = "POOL_BREAKER_OPEN"
    TYPE_BREAKER_OPEN = "TYPE_BREAKER_OPEN"
    QUEUE_FULL = "QUEUE_FULL"
    STORE_FULL = "STORE_FULL"
    NO_CAPACITY = "NO_CAPACITY"
    ACCOUNT_FORBIDDEN = "ACCOUNT_FORBIDDEN"
    INVALID_JOB = "INVALID_JOB"
    INVALID_PAYLOAD = "INVALID_PAYLOAD"
    NOT_YET_SUPPORTED = "NOT_YET_SUPPORTED"
    QUEUE_UNAVAILABLE = "QUEUE_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """What is the same for every refusal with a code."""

    status: HTTPStatus
    temporary: bool
    """Whether the same job may be accepted later without a change to it."""
    sentence: str
    """With the facts of the case in braces."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One job refused."""

    code: RefusalCode
    sentence: str

    @property
    def temporary(self) -> bool:
        """Whether the same job may be accepted later without a change to it."""
        return CODES[self.code].temporary


CODES: dict[RefusalCode, CodeInfo] = {
    RefusalCode.UNKNOWN_POOL: CodeInfo(
        HTTPStatus.NOT_FOUND,
        temporary=True,
        sentence="There is no JobPool {pool}: create it, or set spec.pool to one that exists ({known}).",
    ),
    RefusalCode.UNKNOWN_TENANT: CodeInfo(
        HTTPStatus.NOT_FOUND,
        temporary=True,
        sentence="There is no Tenant {tenant} for the namespace {namespace}: create one that lists it under "
        "spec.namespaces.",
    ),
    RefusalCode.UNKNOWN_TYPE: CodeInfo(
        HTTPStatus.BAD_REQUEST,
        temporary=True,
        sentence="No JobPool registers the type {type}: add it to the spec.types of a JobPool, "
        "or name a pool in spec.pool ({known}).",
    ),
    RefusalCode.NO_MATCHING_POOL: CodeInfo(
        HTTPStatus.BAD_REQUEST,
        temporary=True,
        sentence="No JobPool has the capabilities {requires}: add them to spec.capabilities of one, "
        "or ask for less in spec.requires.",
    ),
    RefusalCode.TENANT_AMBIGUOUS: CodeInfo(
        HTTPStatus.BAD_REQUEST,
        temporary=True,
        sentence="Several Tenants list the namespace {namespace} ({known}): "
        "say in spec.tenant which one pays.",
    ),
    RefusalCode.TENANT_FORBIDDEN: CodeInfo(
        HTTPStatus.FORBIDDEN,
        temporary=True,
        sentence="The Tenant {tenant} does not list the namespace {namespace}: add it to the Tenant's "
        "spec.namespaces, or charge another Tenant.",
    ),
    RefusalCode.TENANT_SUSPENDED: CodeInfo(
        HTTPStatus.FORBIDDEN,
        temporary=True,
        sentence="The Tenant {tenant} is suspended: set its spec.suspend to false.",
    ),
    RefusalCode.TENANT_RATE_LIMITED: CodeInfo(
        HTTPStatus.TOO_MANY_REQUESTS,
        temporary=True,
        sentence="The Tenant {tenant} submits faster than {rate}: try again later, or raise its limit.",
    ),
    RefusalCode.POOL_SUSPENDED: CodeInfo(
        HTTPStatus.SERVICE_UNAVAILABLE,
        temporary=True,
        sentence="The JobPool {pool} is suspended: set its spec.suspend to false.",
    ),
    RefusalCode.POOL_NOT_READY: CodeInfo(
        HTTPStatus.SERVICE_UNAVAILABLE,
        temporary=True,
        sentence="The JobPool {pool} is not ready: {reason}",
    ),
    RefusalCode.POOL_BREAKER_OPEN: CodeInfo(
        HTTPStatus.SERVICE_UNAVAILABLE,
        temporary=True,
        sentence="Too many jobs fail in the JobPool {pool}: it takes no new ones until a probe succeeds.",
    ),
    RefusalCode.TYPE_BREAKER_OPEN: CodeInfo(
        HTTPStatus.SERVICE_UNAVAILABLE,
        temporary=True,
        sentence="Too many jobs of type {type} fail in the JobPool {pool}: it takes no new ones until a "
        "probe succeeds.",
    ),
    RefusalCode.QUEUE_FULL: CodeInfo(
        HTTPStatus.TOO_MANY_REQUESTS,
        temporary=True,
        sentence="The queue of {whose} holds {limit} jobs already: wait until some are done, "
        "or raise the limit.",
    ),
    RefusalCode.STORE_FULL: CodeInfo(
        HTTPStatus.INSUFFICIENT_STORAGE,
        temporary=True,
        sentence="The JobPool {pool} holds {limit} of jobs already: wait until some are done, or raise "
        "spec.queue.maxBytes.",
    ),
    RefusalCode.NO_CAPACITY: CodeInfo(
        HTTPStatus.SERVICE_UNAVAILABLE,
        temporary=True,
        sentence="No slot of the JobPool {pool} is free within {wait}: try again, or raise spec.maxWait.",
    ),
    RefusalCode.ACCOUNT_FORBIDDEN: CodeInfo(
        HTTPStatus.FORBIDDEN,
        temporary=True,
        sentence="The Tenant {tenant} does not let jobs name their account: leave spec.account out, or set "
        "the Tenant's spec.accounts.from to spec.",
    ),
    RefusalCode.INVALID_JOB: CodeInfo(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        temporary=False,
        sentence="The job is not valid: {reason}",
    ),
    RefusalCode.INVALID_PAYLOAD: CodeInfo(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        temporary=False,
        sentence="The payload is not valid: {reason}",
    ),
    RefusalCode.NOT_YET_SUPPORTED: CodeInfo(
        HTTPStatus.NOT_IMPLEMENTED,
        temporary=False,
        sentence="This version of Fairway does not act on {fields} yet, and would run the job as if it were "
        "not set: create the Job without it.",
    ),
    RefusalCode.QUEUE_UNAVAILABLE: CodeInfo(
        HTTPStatus.SERVICE_UNAVAILABLE,
        temporary=True,
        sentence="The queue does not answer; the job is submitted as soon as it does.",
    ),
}


def refuse(code: RefusalCode, **facts: str | int | Iterable[str]) -> Refusal:
    """A refusal whose sentence tells the facts of the case; lists are joined by commas."""
    told = {name: _tell(fact) for name, fact in facts.items()}
    return Refusal(code=code, sentence=CODES[code].sentence.format(**told))


def _tell(fact: str | int | Iterable[str]) -> str:
    if isinstance(fact, (str, int)):
        return str(fact)
    return ", ".join(fact) or "there is none"
