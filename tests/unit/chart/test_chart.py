"""The chart as Helm renders it: what every installation can rely on, and which values are refused how."""

from __future__ import annotations

import base64
import os
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from hack.cluster.paths import REPOSITORY, Paths, cache_directory

if TYPE_CHECKING:
    from pathlib import Path

CHART = REPOSITORY / "charts" / "fairway"
RELEASE, NAMESPACE = "fairway", "fairway-system"
EXTERNAL = ("redis.enabled=false", "redis.external.url=rediss://redis.example.com:6380/1")


@dataclass(frozen=True)
class Rendered:
    """The objects of one render."""

    objects: list[dict[str, Any]]

    def all(self, kind: str) -> list[dict[str, Any]]:
        """Returns the objects of a kind."""
        return [each for each in self.objects if each["kind"] == kind]

    def one(self, kind: str, name: str) -> dict[str, Any]:
        """Returns the one object of that kind and name."""
        (found,) = [each for each in self.all(kind) if each["metadata"]["name"] == name]
        return found

    def pod(self, kind: str, name: str) -> dict[str, Any]:
        """Returns the pod template of a workload."""
        template: dict[str, Any] = self.one(kind, name)["spec"]["template"]
        return template

    @property
    def environment(self) -> dict[str, Any]:
        """The operator's variables: a value, or where it comes from."""
        (container,) = self.pod("Deployment", "fairway-operator")["spec"]["containers"]
        return {each["name"]: each.get("value", each.get("valueFrom")) for each in container["env"]}


def find_helm() -> str | None:
    """Returns helm of the cluster, of the cache or of PATH, in that order."""
    cached = sorted(cache_directory().glob("**/helm")) if cache_directory().is_dir() else []
    for candidate in [Paths.of_checkout().bin / "helm", *cached]:
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    return shutil.which("helm")


@pytest.fixture(scope="module")
def helm() -> str:
    found = find_helm()
    if found is None:
        pytest.skip("no helm found: `make cluster-up` brings one, or install Helm 3")
    return found


class Chart:
    """Renders the chart with given values, without a cluster."""

    def __init__(self, helm: str, home: Path) -> None:
        self._helm = helm
        # Nothing of the person who runs the test, such as a KUBECONFIG or plugins, takes part in it.
        self._environment = {"HOME": str(home), "PATH": os.environ["PATH"]}

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs helm."""
        command = [self._helm, *arguments]
        return subprocess.run(command, env=self._environment, capture_output=True, text=True, check=False)

    def template(self, *settings: str, files: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
        """Runs `helm template`, which may refuse the values."""
        chosen = [word for setting in settings for word in ("--set", setting)]
        values = [word for file in files for word in ("--values", str(file))]
        return self.run("template", RELEASE, str(CHART), "--namespace", NAMESPACE, *chosen, *values)

    def render(self, *settings: str, files: tuple[Path, ...] = ()) -> Rendered:
        """Returns the objects that the values give."""
        done = self.template(*settings, files=files)
        assert done.returncode == 0, done.stderr
        return Rendered([each for each in yaml.safe_load_all(done.stdout) if each])


@pytest.fixture(scope="module")
def chart(helm: str, tmp_path_factory: pytest.TempPathFactory) -> Chart:
    return Chart(helm, tmp_path_factory.mktemp("helm"))


@pytest.fixture(scope="module")
def default(chart: Chart) -> Rendered:
    return chart.render()


def passwords(rendered: Rendered) -> dict[str, str]:
    """Returns the password of each namespace's Secret."""
    secrets = rendered.all("Secret")
    return {s["metadata"]["namespace"]: base64.b64decode(s["data"]["password"]).decode() for s in secrets}


def test_helm_finds_nothing_to_complain_about(chart: Chart) -> None:
    done = chart.run("lint", "--strict", str(CHART))
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_objects_have_the_promised_names(default: Rendered) -> None:
    assert default.one("Deployment", "fairway-operator")["spec"]["strategy"] == {"type": "Recreate"}
    assert default.one("StatefulSet", "fairway-redis")["spec"]["replicas"] == 1
    assert default.one("Service", "fairway-redis")["spec"]["ports"][0]["port"] == 6379
    for each in default.objects:
        assert each["metadata"]["labels"]["app.kubernetes.io/part-of"] == "fairway"
        assert each["metadata"]["labels"]["app.kubernetes.io/instance"] == RELEASE


