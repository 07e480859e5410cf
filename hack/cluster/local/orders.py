"""Orders for the PID 1 of the control plane and of the nodes, with the files they refer to."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hack.cluster.local import node_config, plane_config
from hack.cluster.local.layout import API_PORT, API_URL, CONTAINERD_SOCKET, PLANE, PLANE_IP, Node
from hack.cluster.packages import SYSTEM_PATH
from hack.cluster.paths import Paths

Orders = dict[str, Any]
# Directories with fixed names that every node needs for itself and that live as long as the node's disk.
_NODE_DIRECTORIES = {
    "kubelet": "/var/lib/kubelet",
    "containerd": "/var/lib/containerd",
    "cni": "/var/lib/cni",
    "pod-logs": "/var/log/pods",
}


@dataclass(frozen=True, slots=True)
class Parts:
    """What a local cluster is made of on this machine."""

    kubernetes: Path
    addons: Path
    helm: Path
    images: Sequence[Path]
    cni: Path
    snapshotter: str


def plane(paths: Paths, parts: Parts, descriptor: int) -> Orders:
    """Order the control plane; ``descriptor`` is the host's listening socket for the API server."""
    home = paths.plane
    home.mkdir(parents=True, exist_ok=True)
    (home / "provisioner.json").write_text(plane_config.provisioner_config())
    (home / "helper-pod.yaml").write_text(plane_config.helper_pod())
    provisioner = plane_config.provisioner(paths.pki, home / "provisioner.json", home / "helper-pod.yaml")
    forward = ["forward", str(descriptor), f"{PLANE_IP}:{API_PORT}"]
    return {
        "hostname": "fairway-plane",
        "mounts": [{"kind": "tmpfs", "target": "/run"}],
        "environment": _environment(parts),
        "steps": [
            _service(paths, PLANE, "etcd", plane_config.etcd(home / "etcd")),
            _service(paths, PLANE, "kube-apiserver", plane_config.api_server(paths.pki)),
            {**_service(paths, PLANE, "forward", forward), "descriptor": descriptor},
            {"ready": f"{API_URL}/readyz", "authority": str(paths.pki / "ca.crt")},
            _service(paths, PLANE, "kube-controller-manager", plane_config.controller_manager(paths.pki)),
            _service(paths, PLANE, "kube-scheduler", plane_config.scheduler(paths.pki)),
            _service(paths, PLANE, "local-path-provisioner", provisioner),
        ],
    }


def node(paths: Paths, parts: Parts, which: Node, cgroup: str) -> Orders:
    """Order a node."""
    etc = _write_node_files(paths, parts, which, cgroup)
    kubelet = ["kubelet", f"--config={etc}/kubelet.yaml", f"--kubeconfig={paths.pki}/{which.name}.kubeconfig"]
    kubelet += [f"--hostname-override={which.name}", f"--node-ip={which.ip}"]
    images = [
        {
            "run": ["ctr", "--address", CONTAINERD_SOCKET, "--namespace", "k8s.io", "images", "import", "-"],
            "stdin": str(image),
            "log": _log(paths, which.name, "images"),
        }
        for image in parts.images
    ]
    return {
        "hostname": which.name,
        "mounts": _node_mounts(paths, which, etc),
        "environment": _environment(parts),
        "steps": [
            _service(paths, which.name, "containerd", ["containerd", f"--config={etc}/containerd.toml"]),
            {"socket": CONTAINERD_SOCKET},
            *images,
            _service(paths, which.name, "kubelet", kubelet),
            _service(paths, which.name, "kube-proxy", ["kube-proxy", f"--config={etc}/kube-proxy.yaml"]),
        ],
    }


def _write_node_files(paths: Paths, parts: Parts, which: Node, cgroup: str) -> Path:
    etc = paths.node(which.name) / "etc"
    (etc / "cni").mkdir(parents=True, exist_ok=True)
    (etc / "kernel").mkdir(exist_ok=True)
    resolv = etc / "resolv.conf"
    files = {
        # A node has no resolver of its own: nothing leaves the machine.
        resolv: "nameserver 127.0.0.1\n",
        etc / "cni/10-pods.conflist": node_config.pod_network(which),
        etc / "containerd.toml": node_config.containerd(
            cni=parts.cni, cni_config=etc / "cni", snapshotter=parts.snapshotter
        ),
        etc / "kubelet.yaml": node_config.kubelet(which, pki=paths.pki, resolv=resolv, cgroup=cgroup),
        etc / "kube-proxy.yaml": node_config.kube_proxy(which, pki=paths.pki),
        **{
            _kernel_file(etc, setting): f"{value}\n" for setting, value in node_config.KERNEL_SETTINGS.items()
        },
    }
    for path, content in files.items():
        path.write_text(content)
    return etc


def _node_mounts(paths: Paths, which: Node, etc: Path) -> list[dict[str, str]]:
    # /run is empty after a boot; /var/log is the node's own, so that no pod's log is written into the host's.
    fresh = [{"kind": "tmpfs", "target": target} for target in ("/run", "/var/log")]
    disk = [
        {
            "kind": "directory",
            "source": str(paths.node(which.name) / "var" / directory),
            "target": target,
        }
        for directory, target in _NODE_DIRECTORIES.items()
    ]
    kernel = [
        {"kind": "file", "source": str(_kernel_file(etc, setting)), "target": f"/proc/sys/{setting}"}
        for setting in node_config.KERNEL_SETTINGS
    ]
    return fresh + disk + kernel


def _kernel_file(etc: Path, setting: str) -> Path:
    return etc / "kernel" / setting.replace("/", ".")


def _environment(parts: Parts) -> dict[str, str]:
    return {"PATH": f"{parts.kubernetes}:{parts.addons}:{SYSTEM_PATH}", "HOME": "/root", "LANG": "C.UTF-8"}


def _service(paths: Paths, machine: str, name: str, argv: list[str]) -> dict[str, Any]:
    return {"service": name, "argv": argv, "log": _log(paths, machine, name)}


def _log(paths: Paths, machine: str, name: str) -> str:
    return str(paths.logs / f"{machine}-{name}.log")
