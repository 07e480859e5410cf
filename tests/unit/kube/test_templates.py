from __future__ import annotations

from typing import Any

import pytest

from fairway.kube.deployments import Anchor, WorkerDefaults, WorkerPlan, build_deployment
from fairway.kube.templates import template_problem


@pytest.mark.parametrize(
    ("template", "path"),
    [
        ({"metadata": []}, "metadata"),
        ({"metadata": {"labels": [1]}}, "metadata.labels"),
        ({"spec": "pod"}, "spec"),
        ({"spec": {"containers": "hello"}}, "spec.containers"),
        ({"spec": {"containers": ["hello"]}}, "spec.containers[0]"),
        ({"spec": {"containers": [{}, {"env": [None]}]}}, "spec.containers[1].env[0]"),
        ({"spec": {"containers": [{"env": {"A": "b"}}]}}, "spec.containers[0].env"),
        ({"spec": {"containers": [{"volumeMounts": "x"}]}}, "spec.containers[0].volumeMounts"),
        ({"spec": {"volumes": {}, "containers": []}}, "spec.volumes"),
        ({"spec": {"securityContext": []}}, "spec.securityContext"),
    ],
)
def test_a_template_of_the_wrong_shape_is_told_where(template: dict[str, Any], path: str) -> None:
    assert (template_problem(template) or "").startswith(f"{path} has to be")


@pytest.mark.parametrize(
    "template",
    [
        {},
        {"metadata": None, "spec": None},
        {
            "metadata": {"labels": None},
            "spec": {"containers": [{"name": "worker", "env": None}], "volumes": []},
        },
    ],
)
def test_a_template_of_the_right_shape_can_be_built(template: dict[str, Any]) -> None:
    assert template_problem(template) is None
    plan = WorkerPlan("p", "n", 1, 1, 1_000, template)
    defaults = WorkerDefaults("image", "Never", "redis://r", "", "secret", "")
    assert build_deployment(plan, defaults, Anchor("a", "u"))["spec"]["template"]["spec"]["containers"]