def test_the_operator_gets_every_setting_it_reads(default: Rendered) -> None:
    url = f"redis://fairway-redis.{NAMESPACE}.svc:6379/0"
    environment = default.environment
    assert environment.pop("FAIRWAY_WORKER_REVISION")
    assert environment == {
        "FAIRWAY_NAMESPACE": {"fieldRef": {"fieldPath": "metadata.namespace"}},
        "FAIRWAY_LOG_LEVEL": "info",
        "FAIRWAY_UNKNOWN_GRACE": "30s",
        "FAIRWAY_HEALTH_PORT": "8080",
        "FAIRWAY_REDIS_URL": url,
        "FAIRWAY_REDIS_USERNAME": "",
        "FAIRWAY_REDIS_PASSWORD": {"secretKeyRef": {"name": "fairway-redis", "key": "password"}},
        "FAIRWAY_WORKER_NAMESPACES": NAMESPACE,
        "FAIRWAY_WORKER_IMAGE": "fairway-worker:0.1.0",
        "FAIRWAY_WORKER_IMAGE_PULL_POLICY": "IfNotPresent",
        "FAIRWAY_WORKER_REDIS_URL": url,
        "FAIRWAY_WORKER_REDIS_USERNAME": "",
        "FAIRWAY_WORKER_REDIS_SECRET": "fairway-redis",
        "FAIRWAY_WORKER_ANCHOR": "fairway-workers",
    }


def test_one_random_password_goes_into_every_namespace(chart: Chart) -> None:
    first = passwords(chart.render("workers.namespaces={team-a,team-b}"))
    second = passwords(chart.render("workers.namespaces={team-a,team-b}"))
    assert set(first) == {NAMESPACE, "team-a", "team-b"}
    assert len(set(first.values())) == 1
    assert len(first[NAMESPACE]) >= 32
    assert first[NAMESPACE] != second[NAMESPACE]


def test_a_given_password_is_the_one_and_is_shown_nowhere_else(chart: Chart) -> None:
    rendered = chart.render("redis.auth.password=correct-horse")
    assert passwords(rendered) == {NAMESPACE: "correct-horse"}
    assert "correct-horse" not in yaml.safe_dump([e for e in rendered.objects if e["kind"] != "Secret"])


def test_a_named_secret_is_used_and_none_is_made(chart: Chart) -> None:
    rendered = chart.render("redis.auth.existingSecret=mine", "workers.namespaces={team-a}")
    assert rendered.all("Secret") == []
    assert rendered.environment["FAIRWAY_REDIS_PASSWORD"]["secretKeyRef"]["name"] == "mine"
    assert rendered.environment["FAIRWAY_WORKER_REDIS_SECRET"] == "mine"  # noqa: S105 - a Secret's name
    volumes = rendered.pod("StatefulSet", "fairway-redis")["spec"]["volumes"]
    assert [v["secret"]["secretName"] for v in volumes if "secret" in v] == ["mine"]


def test_changed_credentials_roll_operator_redis_and_workers(chart: Chart) -> None:
    def checksums(*settings: str) -> tuple[str, ...]:
        rendered = chart.render(*settings)
        pods = [
            rendered.pod("Deployment", "fairway-operator"),
            rendered.pod("StatefulSet", "fairway-redis"),
        ]
        annotations = [pod["metadata"]["annotations"]["fairway.dev/credentials"] for pod in pods]
        return (*annotations, rendered.environment["FAIRWAY_WORKER_REVISION"])

    one, again, other = (checksums(f"redis.auth.password={word}") for word in ("one", "one", "other"))
    assert one == again
    assert len(set(one)) == 1
    assert set(one).isdisjoint(other)


