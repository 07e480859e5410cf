"""Where a job runs and who pays."""

from fairway.api.codes import Refusal, RefusalCode
from fairway.api.job import JobSpec
from fairway.policy.routing import Charge, PoolOffer, TenantOffer, charge, route

SHORT = PoolOffer("short", types=frozenset({"greet", "mail"}))
GPU = PoolOffer("gpu", types=frozenset({"train"}), capabilities=frozenset({"gpu"}))
BIG_GPU = PoolOffer("big-gpu", capabilities=frozenset({"gpu", "a100", "nvlink"}))
POOLS = [SHORT, GPU, BIG_GPU]

RED = TenantOffer("red", frozenset({"team-red", "shared"}))
BLUE = TenantOffer("blue", frozenset({"team-blue", "shared"}), accounts_from="spec")
TENANTS = [RED, BLUE]


def code(answer: object) -> RefusalCode:
    assert isinstance(answer, Refusal)
    return answer.code


def test_a_declared_pool_is_taken_whatever_the_type() -> None:
    assert route(JobSpec(type="train", pool="short"), POOLS) == "short"


def test_a_declared_pool_that_does_not_exist_is_named_with_those_that_do() -> None:
    answer = route(JobSpec(type="train", pool="nosuch"), POOLS)
    assert code(answer) is RefusalCode.UNKNOWN_POOL
    assert isinstance(answer, Refusal)
    assert "nosuch" in answer.sentence
    assert "big-gpu, gpu, short" in answer.sentence


def test_without_a_pool_the_one_that_registers_the_type_is_taken() -> None:
    assert route(JobSpec(type="train"), POOLS) == "gpu"


def test_a_command_needs_a_pool_or_one_that_registers_commands() -> None:
    assert code(route(JobSpec(command=["true"]), POOLS)) is RefusalCode.UNKNOWN_TYPE
    commands = PoolOffer("commands", types=frozenset({"command"}))
    assert route(JobSpec(command=["true"]), [*POOLS, commands]) == "commands"


def test_capabilities_decide_for_an_unregistered_type_and_the_fewest_surplus_ones_win() -> None:
    assert route(JobSpec(type="new", requires=["gpu"]), POOLS) == "gpu"
    assert route(JobSpec(type="new", requires=["gpu", "a100"]), POOLS) == "big-gpu"


def test_a_declared_pool_without_what_the_job_requires_is_a_clear_answer() -> None:
    answer = route(JobSpec(type="new", pool="gpu", requires=["gpu", "tpu"]), POOLS)
    assert code(answer) is RefusalCode.NO_MATCHING_POOL
    assert "tpu" in str(answer)
    assert route(JobSpec(type="new", pool="gpu", requires=["gpu"]), POOLS) == "gpu"


def test_no_pool_with_what_a_job_requires_is_a_clear_answer() -> None:
    assert code(route(JobSpec(type="new", requires=["tpu"]), POOLS)) is RefusalCode.NO_MATCHING_POOL
    assert code(route(JobSpec(type="greet", requires=["gpu"]), POOLS)) is RefusalCode.NO_MATCHING_POOL


def test_of_several_pools_for_a_type_the_plainest_is_taken_then_the_first_by_name() -> None:
    twin = PoolOffer("also-short", types=frozenset({"greet"}))
    fancy = PoolOffer("a-fancy-one", types=frozenset({"greet"}), capabilities=frozenset({"gpu"}))
    assert route(JobSpec(type="greet"), [fancy, SHORT, twin]) == "also-short"


def test_a_long_list_of_pools_is_cut() -> None:
    many = [PoolOffer(f"pool-{number:03}") for number in range(100)]
    answer = route(JobSpec(type="x", pool="nosuch"), many)
    assert isinstance(answer, Refusal)
    assert "pool-009, …" in answer.sentence
    assert "pool-010" not in answer.sentence


def test_the_one_tenant_that_lists_the_namespace_pays_and_the_namespace_is_the_account() -> None:
    assert charge(JobSpec(type="x"), "team-red", TENANTS) == Charge("red", "team-red")


def test_a_namespace_that_nobody_lists_is_told_so() -> None:
    answer = charge(JobSpec(type="x"), "elsewhere", TENANTS)
    assert code(answer) is RefusalCode.UNKNOWN_TENANT
    assert isinstance(answer, Refusal)
    assert answer.sentence.startswith("No Tenant lists the namespace elsewhere")


def test_a_namespace_that_several_list_has_to_say_who_pays() -> None:
    assert code(charge(JobSpec(type="x"), "shared", TENANTS)) is RefusalCode.TENANT_AMBIGUOUS
    assert charge(JobSpec(type="x", tenant="blue"), "shared", TENANTS) == Charge("blue", "shared")


def test_nobody_charges_a_tenant_that_does_not_list_the_namespace() -> None:
    assert code(charge(JobSpec(type="x", tenant="red"), "team-blue", TENANTS)) is RefusalCode.TENANT_FORBIDDEN


def test_a_named_tenant_that_does_not_exist_is_unknown() -> None:
    assert code(charge(JobSpec(type="x", tenant="green"), "team-red", TENANTS)) is RefusalCode.UNKNOWN_TENANT


def test_an_account_may_be_named_only_where_the_tenant_says_so() -> None:
    named = JobSpec(type="x", account="alice")
    assert charge(named, "team-blue", TENANTS) == Charge("blue", "alice")
    assert code(charge(named, "team-red", TENANTS)) is RefusalCode.ACCOUNT_FORBIDDEN
