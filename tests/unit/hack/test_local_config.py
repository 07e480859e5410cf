import json
import shutil
from pathlib import Path

import pytest
import yaml

from hack.cluster.command import run
from hack.cluster.local import layout, network, node_config, orders, pki, plane_config
from hack.cluster.local.images import SYSTEM_IMAGES
from hack.cluster.paths import Paths

MANIFESTS = Path(layout.__file__).parents[1] / "manifests"


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    return Paths(tmp_path / ".cluster")


@pytest.fixture
def parts(tmp_path: Path) -> orders.Parts:
    return orders.Parts(
        kubernetes=tmp_path / "kubernetes",
        addons=tmp_path / "addons",
        helm=tmp_path / "helm",
        images=[tmp_path / "pause.tar", tmp_path / "coredns.tar"],
        cni=tmp_path / "cni",
        snapshotter="overlayfs",
    )


def _documents(name: str) -> dict[str, dict[str, object]]:
    return {part["kind"]: part for part in yaml.safe_load_all((MANIFESTS / name).read_text())}


def test_the_manifests_agree_with_the_layout() -> None:
    dns, storage = _documents("coredns.yaml"), _documents("storage.yaml")
    assert dns["Service"]["spec"]["clusterIP"] == layout.DNS_IP  # type: ignore[index] # any YAML
    assert layout.COREDNS_IMAGE in json.dumps(dns["Deployment"])
    assert storage["Namespace"]["metadata"] == {"name": layout.STORAGE_NAMESPACE}
    account = storage["ServiceAccount"]["metadata"]["name"]  # type: ignore[index] # any YAML
    command = plane_config.provisioner(Path("/pki"), Path("/config"), Path("/pod"))
    assert f"--service-account-name={account}" in command
    assert storage["StorageClass"]["reclaimPolicy"] == "Delete"
    assert storage["StorageClass"]["volumeBindingMode"] == "WaitForFirstConsumer"


def test_every_image_that_is_named_is_made() -> None:
    made = {image.reference for image in SYSTEM_IMAGES}
    assert made == {layout.PAUSE_IMAGE, layout.COREDNS_IMAGE, layout.VOLUME_IMAGE}
    assert layout.PAUSE_IMAGE in node_config.containerd(
        cni=Path("/c"), cni_config=Path("/d"), snapshotter="native"
    )


def test_nodes_never_share_an_address_or_a_cgroup(paths: Paths, parts: orders.Parts) -> None:
    first, second = (orders.node(paths, parts, node, f"group-{node.name}") for node in layout.NODES)
    assert first["hostname"] != second["hostname"]
    assert {node.ip for node in layout.NODES}.isdisjoint({layout.PLANE_IP})
    assert len({node.pods for node in layout.NODES}) == len(layout.NODES)
    groups = {
        json.loads((paths.node(node.name) / "etc/kubelet.yaml").read_text())["cgroupRoot"]
        for node in layout.NODES
    }
    assert groups == {f"/group-{node.name}" for node in layout.NODES}


def test_a_node_imports_its_images_before_the_kubelet_starts(paths: Paths, parts: orders.Parts) -> None:
    steps = orders.node(paths, parts, layout.NODES[0], "group")["steps"]
    kinds = [step.get("service") or step.get("stdin") or "socket" for step in steps]
    images = [str(image) for image in parts.images]
    assert kinds == ["containerd", "socket", *images, "kubelet", "kube-proxy"]


def test_the_kubelet_finds_the_kernel_settings_it_would_change(paths: Paths, parts: orders.Parts) -> None:
    mounts = orders.node(paths, parts, layout.NODES[0], "group")["mounts"]
    shown = {
        mount["target"]: Path(mount["source"]).read_text() for mount in mounts if mount["kind"] == "file"
    }
    assert shown["/proc/sys/vm/overcommit_memory"] == "1\n"
    assert shown["/proc/sys/kernel/panic_on_oops"] == "1\n"


def test_a_node_has_no_default_route() -> None:
    for node in layout.NODES:
        routes = [command for command in network.node_commands(node) if command[:3] == ["ip", "route", "add"]]
        destinations = {route[3] for route in routes}
        others = {other.pods for other in layout.NODES if other != node}
        assert destinations == {*others, layout.SERVICE_CIDR}


def test_the_control_plane_listens_on_the_descriptor_it_is_given(paths: Paths, parts: orders.Parts) -> None:
    steps = orders.plane(paths, parts, 7)["steps"]
    forward = next(step for step in steps if step.get("service") == "forward")
    assert forward["descriptor"] == 7
    assert forward["argv"] == ["forward", "7", "10.200.0.1:6443"]


@pytest.mark.skipif(shutil.which("openssl") is None, reason="the certificates are made by openssl")
def test_certificates_hold_and_are_private(tmp_path: Path) -> None:
    directory = tmp_path / "pki"
    pki.make(directory)
    for certificate in pki.certificates():
        authority = directory / f"{certificate.authority}.crt"
        run(["openssl", "verify", "-CAfile", str(authority), str(directory / f"{certificate.name}.crt")])
    shown = run(["openssl", "x509", "-in", str(directory / "apiserver.crt"), "-noout", "-text"]).stdout
    assert "IP Address:127.0.0.1" in shown
    assert "id-ecPublicKey" in shown
    assert directory.stat().st_mode & 0o077 == 0
    config = json.loads(pki.kubeconfig(directory, "admin", "https://127.0.0.1:1", "x"))
    assert config["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:1"


def test_a_node_is_found_by_name_or_number() -> None:
    assert layout.node_named("2") == layout.node_named("fairway-node2") == layout.NODES[1]
    with pytest.raises(LookupError):
        layout.node_named("3")