def test_a_revision_of_digits_stays_what_it_is(chart: Chart, tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    values.write_text("workers: {image: {revision: 20260101123}}")
    rendered = chart.render("image.revision=1234567890", "image.tag=7", files=(values,))
    pod = rendered.pod("Deployment", "fairway-operator")
    assert pod["metadata"]["annotations"]["fairway.dev/revision"] == "1234567890"
    assert pod["spec"]["containers"][0]["image"] == "fairway:7"
    assert rendered.environment["FAIRWAY_WORKER_REVISION"].startswith("20260101123-")


def test_every_worker_namespace_has_anchor_and_role_and_no_other_has(chart: Chart) -> None:
    rendered = chart.render("workers.namespaces={team-a,team-b}")
    for kind in ("ConfigMap", "Role", "RoleBinding"):
        found = [each for each in rendered.all(kind) if each["metadata"]["name"] == "fairway-workers"]
        assert [each["metadata"]["namespace"] for each in found] == ["team-a", "team-b"]
    for binding in rendered.all("RoleBinding"):
        assert binding["subjects"] == [
            {"kind": "ServiceAccount", "name": "fairway-operator", "namespace": NAMESPACE}
        ]
    assert rendered.environment["FAIRWAY_WORKER_NAMESPACES"] == "team-a,team-b"


def permissions(role: dict[str, Any]) -> dict[str, set[str]]:
    """Returns the verbs of each resource that a role allows."""
    allowed: dict[str, set[str]] = {}
    for rule in role["rules"]:
        for resource in rule["resources"]:
            name = "/".join([*rule["apiGroups"], resource, *rule.get("resourceNames", [])])
            allowed.setdefault(name, set()).update(rule["verbs"])
    return allowed


def test_the_operator_may_do_no_more_than_it_needs(default: Rendered) -> None:
    read = {"get", "list", "watch"}
    assert permissions(default.one("ClusterRole", "fairway-operator")) == {
        "fairway.dev/jobpools": {*read, "patch"},
        "fairway.dev/tenants": {*read, "patch"},
        "fairway.dev/jobs": read,
        "fairway.dev/jobpools/status": {"patch"},
        "fairway.dev/tenants/status": {"patch"},
        "fairway.dev/jobs/status": {"patch"},
    }
    assert permissions(default.one("Role", "fairway-workers")) == {
        "apps/deployments": {"list", "create", "patch", "delete"},
        "/pods": {"list"},
        "/configmaps/fairway-workers": {"get"},
    }


def test_definitions_are_the_generated_ones_and_outlive_the_release(chart: Chart, default: Rendered) -> None:
    generated = {
        path.name: yaml.safe_load(path.read_text()) for path in (CHART / "files/crds").glob("*.yaml")
    }
    rendered = {each["metadata"]["name"]: each for each in default.all("CustomResourceDefinition")}
    assert set(rendered) == {"jobpools.fairway.dev", "tenants.fairway.dev", "jobs.fairway.dev"}
    for definition in generated.values():
        twin = rendered[definition["metadata"]["name"]]
        assert twin["spec"] == definition["spec"]
        assert twin["metadata"]["annotations"]["helm.sh/resource-policy"] == "keep"
    assert chart.render("crds.install=false").all("CustomResourceDefinition") == []


def test_redis_keeps_its_data_on_a_volume_that_goes_with_the_release(default: Rendered) -> None:
    spec = default.one("StatefulSet", "fairway-redis")["spec"]
    (claim,) = spec["volumeClaimTemplates"]
    assert claim["spec"]["resources"]["requests"]["storage"] == "8Gi"
    assert "storageClassName" not in claim["spec"]
    assert spec["persistentVolumeClaimRetentionPolicy"]["whenDeleted"] == "Delete"
    configuration = default.one("ConfigMap", "fairway-redis")["data"]["redis.conf"].splitlines()
    assert {"appendonly yes", "appendfsync everysec", "dir /data", "maxmemory-policy noeviction"} <= set(
        configuration
    )


def test_the_volume_can_be_kept_or_left_out(chart: Chart) -> None:
    kept = chart.render("redis.persistence.retain=true", "redis.persistence.storageClass=fast")
    spec = kept.one("StatefulSet", "fairway-redis")["spec"]
    assert spec["persistentVolumeClaimRetentionPolicy"]["whenDeleted"] == "Retain"
    assert spec["volumeClaimTemplates"][0]["spec"]["storageClassName"] == "fast"
    scratch = chart.render("redis.persistence.enabled=false").one("StatefulSet", "fairway-redis")["spec"]
    assert "volumeClaimTemplates" not in scratch
    assert {"name": "data", "emptyDir": {}} in scratch["template"]["spec"]["volumes"]


@pytest.mark.parametrize("setting", ["always", "everysec", "no"])
def test_appendfsync_is_what_was_asked_even_an_unquoted_no(
    chart: Chart, tmp_path: Path, setting: str
) -> None:
    values = tmp_path / "values.yaml"
    values.write_text(f"redis: {{appendfsync: {setting}}}")
    rendered = chart.render(files=(values,))
    configuration = rendered.one("ConfigMap", "fairway-redis")["data"]["redis.conf"]
    assert f"appendfsync {setting}" in configuration.splitlines()


@pytest.mark.parametrize(
    ("kind", "name", "user"),
    [("Deployment", "fairway-operator", 10001), ("StatefulSet", "fairway-redis", 999)],
)
def test_pods_meet_the_restricted_standard(default: Rendered, kind: str, name: str, user: int) -> None:
    spec = default.pod(kind, name)["spec"]
    assert spec["securityContext"]["runAsUser"] == spec["securityContext"]["fsGroup"] == user
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["enableServiceLinks"] is False
    for container in spec["containers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert container["resources"]["limits"]["memory"]
        assert {"livenessProbe", "readinessProbe"} <= set(container)


def test_only_the_operator_gets_a_token(default: Rendered) -> None:
    assert default.pod("Deployment", "fairway-operator")["spec"]["automountServiceAccountToken"] is True
    assert default.pod("StatefulSet", "fairway-redis")["spec"]["automountServiceAccountToken"] is False


def test_an_external_redis_replaces_the_bundled_one(chart: Chart) -> None:
    rendered = chart.render(*EXTERNAL, "redis.external.username=fair", "redis.auth.password=word")
    assert rendered.all("StatefulSet") == rendered.all("Service") == []
    assert rendered.environment["FAIRWAY_REDIS_URL"] == "rediss://redis.example.com:6380/1"
    assert rendered.environment["FAIRWAY_WORKER_REDIS_URL"] == "rediss://redis.example.com:6380/1"
    assert rendered.environment["FAIRWAY_WORKER_REDIS_USERNAME"] == "fair"
    assert passwords(rendered) == {NAMESPACE: "word"}
    assert passwords(chart.render(*EXTERNAL)) == {NAMESPACE: ""}


def test_the_development_values_fit(chart: Chart) -> None:
    rendered = chart.render(files=(REPOSITORY / "hack" / "values-dev.yaml",))
    containers = rendered.pod("StatefulSet", "fairway-redis")["spec"]["containers"]
    assert containers[0]["image"] == "fairway-redis:dev"
    assert rendered.environment["FAIRWAY_WORKER_IMAGE"] == "fairway-worker:dev"


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["redis.colour=red"], "at '/redis': additional properties 'colour' not allowed"),
        (["replicas=2"], "additional properties 'replicas' not allowed"),
        (["redis.appendfsync=sometimes"], "value must be one of 'always', 'everysec', 'no'"),
        (["redis.wait=-1"], "at '/redis/wait'"),
        (["redis.runAsUser=0"], "at '/redis/runAsUser'"),
        (["operator.unknownGrace=soon"], "at '/operator/unknownGrace': 'soon' does not match"),
        (["workers.namespaces={Team_A}"], "at '/workers/namespaces/0': 'Team_A' does not match"),
        (["redis.enabled=false"], "redis.external.url must say where your Redis is"),
        (["redis.external.url=redis://x:1"], "redis.external is set while redis.enabled is true"),
        (["redis.enabled=false", "redis.external.url=redis://a:b@x"], "has a user or a password in it"),
        (["redis.auth.password=a", "redis.auth.existingSecret=b"], "the password is set twice"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_wrong(chart: Chart, settings: list[str], words: str) -> None:
    done = chart.template(*settings)
    assert done.returncode != 0
    assert words in done.stderr


def test_a_password_of_two_lines_is_refused_without_being_shown(chart: Chart, tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    values.write_text('redis: {auth: {password: "correct\\nhorse"}}')
    done = chart.template(files=(values,))
    assert "redis.auth.password has a line break in it" in done.stderr
    assert "horse" not in done.stderr


def test_a_release_name_too_long_for_labels_is_refused(chart: Chart) -> None:
    done = chart.run("template", "a" * 41, str(CHART))
    assert "choose one of at most 40" in done.stderr
