"""The cluster's certificates (ECDSA, by openssl) and the kubeconfigs that carry them."""

import base64
import json
import secrets
from dataclasses import dataclass
from pathlib import Path

from hack.cluster.command import run
from hack.cluster.local.layout import API_URL, NODES, PLANE_IP, SERVICE_IP

_DAYS = "3650"
_API_NAMES = (
    "DNS:kubernetes",
    "DNS:kubernetes.default",
    "DNS:kubernetes.default.svc",
    "DNS:kubernetes.default.svc.cluster.local",
    "DNS:localhost",
    "IP:127.0.0.1",
    f"IP:{PLANE_IP}",
    f"IP:{SERVICE_IP}",
)
_ADMINISTRATORS = "system:masters"


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate to make: whose it is, who signs it, and what it may be used for."""

    name: str
    common_name: str
    organization: str | None = None
    authority: str = "ca"
    usage: str = "clientAuth"
    alternatives: tuple[str, ...] = ()

    @property
    def subject(self) -> str:
        """The subject as openssl reads it."""
        organization = f"/O={self.organization}" if self.organization else ""
        return f"{organization}/CN={self.common_name}"

    @property
    def extensions(self) -> str:
        """The extensions as openssl reads them."""
        lines = [
            "basicConstraints=CA:FALSE",
            "keyUsage=critical,digitalSignature",
            f"extendedKeyUsage={self.usage}",
        ]
        if self.alternatives:
            lines.append(f"subjectAltName={','.join(self.alternatives)}")
        return "\n".join(lines) + "\n"


def certificates() -> list[Certificate]:
    """List every certificate of the cluster."""
    shared = [
        Certificate("apiserver", "kube-apiserver", usage="serverAuth", alternatives=_API_NAMES),
        Certificate("apiserver-kubelet", "kube-apiserver-kubelet-client", _ADMINISTRATORS),
        Certificate("front-proxy-client", "front-proxy-client", authority="front-proxy-ca"),
        Certificate("admin", "fairway-admin", _ADMINISTRATORS),
        Certificate("provisioner", "fairway-provisioner", _ADMINISTRATORS),
        Certificate("controller-manager", "system:kube-controller-manager"),
        Certificate("scheduler", "system:kube-scheduler"),
        Certificate("kube-proxy", "system:kube-proxy"),
    ]
    nodes = [
        Certificate(
            node.name,
            f"system:node:{node.name}",
            "system:nodes",
            usage="clientAuth,serverAuth",
            alternatives=(f"DNS:{node.name}", f"IP:{node.ip}"),
        )
        for node in NODES
    ]
    return shared + nodes


def make(directory: Path) -> None:
    """Make all keys and certificates, and a kubeconfig for each component that talks to the API server."""
    directory.mkdir(parents=True)
    directory.chmod(0o700)
    for authority in ("ca", "front-proxy-ca"):
        _authority(directory, authority)
    run(["openssl", "genrsa", "-out", f"{directory}/sa.key", "2048"])
    run(["openssl", "rsa", "-in", f"{directory}/sa.key", "-pubout", "-out", f"{directory}/sa.pub"])
    for certificate in certificates():
        _sign(directory, certificate)
        if "clientAuth" in certificate.usage and certificate.authority == "ca":
            content = kubeconfig(directory, certificate.name, API_URL)
            write_private(directory / f"{certificate.name}.kubeconfig", content)


def kubeconfig(directory: Path, user: str, server: str, name: str = "fairway") -> str:
    """Give a kubeconfig with everything in it, as JSON, which is YAML too."""
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": name,
                    "cluster": {
                        "server": server,
                        "certificate-authority-data": _base64(directory / "ca.crt"),
                    },
                }
            ],
            "users": [
                {
                    "name": name,
                    "user": {
                        "client-certificate-data": _base64(directory / f"{user}.crt"),
                        "client-key-data": _base64(directory / f"{user}.key"),
                    },
                }
            ],
            "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
            "current-context": name,
        },
        indent=1,
    )


def write_private(path: Path, content: str) -> None:
    """Write a file that only its owner can read, from its first byte on."""
    path.unlink(missing_ok=True)
    path.touch(0o600)
    path.write_text(content)


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def _key(directory: Path, name: str) -> None:
    run(["openssl", "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{directory}/{name}.key"])


def _authority(directory: Path, name: str) -> None:
    _key(directory, name)
    command = ["openssl", "req", "-x509", "-new", "-key", f"{directory}/{name}.key", "-days", _DAYS]
    command += ["-subj", f"/CN=fairway-{name}", "-out", f"{directory}/{name}.crt"]
    command += ["-addext", "basicConstraints=critical,CA:TRUE"]
    command += ["-addext", "keyUsage=critical,keyCertSign,cRLSign,digitalSignature"]
    run(command)


def _sign(directory: Path, certificate: Certificate) -> None:
    base = directory / certificate.name
    _key(directory, certificate.name)
    base.with_suffix(".ext").write_text(certificate.extensions)
    request = run(["openssl", "req", "-new", "-key", f"{base}.key", "-subj", certificate.subject]).stdout
    authority = directory / certificate.authority
    command = [
        "openssl",
        "x509",
        "-req",
        "-CA",
        f"{authority}.crt",
        "-CAkey",
        f"{authority}.key",
        "-days",
        _DAYS,
    ]
    command += ["-set_serial", f"0x{secrets.token_hex(12)}", "-extfile", f"{base}.ext", "-out", f"{base}.crt"]
    run(command, input=request)
    base.with_suffix(".ext").unlink()
