"""The worker Deployment: ours where it has to be, the author's everywhere else."""

from dataclasses import replace
from typing import Any

from fairway.kube.deployments import Anchor, WorkerDefaults, WorkerPlan, build_deployment, build_template

DEFAULTS = WorkerDefaults(
    image="fairway-worker:dev",
    image_pull_policy="IfNotPresent",
    redis_url="redis://fairway-redis:6379/0",
    redis_username="worker",
    redis_secret="fairway-redis-worker",  # noqa: S106 - the name of a Secret
    revision="r1",
)
PLAN = WorkerPlan(
    pool="demo", namespace="fairway-system", replicas=1, concurrency=2, drain_ms=30_500, template={}
)


def worker(template: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in template["spec"]["containers"] if each["name"] == "worker")
    return found


def environment(template: dict[str, Any]) -> dict[str, Any]:
    return {each["name"]: each.get("value", each.get("valueFrom")) for each in worker(template)["env"]}


def with_template(template: dict[str, Any]) -> dict[str, Any]:
    return build_template(replace(PLAN, template=template), DEFAULTS)


def test_a_pool_without_a_template_gets_a_complete_deployment() -> None:
    built = build_deployment(PLAN, DEFAULTS, Anchor("fairway-workers", "some-uid"))
    assert built["metadata"]["name"] == "fw-demo"
    assert built["metadata"]["namespace"] == "fairway-system"
    assert built["spec"]["replicas"] == 1
    assert built["spec"]["selector"]["matchLabels"] == {
        "app.kubernetes.io/part-of": "fairway",
        "fairway.dev/pool": "demo",
    }
    assert built["spec"]["template"]["metadata"]["annotations"] == {"fairway.dev/revision": "r1"}
    assert worker(built["spec"]["template"])["image"] == "fairway-worker:dev"


def test_the_anchor_owns_it_without_blocking_its_own_deletion() -> None:
    built = build_deployment(PLAN, DEFAULTS, Anchor("fairway-workers", "some-uid"))
    assert built["metadata"]["ownerReferences"] == [
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "fairway-workers", "uid": "some-uid"},
    ]


def test_the_worker_is_told_all_it_needs() -> None:
    told = environment(with_template({}))
    assert told["FAIRWAY_POOL"] == "demo"
    assert told["FAIRWAY_REDIS_URL"] == "redis://fairway-redis:6379/0"
    assert told["FAIRWAY_REDIS_USERNAME"] == "worker"
    assert told["FAIRWAY_CONCURRENCY"] == "2"
    assert told["FAIRWAY_DRAIN_SECONDS"] == "31"
    secret = {"name": "fairway-redis-worker", "key": "password"}
    assert told["FAIRWAY_REDIS_PASSWORD"] == {"secretKeyRef": secret}
    assert told["FAIRWAY_WORKER_NAME"] == {"fieldRef": {"fieldPath": "metadata.name"}}
    assert told["FAIRWAY_NODE_NAME"] == {"fieldRef": {"fieldPath": "spec.nodeName"}}


def test_pods_are_restricted_and_have_no_token() -> None:
    spec = with_template({})["spec"]
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert worker({"spec": spec})["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }
    assert {"name": "fairway-tmp", "emptyDir": {}} in spec["volumes"]
    assert spec["terminationGracePeriodSeconds"] > 31


def test_what_the_author_wrote_wins() -> None:
    theirs = {
        "metadata": {"labels": {"team": "ml"}, "annotations": {"note": "ours"}},
        "spec": {
            "nodeSelector": {"gpu": "yes"},
            "terminationGracePeriodSeconds": 5,
            "automountServiceAccountToken": True,
            "securityContext": {"runAsUser": 1234},
            "containers": [
                {"name": "side", "image": "side:1"},
                {
                    "name": "worker",
                    "image": "mine:1",
                    "env": [{"name": "MODEL", "value": "x"}],
                    "resources": {"limits": {"nvidia.com/gpu": 1}},
                    "securityContext": {"readOnlyRootFilesystem": False},
                    "volumeMounts": [{"name": "scratch", "mountPath": "/tmp/"}],  # noqa: S108 - in the pod
                },
            ],
            "volumes": [{"name": "scratch", "emptyDir": {"sizeLimit": "1Gi"}}],
        },
    }
    built = with_template(theirs)
    spec, container = built["spec"], worker(built)
    assert built["metadata"]["labels"]["team"] == "ml"
    assert built["metadata"]["annotations"]["note"] == "ours"
    assert spec["nodeSelector"] == {"gpu": "yes"}
    assert spec["terminationGracePeriodSeconds"] == 5
    assert spec["automountServiceAccountToken"] is True
    assert spec["securityContext"]["runAsUser"] == 1234
    assert [each["name"] for each in spec["containers"]] == ["worker", "side"]
    assert container["image"] == "mine:1"
    assert "imagePullPolicy" not in container
    assert container["resources"] == {"limits": {"nvidia.com/gpu": 1}}
    assert container["securityContext"]["readOnlyRootFilesystem"] is False
    assert environment(built)["MODEL"] == "x"
    assert spec["volumes"] == [{"name": "scratch", "emptyDir": {"sizeLimit": "1Gi"}}]


def test_our_names_cannot_be_taken_over() -> None:
    built = with_template(
        {
            "metadata": {"labels": {"fairway.dev/pool": "other", "app.kubernetes.io/part-of": "mine"}},
            "spec": {
                "containers": [
                    {
                        "name": "worker",
                        "env": [
                            {"name": "FAIRWAY_POOL", "value": "other"},
                            {"name": "FAIRWAY_HANDLERS", "value": "my.handlers:worker"},
                        ],
                    },
                ],
            },
        },
    )
    assert built["metadata"]["labels"]["fairway.dev/pool"] == "demo"
    assert built["metadata"]["labels"]["app.kubernetes.io/part-of"] == "fairway"
    assert environment(built)["FAIRWAY_POOL"] == "demo"
    assert environment(built)["FAIRWAY_HANDLERS"] == "my.handlers:worker"
    listed = [each["name"] for each in worker(built)["env"]]
    assert len(listed) == len(set(listed)), "server-side apply refuses a name that comes twice"


def test_the_template_label_changes_with_the_template_only() -> None:
    def label(plan: WorkerPlan, defaults: WorkerDefaults = DEFAULTS) -> str:
        return str(build_template(plan, defaults)["metadata"]["labels"]["fairway.dev/template"])

    same = label(PLAN)
    assert label(PLAN) == same
    assert label(replace(PLAN, replicas=7)) == same
    assert label(replace(PLAN, template={"spec": {"nodeSelector": {"a": "b"}}})) != same
    assert label(PLAN, replace(DEFAULTS, revision="r2")) != same


def test_the_given_template_is_not_changed() -> None:
    theirs: dict[str, Any] = {"spec": {"containers": [{"name": "worker", "image": "mine:1"}]}}
    with_template(theirs)
    assert theirs == {"spec": {"containers": [{"name": "worker", "image": "mine:1"}]}}
