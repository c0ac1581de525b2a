"""nginx in front of the service (files leave by sendfile), and nginx as a rack's mirror of its files."""

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from provisioner.errors import BadInput
from provisioner.network_boot.templating import plain_path, plain_url, render

_PORTS = {"http": 80, "https": 443}
_ANYWHERE = ("0.0.0.0", "::")


@dataclass(frozen=True, slots=True)
class Certificate:
    """For a public URL with https."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Front:
    """The service behind. `host`, `port`: where it listens; `bodies`: files on their way at once."""

    site: str
    url: str
    host: str
    port: int
    data_dir: Path
    bodies: int = 512


def render_nginx(front: Front, certificate: Certificate | None = None) -> str:
    """The server of the public URL. Raises `BadInput` where nginx and the service would want the same port."""
    parts = urlsplit(plain_url(front.url))
    port, name = parts.port or _PORTS[parts.scheme], parts.hostname or ""
    if port == front.port and front.host in (name, *_ANYWHERE):
        raise BadInput(
            f"public_url: nginx is to answer {front.url}, where the service listens itself; let the service listen "
            "elsewhere (listen: {host: 127.0.0.1, port: 8411}), and keep public_url"
        )
    if (parts.scheme == "https") != (certificate is not None):
        raise BadInput(f"public_url: {front.url} needs --certificate and --key exactly where it begins with https")
    listen = _listen(name, port) + (" ssl" if certificate else "")
    data_dir = plain_path(front.data_dir)
    return render(
        "nginx.conf.j2",
        site=front.site,
        upstream=_listen("127.0.0.1" if front.host in _ANYWHERE else front.host, front.port),
        listen=listen,
        name=name.strip("[]"),
        data_dir=data_dir,
        artefacts=f"{data_dir}/artefacts",
        bodies=front.bodies,
        certificate=plain_path(certificate.certificate) if certificate else None,
        key=plain_path(certificate.key) if certificate else None,
    )


def render_cache(front: Front, *, listen: str, cache: Path, cache_gib: int) -> str:
    """A mirror on a machine of its own. Raises `BadInput` for values that cannot be written."""
    host, _, port = listen.rpartition(":")
    if not port.isdigit() or not 0 < int(port) < 65536 or (host and not _is_address(host)):
        raise BadInput(f"--listen: {listen} is neither a port nor an address with a port, such as 10.0.0.7:80")
    return render(
        "nginx-cache.conf.j2",
        site=front.site,
        url=plain_url(front.url).rstrip("/"),
        listen=listen,
        cache=plain_path(cache),
        cache_gib=cache_gib,
        bodies=front.bodies,
    )


def _listen(host: str, port: int) -> str:
    """A name is resolved by nobody here: nginx then listens on all addresses."""
    if not _is_address(host):
        return str(port)
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _is_address(host: str) -> bool:
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
