import pytest

from hack.cluster import ClusterError
from hack.cluster.choice import choose
from hack.cluster.state import Way


def _never() -> bool:
    raise AssertionError("nobody should ask for Docker")


@pytest.mark.parametrize("environment", [{}, {"FAIRWAY_CLUSTER": ""}, {"FAIRWAY_CLUSTER": "auto"}])
def test_kind_is_used_where_a_docker_engine_answers_and_local_processes_elsewhere(
    environment: dict[str, str],
) -> None:
    assert choose(environment, lambda: True) is Way.KIND
    assert choose(environment, lambda: False) is Way.LOCAL


@pytest.mark.parametrize("way", list(Way))
def test_the_choice_can_be_forced(way: Way) -> None:
    assert choose({"FAIRWAY_CLUSTER": way.value}, _never) is way


def test_a_kubeconfig_in_the_environment_is_no_choice() -> None:
    assert choose({"KUBECONFIG": "/home/me/.kube/config"}, lambda: False) is Way.LOCAL


def test_an_unknown_way_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ClusterError, match=r"'minikube'; it must be one of auto, kind, local, existing\."):
        choose({"FAIRWAY_CLUSTER": "minikube"}, _never)
