"""A site full of servers that wait for their boot: the real app on a real store, in a process of its own.

The reconciler does not run, so that no node moves while it is asked.
"""

import asyncio
import json
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import uvicorn
import yaml
from uvicorn.importer import import_from_string

from images.boot_program.pe import archive_program
from images.manifest import Artefact, Bootable, ImageManifest
from images.oci.published import publish_image
from images.store import ArtefactStore
from provisioner.bench.process import on_core
from provisioner.errors import BadInput
from provisioner.logs import log_to
from provisioner.models.boot import BootTicket
from provisioner.models.identifiers import NodeName
from provisioner.models.inventory import Identity
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.models.secret import Secret
from provisioner.release_shelf import artefacts_in
from provisioner.serving import Server
from provisioner.settings import Environment, load_site
from provisioner.wiring import Running, check, running

KERNEL_BYTES, INITRD_BYTES = 8 * 2**20, 32 * 2**20
"""As large as those of a Debian image; their content is noise, as nobody boots here."""

_AT_ONCE = 64
_PATIENCE_SECONDS = 600.0
_READY = "ready.json"


@dataclass(frozen=True, slots=True)
class Waiting:
    """One server of the site, as it asks."""

    uuid: str
    serial: str
    key: str


@dataclass(frozen=True, slots=True)
class BootSite:
    """The site as it answers. `artefact`: a file by digest."""

    pid: int
    port: int
    image: str
    artefacts: Path
    waiting: tuple[Waiting, ...]


@contextmanager
def filled_site(folder: Path, nodes: int, *, core: int) -> Iterator[BootSite]:
    """Make and serve it until the end of the block, on `core`. Raises `BadInput` when it cannot start."""
    _write_site(folder, nodes)
    with on_core(core), (folder / "site.log").open("wb") as log:
        command = [sys.executable, "-m", "provisioner.bench.boot_site", str(folder)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        line = process.stdout.readline() if process.stdout else ""
        if line.strip() != "ready":
            process.wait(timeout=_PATIENCE_SECONDS)
            said = (folder / "site.log").read_text(encoding="utf-8").strip().splitlines()[-3:]
            raise BadInput("the site of the bench does not start: " + " ".join(said))
        made = json.loads((folder / _READY).read_bytes())
        waiting = tuple(Waiting(**one) for one in made["waiting"])
        yield BootSite(process.pid, made["port"], made["image"], folder / "artefacts", waiting)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)


def _write_site(folder: Path, nodes: int) -> None:
    """16 nodes to a rack, 250 racks to a network: 10,000 nodes are three networks."""
    lines = ["name,rack,position,bmc_address,serial"]
    for number in range(nodes):
        rack, position = divmod(number, 16)
        network, host = divmod(rack, 250)
        name = f"r{rack + 1:04}-u{position + 1:02}"
        lines.append(f"{name},r{rack + 1:04},{position + 1},10.{network + 1}.{host + 1}.{position + 1},S{number:06}")
    (folder / "expected.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    site = {"name": "bench", "data_dir": ".", "expected": "expected.csv", "listen": {"host": "127.0.0.1", "port": 8410}}
    (folder / "site.yaml").write_text(yaml.safe_dump(site), encoding="utf-8")


async def _serve(folder: Path) -> None:
    image = _image(artefacts_in(folder))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        checked = check(load_site(folder / "site.yaml", Environment(data_dir=folder)))
        async with running(checked, Environment()) as live:
            waiting = await _fill(live, image)
            made = {
                "port": listener.getsockname()[1],
                "image": image.digest,
                "waiting": [asdict(one) for one in waiting],
            }
            (folder / _READY).write_text(json.dumps(made), encoding="utf-8")
            app = import_from_string("api.app:create_app")(live.service)
            server = Server(uvicorn.Config(app, access_log=False, log_config=None, lifespan="off"))
            asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, server.stop)
            listener.listen()  # who comes before the server has started waits
            sys.stdout.write("ready\n")
            sys.stdout.flush()
            await server.serve([listener])


def _image(store: ArtefactStore) -> ImageManifest:
    """An image that boots by kernel and initrd."""
    kernel = archive_program("x86_64", [(".noise", secrets.token_bytes(KERNEL_BYTES))])
    parts = {"kernel": kernel, "initrd": secrets.token_bytes(INITRD_BYTES), "root": b"root"}
    artefacts = tuple(Artefact(role, store.put_bytes(content), len(content)) for role, content in parts.items())
    words = ("boot=firstlight", "ip=dhcp", "console=ttyS0")
    bootable = Bootable("6.12.0-cloud-amd64", words, secrets.token_hex(32), 4096, 512, "http", secure_boot=False)
    image = ImageManifest("bench", "x86_64", artefacts, bootable)
    publish_image(store, image)
    return image


async def _fill(live: Running, image: ImageManifest) -> list[Waiting]:
    gate = asyncio.Semaphore(_AT_ONCE)

    async def wait_for_boot(node: Node) -> Waiting:
        async with gate:
            return await _wait_for_boot(live, node, image)

    return await asyncio.gather(*map(wait_for_boot, await live.store.nodes.all()))


async def _wait_for_boot(live: Running, node: Node, image: ImageManifest) -> Waiting:
    """Identified, in the state `booting`, with a permission to boot."""
    nodes, now = live.store.nodes, live.service.world.clock.now()
    serial, uuid = node.expected_serial or "", str(uuid5(NAMESPACE_URL, node.name))
    await nodes.identify(node.name, Identity(serial, uuid, "Firstlight", "bench"))
    await nodes.advance(await nodes.get(node.name), State.BOOTING, "the bench says so", now)
    ready = await nodes.get(node.name)
    key = secrets.token_urlsafe(24)
    await live.store.boots.open(_ticket(ready.name, ready.generation, ready.attempt, key, image))
    return Waiting(uuid, serial, key)


def _ticket(node: NodeName, generation: int, attempt: int, key: str, image: ImageManifest) -> BootTicket:
    return BootTicket(
        node=node,
        generation=generation,
        attempt=attempt,
        key=Secret(key),
        token=Secret(secrets.token_urlsafe(24)),
        image=image.digest,
        root=image.artefact("root").digest,
        served=0,
        boot_id=None,
        registered_at=None,
        booted_image=None,
        booted_root=None,
        most_served=1_000_000,
    )


def main(arguments: Sequence[str]) -> None:
    """Serve the site of a folder until SIGTERM, with the log of the service on stderr."""
    log_to()
    asyncio.run(_serve(Path(arguments[0])))


if __name__ == "__main__":
    main(sys.argv[1:])
