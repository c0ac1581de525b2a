"""Where the API server of a Kubernetes cluster is, and who we are there: a kubeconfig, or the pod that we run in."""

import base64
import binascii
import os
import ssl
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from provisioner.errors import BadInput
from provisioner.models.secret import Secret

_IN_CLUSTER = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """`token`: read anew for each request, as tokens of service accounts are replaced within the hour."""

    server: str
    tls: ssl.SSLContext | None
    token: Callable[[], Secret | None]


def read_access(kubeconfig: Path | None, context: str | None) -> ClusterAccess:
    """Without a kubeconfig, as a pod of the cluster. Raises `BadInput` with file and field."""
    return _in_cluster(_IN_CLUSTER) if kubeconfig is None else _from_file(kubeconfig, context)


def _in_cluster(folder: Path) -> ClusterAccess:
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host or not (folder / "token").exists():
        raise BadInput(f"kubeconfig is missing, and this is no pod of a cluster ({folder}/token); name a kubeconfig")
    host = f"[{host}]" if ":" in host else host
    tls = ssl.create_default_context(cafile=folder / "ca.crt")
    return ClusterAccess(f"https://{host}:{port}", tls, _token_of(folder / "token"))


def _from_file(path: Path, wanted: str | None) -> ClusterAccess:
    document = _read(path)
    name = wanted or document.get("current-context") or ""
    context = _named(path, document, "contexts", name).get("context") or {}
    cluster = _named(path, document, "clusters", context.get("cluster", "")).get("cluster") or {}
    user = _named(path, document, "users", context.get("user", "")).get("user") or {}
    server = cluster.get("server")
    if not isinstance(server, str) or not server.startswith(("http://", "https://")):
        raise BadInput(f"{path}: clusters: {context.get('cluster')}: server is missing; write its https:// address")
    tls = _tls(path, cluster, user) if server.startswith("https://") else None
    return ClusterAccess(server.rstrip("/"), tls, _token(path, user))


def _read(path: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}" if mark else ""
        raise BadInput(f"{path} is no YAML{where}; write it anew with kubectl config view --raw") from error
    if not isinstance(document, dict):
        raise BadInput(f"{path} is no kubeconfig; write it with kubectl config view --raw")
    return document


def _named(path: Path, document: Mapping[str, Any], kind: str, name: str) -> dict[str, Any]:
    entries = [one for one in document.get(kind) or [] if isinstance(one, dict)]
    for entry in entries:
        if entry.get("name") == name:
            return entry
    known = ", ".join(str(one.get("name")) for one in entries) or "none"
    raise BadInput(f"{path}: {kind}: {name!r} is not there, but {known}; correct it, or name another context")


def _tls(path: Path, cluster: Mapping[str, Any], user: Mapping[str, Any]) -> ssl.SSLContext:
    if cluster.get("insecure-skip-tls-verify"):
        raise BadInput(f"{path}: insecure-skip-tls-verify gives the token to anybody; write certificate-authority")
    try:
        authority = _bytes(path, cluster, "certificate-authority")
        tls = ssl.create_default_context(cadata=authority.decode() if authority else None)
        certificate, key = _bytes(path, user, "client-certificate"), _bytes(path, user, "client-key")
        if certificate and key:
            _load_client(tls, certificate, key)
    except (ssl.SSLError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: its certificates or keys cannot be used: {error}; they must be PEM") from error
    return tls


def _load_client(tls: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Python takes it from files alone; the key lies in one that nobody else can read, for this moment."""
    with tempfile.TemporaryDirectory() as folder:
        both = Path(folder) / "client.pem"
        both.touch(mode=0o600)
        both.write_bytes(certificate + b"\n" + key)
        tls.load_cert_chain(both)


def _bytes(path: Path, entry: Mapping[str, Any], field: str) -> bytes | None:
    """From `<field>-data`, or the file that `<field>` names, beside the kubeconfig where it is relative."""
    data, file = entry.get(f"{field}-data"), entry.get(field)
    try:
        if data:
            return base64.b64decode(data, validate=True)
        return (path.parent / file).read_bytes() if file else None
    except binascii.Error as error:
        raise BadInput(f"{path}: {field}-data is no base64; write it anew with kubectl config view --raw") from error
    except OSError as error:
        raise BadInput(f"{path}: {field}: {error}") from error


def _token(path: Path, user: Mapping[str, Any]) -> Callable[[], Secret | None]:
    if user.get("exec") or user.get("auth-provider"):
        raise BadInput(f"{path}: users: exec and auth-provider are not supported; use the token of a service account")
    if file := user.get("tokenFile"):
        return _token_of(path.parent / file)
    token = Secret(user["token"]) if user.get("token") else None
    return lambda: token


def _token_of(file: Path) -> Callable[[], Secret]:
    def read() -> Secret:
        try:
            return Secret(file.read_text(encoding="ascii").strip())
        except (OSError, UnicodeDecodeError) as error:
            raise BadInput(f"the token in {file} cannot be read: {error}") from error

    return read
