"""The other half of `firstlight bench boot`: how fast a big file leaves through each server that may serve it."""

import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from images.digest import Digest, hex_of
from images.store import ArtefactStore
from provisioner.bench.boot_site import filled_site
from provisioner.bench.clients.download import Downloaded, download
from provisioner.bench.nginx import free_port, need_nginx, running_nginx
from provisioner.bench.process import apart, cores, cpu_seconds
from provisioner.network_boot.nginx import Front, render_nginx

_CONNECTIONS = 4
_ROUNDS = 3
_PLAIN = "server {{ listen 127.0.0.1:{port}; root {root}; sendfile on; tcp_nopush on; }}"


@dataclass(frozen=True, slots=True)
class ServedFigures:
    """One server. Megabytes are 10**6 bytes; each figure is the median of the rounds."""

    server: str
    mebibytes: int
    megabytes_per_second: int
    to_plain_nginx: float
    server_cpu_ms_per_gib: int

    def figures(self) -> dict[str, float]:
        """What stands below its name."""
        return {name: value for name, value in asdict(self).items() if name != "server"}

    def as_dict(self) -> dict[str, float | str]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class _Server:
    name: str
    port: int
    path: str
    cpu: Callable[[], float]


def measure_served(mebibytes: int, seconds: float) -> list[ServedFigures]:
    """Every server in turn, three times round, so that what else this machine does hits all. Raises `BadInput`."""
    need_nginx()
    server_core, client_core = cores()
    with tempfile.TemporaryDirectory(prefix="firstlight-bench-") as name:
        folder = Path(name)
        digest = _artefact(folder, mebibytes)
        with _servers(folder, digest, core=server_core) as servers:
            rounds = [
                [_served(one, mebibytes, seconds / _ROUNDS, core=client_core) for one in servers]
                for _ in range(_ROUNDS)
            ]
    speeds = [median(one[number][0] for one in rounds) for number in range(len(servers))]
    costs = [median(one[number][1] for one in rounds) for number in range(len(servers))]
    return [
        ServedFigures(server.name, mebibytes, round(speed / 1e6), round(speed / speeds[0], 2), round(1000 * cost))
        for server, speed, cost in zip(servers, speeds, costs, strict=True)
    ]


def _artefact(folder: Path, mebibytes: int) -> Digest:
    """Noise, in the store of a site."""
    return ArtefactStore(folder / "artefacts").put_bytes(secrets.token_bytes(mebibytes * 2**20))


@contextmanager
def _servers(folder: Path, digest: Digest, *, core: int) -> Iterator[list[_Server]]:
    """Plain nginx first: it is what the others are measured against."""
    with ExitStack() as stack:
        site = stack.enter_context(filled_site(folder, 1, core=core))
        plain_port, front_port = free_port(), free_port()
        config = _PLAIN.format(port=plain_port, root=folder / "artefacts")
        plain = stack.enter_context(running_nginx(folder / "plain", config, port=plain_port, core=core))
        front = Front("bench", f"http://127.0.0.1:{front_port}", "127.0.0.1", site.port, folder)
        before = stack.enter_context(running_nginx(folder / "front", render_nginx(front), port=front_port, core=core))
        path = f"/v1/artefacts/{digest}"
        yield [
            _Server("plain nginx", plain_port, f"/blobs/sha256/{hex_of(digest)}", plain.cpu_seconds),
            _Server("nginx as recommended", front_port, path, before.cpu_seconds),
            _Server("Firstlight itself", site.port, path, lambda: cpu_seconds(site.pid)),
        ]


def _served(server: _Server, mebibytes: int, seconds: float, *, core: int) -> tuple[float, float]:
    """Bytes per second, and seconds of the server's processor per GiB."""
    spent = server.cpu()
    got: Downloaded = apart(
        core, download, server.port, server.path, mebibytes * 2**20, connections=_CONNECTIONS, seconds=seconds
    )
    return got.bytes / got.seconds, (server.cpu() - spent) / (got.bytes / 2**30)
