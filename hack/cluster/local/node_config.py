"""What a node's components read: pure functions from names and paths to configuration texts."""

import json
from pathlib import Path
from typing import Any

from hack.cluster.local.layout import CONTAINERD_SOCKET, DNS_IP, PAUSE_IMAGE, POD_CIDR, Node

# What the kubelet insists on and would otherwise write into the host's kernel. A node shows it these instead.
KERNEL_SETTINGS = {
    "vm/overcommit_memory": "1",
    "vm/panic_on_oom": "0",
    "kernel/panic": "10",
    "kernel/panic_on_oops": "1",
    "kernel/keys/root_maxkeys": "1000000",
    "kernel/keys/root_maxbytes": "25000000",
}


def containerd(*, cni: Path, cni_config: Path, snapshotter: str) -> str:
    """Configure containerd. Its paths are those every node has, in a mount namespace of its own."""
    return f"""\
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
oom_score = 0
[grpc]
  address = "{CONTAINERD_SOCKET}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  # Without CAP_SYS_RESOURCE a negative oom_score_adj cannot be set.
  restrict_oom_score_adj = true
  # A profile would be loaded into the kernel of the host.
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "{snapshotter}"
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        BinaryName = "runc"
        SystemdCgroup = false
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{cni}"
    conf_dir = "{cni_config}"
"""


def pod_network(node: Node) -> str:
    """Configure the pods' network: each pod has a routed link of its own.

    With a bridge, a pod's answer to its neighbour would pass by the translation of service addresses unless
    the kernel filters bridged packets; a routed link needs no such help.
    """
    addresses = {"type": "host-local", "ranges": [[{"subnet": node.pods}]], "routes": [{"dst": "0.0.0.0/0"}]}
    plugins: list[dict[str, Any]] = [
        {"type": "ptp", "ipMasq": False, "ipam": addresses},
        {"type": "portmap", "capabilities": {"portMappings": True}},
    ]
    return json.dumps({"cniVersion": "0.4.0", "name": "pods", "plugins": plugins}, indent=1)


def kubelet(node: Node, *, pki: Path, resolv: Path, cgroup: str) -> str:
    """Configure the kubelet (JSON is YAML)."""
    return json.dumps(
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "failCgroupV1": False,
            "cgroupDriver": "cgroupfs",
            # Its own, else two kubelets would delete each other's pods.
            "cgroupRoot": f"/{cgroup}",
            # The default of -999 cannot be set without CAP_SYS_RESOURCE.
            "oomScoreAdj": 0,
            "failSwapOn": False,
            "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
            "address": node.ip,
            "authentication": {
                "anonymous": {"enabled": False},
                "webhook": {"enabled": True},
                "x509": {"clientCAFile": str(pki / "ca.crt")},
            },
            "authorization": {"mode": "Webhook"},
            "tlsCertFile": str(pki / f"{node.name}.crt"),
            "tlsPrivateKeyFile": str(pki / f"{node.name}.key"),
            "clusterDomain": "cluster.local",
            "clusterDNS": [DNS_IP],
            "resolvConf": str(resolv),
            # The lease is renewed every quarter of this; the control plane waits four renewals for a node.
            "nodeLeaseDurationSeconds": 16,
            "nodeStatusUpdateFrequency": "4s",
            "nodeStatusMaxImages": -1,
            "kubeAPIQPS": 200,
            "kubeAPIBurst": 400,
            "evictionHard": {
                "memory.available": "200Mi",
                "nodefs.available": "2%",
                "imagefs.available": "2%",
            },
            # Images cannot be pulled again, so none may be collected.
            "imageGCHighThresholdPercent": 100,
            "maxPods": 200,
            "logging": {"verbosity": 1},
        },
        indent=1,
    )


def kube_proxy(node: Node, *, pki: Path) -> str:
    """Configure kube-proxy (JSON is YAML)."""
    return json.dumps(
        {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "mode": "nftables",
            "clientConnection": {"kubeconfig": str(pki / "kube-proxy.kubeconfig")},
            "clusterCIDR": POD_CIDR,
            "hostnameOverride": node.name,
            "bindAddress": "0.0.0.0",  # noqa: S104 # in the node's own network namespace
            "oomScoreAdj": 0,
            # These are the host's, and read-only in a network namespace.
            "conntrack": {
                "maxPerCore": 0,
                "min": 0,
                "tcpEstablishedTimeout": "0s",
                "tcpCloseWaitTimeout": "0s",
            },
        },
        indent=1,
    )
