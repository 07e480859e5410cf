"""The control plane's commands, and what the provisioner reads: pure functions."""

import json
from pathlib import Path

from hack.cluster.local.layout import (
    API_PORT,
    PLANE_IP,
    SERVICE_CIDR,
    STORAGE_NAMESPACE,
    VOLUME_DIRECTORY,
    VOLUME_IMAGE,
)

_ETCD = "http://127.0.0.1:2379"
_ETCD_PEER = "http://127.0.0.1:2380"
# How long a lost node's pods are kept before they are replaced; Kubernetes' own default is 300 s.
_EVICTION_SECONDS = 10
# The defaults (20 and 30) would make every measurement one of the client's own limit.
_API_LIMITS = ["--kube-api-qps=200", "--kube-api-burst=400"]


def etcd(data: Path) -> list[str]:
    """Give etcd's command. It need not survive a power loss of the machine."""
    return [
        "etcd",
        f"--data-dir={data}",
        f"--listen-client-urls={_ETCD}",
        f"--advertise-client-urls={_ETCD}",
        f"--listen-peer-urls={_ETCD_PEER}",
        f"--initial-advertise-peer-urls={_ETCD_PEER}",
        f"--initial-cluster=default={_ETCD_PEER}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def api_server(pki: Path) -> list[str]:
    """Give the API server's command."""
    return [
        "kube-apiserver",
        f"--etcd-servers={_ETCD}",
        f"--bind-address={PLANE_IP}",
        f"--advertise-address={PLANE_IP}",
        f"--secure-port={API_PORT}",
        f"--service-cluster-ip-range={SERVICE_CIDR}",
        "--allow-privileged",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        f"--default-not-ready-toleration-seconds={_EVICTION_SECONDS}",
        f"--default-unreachable-toleration-seconds={_EVICTION_SECONDS}",
        f"--client-ca-file={pki}/ca.crt",
        f"--tls-cert-file={pki}/apiserver.crt",
        f"--tls-private-key-file={pki}/apiserver.key",
        f"--kubelet-client-certificate={pki}/apiserver-kubelet.crt",
        f"--kubelet-client-key={pki}/apiserver-kubelet.key",
        f"--kubelet-certificate-authority={pki}/ca.crt",
        "--kubelet-preferred-address-types=InternalIP",
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
        f"--service-account-key-file={pki}/sa.pub",
        f"--service-account-signing-key-file={pki}/sa.key",
        f"--requestheader-client-ca-file={pki}/front-proxy-ca.crt",
        "--requestheader-allowed-names=front-proxy-client",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={pki}/front-proxy-client.crt",
        f"--proxy-client-key-file={pki}/front-proxy-client.key",
        # The control plane has no kube-proxy: webhooks and extension servers are reached at their pods.
        "--enable-aggregator-routing=true",
    ]


def controller_manager(pki: Path) -> list[str]:
    """Give the controller manager's command. It gives a silent node 16 s instead of 50."""
    return [
        "kube-controller-manager",
        *_component(pki, "controller-manager"),
        *_API_LIMITS,
        "--node-monitor-period=2s",
        "--node-monitor-grace-period=16s",
        "--use-service-account-credentials",
        f"--root-ca-file={pki}/ca.crt",
        f"--service-account-private-key-file={pki}/sa.key",
        f"--cluster-signing-cert-file={pki}/ca.crt",
        f"--cluster-signing-key-file={pki}/ca.key",
    ]


def scheduler(pki: Path) -> list[str]:
    """Give the scheduler's command."""
    return ["kube-scheduler", *_component(pki, "scheduler"), *_API_LIMITS]


def _component(pki: Path, name: str) -> list[str]:
    options = ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")
    kubeconfigs = [f"--{option}={pki}/{name}.kubeconfig" for option in options]
    return [*kubeconfigs, "--bind-address=127.0.0.1", "--leader-elect=false"]


def provisioner(pki: Path, config: Path, helper: Path) -> list[str]:
    """Give the volume provisioner's command."""
    return [
        "local-path-provisioner",
        "start",
        f"--kubeconfig={pki}/provisioner.kubeconfig",
        f"--config={config}",
        f"--helper-pod-file={helper}",
        f"--helper-image={VOLUME_IMAGE}",
        f"--namespace={STORAGE_NAMESPACE}",
        "--service-account-name=local-path-provisioner",
    ]


def provisioner_config() -> str:
    """Say where the nodes keep volumes, and what makes and removes one."""
    return json.dumps(
        {
            "nodePathMap": [{"node": "DEFAULT_PATH_FOR_NON_LISTED_NODES", "paths": [VOLUME_DIRECTORY]}],
            "setupCommand": "/volume",
            "teardownCommand": "/volume",
        }
    )


def helper_pod() -> str:
    """Give the pod that the provisioner runs on a node for each volume (JSON is YAML)."""
    container = {
        "name": "helper-pod",
        "image": VOLUME_IMAGE,
        "imagePullPolicy": "Never",
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
    }
    spec = {
        "priorityClassName": "system-node-critical",
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 0,
        "containers": [container],
    }
    return json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "helper-pod"}, "spec": spec})
