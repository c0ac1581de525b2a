"""Who we are in a cluster: tokens that are replaced, client certificates, and servers that are not who they say."""

import base64
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from provisioner.errors import BadInput, SchedulerError
from provisioner.models.identifiers import NodeName
from provisioner.models.scheduling import Standing
from provisioner.schedulers.factory import scheduler_for
from provisioner.schedulers.kubeconfig import read_access
from provisioner.schedulers.settings import KubernetesSettings
from tests.schedulers.certificates import Authority
from tests.schedulers.kube_server import KubeServer
from tests.schedulers.site import Later

NODE = NodeName("n0")


@contextmanager
def https_server(authority: Authority, *, asks_who: bool = False) -> Iterator[KubeServer]:
    """One that shows a certificate of this authority, and perhaps wants one of it."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(*authority.issue("server"))
    if asks_who:
        tls.load_verify_locations(authority.file)
        tls.verify_mode = ssl.CERT_REQUIRED
    server = KubeServer(tls)
    server.start()
    server.add_node(NODE)
    yield server
    server.stop()


def kubeconfig(folder: Path, url: str, authority: Authority, user: dict[str, Any]) -> Path:
    data = base64.b64encode(authority.file.read_bytes()).decode()
    document = {
        "current-context": "hall",
        "contexts": [{"name": "hall", "context": {"cluster": "one", "user": "me"}}],
        "clusters": [{"name": "one", "cluster": {"server": url, "certificate-authority-data": data}}],
        "users": [{"name": "me", "user": user}],
    }
    path = folder / "kube.yaml"
    path.write_text(yaml.safe_dump(document))
    return path


async def standing(path: Path) -> Standing:
    scheduler = scheduler_for(KubernetesSettings(kind="kubernetes", kubeconfig=path), Later())
    try:
        return (await scheduler.look([NODE]))[NODE].standing
    finally:
        await scheduler.close()


async def test_a_token_file_is_read_anew_for_each_request(tmp_path: Path) -> None:
    """Tokens of service accounts are replaced within the hour."""
    authority, token = Authority(tmp_path, "ours"), tmp_path / "token"
    token.write_text("right-token\n")
    with https_server(authority) as server:
        path = kubeconfig(tmp_path, server.url, authority, {"tokenFile": "token"})
        scheduler = scheduler_for(KubernetesSettings(kind="kubernetes", kubeconfig=path), Later())
        assert (await scheduler.look([NODE]))[NODE].standing is Standing.IN_SERVICE
        server.token = "next-token"
        with pytest.raises(SchedulerError, match="401"):
            await scheduler.look([NODE])
        token.write_text("next-token")
        assert (await scheduler.look([NODE]))[NODE].standing is Standing.IN_SERVICE
        token.unlink()
        with pytest.raises(SchedulerError, match="token"):
            await scheduler.look([NODE])
        await scheduler.close()


async def test_a_client_certificate_is_shown_where_it_is_asked_for(tmp_path: Path) -> None:
    authority = Authority(tmp_path, "ours")
    certificate, key = authority.issue("firstlight")
    user = {"token": "right-token"}
    with https_server(authority, asks_who=True) as server:
        with pytest.raises(SchedulerError):
            await standing(kubeconfig(tmp_path, server.url, authority, user))
        user |= {"client-certificate": certificate.name, "client-key": key.name}
        assert await standing(kubeconfig(tmp_path, server.url, authority, user)) is Standing.IN_SERVICE


async def test_no_token_goes_to_a_server_of_another_authority(tmp_path: Path) -> None:
    with https_server(Authority(tmp_path, "theirs")) as server:
        path = kubeconfig(tmp_path, server.url, Authority(tmp_path, "ours"), {"token": "right-token"})
        with pytest.raises(SchedulerError, match="certificate") as refused:
            await standing(path)
        assert "right-token" not in str(refused.value)
        assert not server.seen


def test_outside_a_cluster_a_kubeconfig_is_needed() -> None:
    with pytest.raises(BadInput, match="name a kubeconfig"):
        read_access(None, None)
