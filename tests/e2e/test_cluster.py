"""The cluster itself: what everything else that runs on it takes for granted."""

import json
import secrets
import shutil
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hack.cluster import Cluster, binaries, up
from hack.cluster.archive import write_archive
from hack.cluster.existing import ExistingCluster
from hack.cluster.local import network
from hack.cluster.local.cluster import LocalCluster
from hack.cluster.local.leftovers import mounts
from hack.cluster.paths import Paths
from tests.waiting import eventually

IMAGE = "localhost/fairway-cluster/probe:1"
Manifest = dict[str, Any]


@dataclass(frozen=True)
class Probe:
    """The image that the pods of these tests run."""

    reference: str
    image_id: str


@pytest.fixture(scope="module")
def probe(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Probe:
    if isinstance(cluster, ExistingCluster) or shutil.which("go") is None:
        pytest.skip("needs Go for its image, and nodes that images can be loaded into")
    binary = binaries.ensure(binaries.PROBE, print) / "probe"
    archive = tmp_path_factory.mktemp("probe") / "probe.tar"
    image_id = write_archive(archive, reference=IMAGE, files={"/probe": binary}, entrypoint=["/probe"])
    cluster.load_archives([archive])
    return Probe(IMAGE, image_id)


@pytest.fixture(scope="module")
def namespace(cluster: Cluster) -> Iterator[str]:
    name = f"cluster-{secrets.token_hex(3)}"
    cluster.kubectl("create", "namespace", name)
    eventually(
        lambda: cluster.kubectl("-n", name, "get", "serviceaccount", "default", check=False).returncode == 0,
        what="the namespace's account, without which no pod is admitted",
    )
    yield name
    cluster.kubectl("delete", "namespace", name, "--wait=false")


@pytest.fixture(scope="module")
def web(cluster: Cluster, namespace: str, probe: Probe) -> list[str]:
    """A service with a pod on each node; the names of its pods."""
    labels = {"app": "web"}
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels},
    }
    container = {
        **_container(probe, "serve", ":8080"),
        "readinessProbe": {"httpGet": {"path": "/", "port": 8080}, "periodSeconds": 1},
    }
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {
            "replicas": len(cluster.nodes()),
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {
                    "topologySpreadConstraints": [spread],
                    "terminationGracePeriodSeconds": 1,
                    "containers": [container],
                },
            },
        },
    }
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": namespace},
        "spec": {"selector": labels, "ports": [{"port": 80, "targetPort": 8080}]},
    }
    _apply(cluster, deployment, service)
    cluster.kubectl("-n", namespace, "rollout", "status", "deployment/web", "--timeout=100s")
    pods = cluster.kubectl(
        "-n", namespace, "get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.name}"
    )
    return pods.stdout.split()


def _container(probe: Probe, *args: str) -> Manifest:
    return {"name": "probe", "image": probe.reference, "imagePullPolicy": "Never", "args": list(args)}


def _apply(cluster: Cluster, *manifests: Manifest) -> None:
    everything = {"apiVersion": "v1", "kind": "List", "items": list(manifests)}
    cluster.kubectl("apply", "-f", "-", input=json.dumps(everything))


def test_it_has_two_nodes_that_are_ready(cluster: Cluster) -> None:
    assert len(cluster.nodes()) == 2
    cluster.kubectl("wait", "nodes", "--all", "--for=condition=Ready", "--timeout=30s")


def test_up_says_that_it_is_up_and_changes_nothing(cluster: Cluster) -> None:
    before = cluster.kubeconfig.read_text()
    again = up()
    assert (again.name, again.kubeconfig.read_text()) == (cluster.name, before)


def test_an_image_is_known_by_its_name_and_its_id(cluster: Cluster, probe: Probe) -> None:
    eventually(lambda: cluster.has_image(probe.reference, probe.image_id), what="the image on every node")
    assert not cluster.has_image(probe.reference, f"sha256:{'0' * 64}")
    assert not cluster.has_image("localhost/fairway-cluster/nothing:1", probe.image_id)


def test_every_pod_reaches_every_pod_by_the_service_name(
    cluster: Cluster, namespace: str, web: list[str]
) -> None:
    url = f"http://web.{namespace}.svc.cluster.local/"
    for pod in web:
        answered: set[str] = set()

        def all_have_answered(pod: str = pod, answered: set[str] = answered) -> bool:
            answer = cluster.kubectl("-n", namespace, "exec", pod, "--", "/probe", "get", url, check=False)
            answered.add(answer.stdout.strip())
            return answered >= set(web)

        eventually(all_have_answered, what=f"answers from {web} to {pod}")


