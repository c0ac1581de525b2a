"""`firstlight bench api`: how long one page of a large list takes, at rest and while boots are being decided."""

import http.client
import json
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import quote

from provisioner.bench.boot_site import BootSite, filled_site
from provisioner.bench.clients.boot_load import KINDS, boot_load
from provisioner.bench.process import apart, cores
from provisioner.errors import BadInput

_PAGE = 100
_CONNECTIONS = 4
"""Of boots beside: enough to keep the service's core busy."""


@dataclass(frozen=True, slots=True)
class PageFigures:
    """Pages of `/v1/nodes`, one after the other. `beside`: what else the service does."""

    beside: str
    nodes: int
    pages: int
    p50_ms: float
    p95_ms: float
    p99_ms: float
    beside_per_second: int

    def figures(self) -> dict[str, float]:
        """What stands below its name."""
        return {name: value for name, value in asdict(self).items() if name != "beside"}

    def as_dict(self) -> dict[str, float | str]:
        """For JSON."""
        return asdict(self)


def measure_pages(nodes: int, seconds: float) -> list[PageFigures]:
    """Read the whole list again and again from a site on SQLite. Raises `BadInput`."""
    service_core, client_core = cores()
    with (
        tempfile.TemporaryDirectory(prefix="firstlight-bench-") as folder,
        filled_site(Path(folder), nodes, core=service_core) as site,
    ):
        token = (Path(folder) / "admin-token").read_text(encoding="utf-8").strip()
        alone = _figures("nothing", nodes, list(_pages(site, token, seconds)), 0)
        with ThreadPoolExecutor(1) as beside:
            load = beside.submit(
                apart, client_core, boot_load, site, KINDS[0].name, connections=_CONNECTIONS, seconds=seconds + 1
            )
            taken = list(_pages(site, token, seconds))
            boots = load.result()
        return [alone, _figures("boots", nodes, taken, round(boots.requests / boots.seconds))]


def _pages(site: BootSite, token: str, seconds: float) -> Iterator[float]:
    """Seconds of each page."""
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=60)
    ends = time.monotonic() + seconds
    cursor = ""
    while time.monotonic() < ends:
        began = time.perf_counter()
        connection.request("GET", f"/v1/nodes?limit={_PAGE}{cursor}", headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        page = answer.read()
        if answer.status != http.HTTPStatus.OK:
            raise BadInput(f"the service answers {answer.status} to a page of its list: {page[:200]!r}")
        yield time.perf_counter() - began
        following = json.loads(page)["next"]
        cursor = f"&cursor={quote(following, safe='')}" if following else ""


def _figures(beside: str, nodes: int, taken: list[float], per_second: int) -> PageFigures:
    in_order = sorted(taken)

    def percentile(share: float) -> float:
        return round(1000 * in_order[min(len(in_order) - 1, int(share * len(in_order)))], 1)

    return PageFigures(
        beside=beside,
        nodes=nodes,
        pages=len(taken),
        p50_ms=percentile(0.5),
        p95_ms=percentile(0.95),
        p99_ms=percentile(0.99),
        beside_per_second=per_second,
    )
