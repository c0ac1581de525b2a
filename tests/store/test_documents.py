"""Inventories, progress and releases."""

from dataclasses import replace
from pathlib import Path

import pytest

from profiles.loader import load_catalog
from provisioner.errors import NotFound
from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.inventory import (
    BootAbilities,
    FirmwareComponent,
    FirmwareSighting,
    Identity,
    Inventory,
    Power,
    Processor,
)
from provisioner.models.operation import Progress
from provisioner.store.opening import Store
from tests.profiles.catalogs import write_catalog
from tests.store.nodes import N1, N2, add_nodes, minutes

INVENTORY = Inventory(
    identity=Identity("S1", "4c4c4544", "Supermicro", "SYS-821GE-TNHR"),
    power=Power.ON,
    architecture="x86_64",
    processors=(Processor("CPU_0", "CPU", "Xeon"), Processor("GPU_SXM_1", "GPU", "NVIDIA H100 80GB HBM3")),
    memory_gib=2048.0,
    macs=("a0:88:c2:00:00:01",),
    firmware=(
        FirmwareComponent("BMC", "/redfish/v1/UpdateService/FirmwareInventory/BMC", "BMC", "01.03", updateable=True),
        FirmwareComponent("PSU", "/redfish/v1/UpdateService/FirmwareInventory/PSU", "PSU", None, updateable=False),
    ),
    boot=BootAbilities(("Pxe", "UefiHttp"), http_boot_uri=True),
    requests=41,
)


async def test_the_last_inventory_is_kept(store: Store) -> None:
    await add_nodes(store)
    with pytest.raises(NotFound, match=N1):
        await store.documents.inventory(N1)
    await store.documents.put_inventory(N1, INVENTORY, minutes(1))
    assert await store.documents.inventory(N1) == INVENTORY
    later = replace(INVENTORY, power=Power.OFF)
    await store.documents.put_inventory(N1, later, minutes(2))
    assert await store.documents.inventory(N1) == later


async def test_the_firmware_of_many_nodes_is_read_at_once(store: Store) -> None:
    """With the time of each inventory; nodes without one are left out."""
    await add_nodes(store, 1100)
    nodes = [node.name for node in await store.nodes.all()]
    await store.documents.put_inventory(nodes[0], INVENTORY, minutes(1))
    await store.documents.put_inventory(nodes[-1], replace(INVENTORY, firmware=()), minutes(2))
    assert list(await store.documents.firmware(nodes)) == [
        FirmwareSighting(nodes[0], minutes(1), INVENTORY.firmware),
        FirmwareSighting(nodes[-1], minutes(2), ()),
    ]
    assert await store.documents.firmware(nodes[1:3]) == []


async def test_what_every_node_does_is_told(store: Store) -> None:
    await add_nodes(store)
    assert await store.documents.progress() == []
    first = Progress(N1, "update-firmware", "flashing HGX_FW_BMC_0", 40.0, minutes(1))
    second = Progress(N2, "boot", "waiting for the agent", None, minutes(2))
    for progress in (second, replace(first, percent=20.0), first):
        await store.documents.put_progress(progress)
    assert await store.documents.progress() == [first, second]


async def test_a_release_is_kept_under_its_digest(store: Store, tmp_path: Path) -> None:
    release = load_catalog(write_catalog(tmp_path / "profiles")).resolve_release("box-first", "sha256:" + "ab" * 32)
    digest = ReleaseDigest(release.digest)
    with pytest.raises(NotFound, match=digest):
        await store.documents.release(digest)
    for _ in range(2):
        await store.documents.put_release(release)
    kept = await store.documents.release(digest)
    assert kept == release
    assert kept.digest == digest