def test_logs_are_read(cluster: Cluster, namespace: str, web: list[str]) -> None:
    for pod in web:
        assert cluster.kubectl("-n", namespace, "logs", pod).stdout == "serving on :8080\n"


def test_a_port_is_forwarded(cluster: Cluster, namespace: str, web: list[str]) -> None:
    with (
        cluster.port_forward("svc/web", 80, namespace) as port,
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=10) as answer,
    ):
        assert answer.read().decode().strip() in web


def test_the_api_server_reaches_pods(cluster: Cluster, namespace: str, web: list[str]) -> None:
    # By the road that webhooks take.
    answer = cluster.kubectl("get", f"--raw=/api/v1/namespaces/{namespace}/services/web:80/proxy/")
    assert answer.stdout.strip() in web


def test_helm_speaks_to_the_same_cluster(cluster: Cluster, namespace: str) -> None:
    assert json.loads(cluster.helm("list", "-n", namespace, "-o", "json").stdout) == []


def test_a_claim_is_a_directory_until_it_is_deleted(cluster: Cluster, namespace: str, probe: Probe) -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "notes", "namespace": namespace},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Mi"}}},
    }
    _apply(cluster, claim, _volume_pod(probe, namespace, "writer", "write", "/data/note", "kept"))
    _wait_succeeded(cluster, namespace, "writer")
    _apply(cluster, _volume_pod(probe, namespace, "reader", "read", "/data/note"))
    _wait_succeeded(cluster, namespace, "reader")
    assert cluster.kubectl("-n", namespace, "logs", "reader").stdout == "kept"

    volume = cluster.kubectl(
        "-n", namespace, "get", "pvc", "notes", "-o", "jsonpath={.spec.volumeName}"
    ).stdout
    cluster.kubectl("-n", namespace, "delete", "pod", "writer", "reader")
    cluster.kubectl("-n", namespace, "delete", "pvc", "notes")
    cluster.kubectl("wait", f"pv/{volume}", "--for=delete", "--timeout=60s")
    assert not [directory for directory in _volumes(cluster) if directory.name.startswith(volume)]


def _volume_pod(probe: Probe, namespace: str, name: str, *args: str) -> Manifest:
    container = {**_container(probe, *args), "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    # Whoever the pod runs as can write.
    container["securityContext"] = {"runAsUser": 10001, "runAsNonRoot": True}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "restartPolicy": "Never",
            "containers": [container],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "notes"}}],
        },
    }


def _wait_succeeded(cluster: Cluster, namespace: str, pod: str) -> None:
    succeeded = "--for=jsonpath={.status.phase}=Succeeded"
    cluster.kubectl("-n", namespace, "wait", f"pod/{pod}", succeeded, "--timeout=60s")


def _volumes(cluster: Cluster) -> list[Path]:
    """The directories of the local cluster's volumes; kind's are in its containers."""
    return list(cluster.kubeconfig.parent.glob("nodes/*/var/kubelet/local-volumes/*"))


def test_the_host_has_nothing_of_it_but_cgroups(cluster: Cluster) -> None:
    if not isinstance(cluster, LocalCluster):
        pytest.skip("Docker keeps its own things in the host")
    assert not [table for table in network.host_tables() if "kube-proxy" in table]
    assert not mounts(Paths.of_checkout().home)
    assert not list(Path("/sys/class/net").glob("fairway*"))


def test_an_image_loaded_again_under_its_name_is_the_new_one(
    cluster: Cluster, probe: Probe, tmp_path: Path
) -> None:
    binary = binaries.ensure(binaries.PROBE, print) / "probe"
    name = f"localhost/fairway-cluster/twice-{secrets.token_hex(3)}:1"
    seen = set()
    for version in ("one", "two"):
        archive = tmp_path / f"{version}.tar"
        files = {"/probe": binary, f"/{version}": Path(__file__)}
        image_id = write_archive(archive, reference=name, files=files, entrypoint=["/probe"])
        cluster.load_archives([archive])
        assert cluster.has_image(name, image_id)
        seen.add(image_id)
    assert len(seen) == 2
    assert probe.image_id not in seen
