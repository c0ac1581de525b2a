"""What an inventory reads: as little as shows every processor, every version and every way to boot.

Log entries are never read: they took up to 23 s each on the machines measured.
"""

from provisioner.redfish.devices import device_lists, doubtful, functions_link, gpu_devices
from provisioner.redfish.layout import Layout
from provisioner.redfish.reader import Reader, in_turn, together
from provisioner.redfish.snapshot import Members, Snapshot, link


async def sweep(reader: Reader, layout: Layout, systems: Members | None) -> Snapshot:
    """Read one server. Raises `BmcUnreachable` when a part does not answer; what a part does not have is left out.

    `systems`: what they have just answered while the host was looked for; None when that is longer ago.
    """
    snapshot = Snapshot()
    snapshot.add("/redfish/v1/", layout.root)
    path = link(layout.root, "Systems")
    if systems is None or not reader.settled(path):
        systems = await _collect(reader, snapshot, path)
    for path, system in systems:
        snapshot.add(path, system)
    host = snapshot.document(layout.host)
    services = [
        _update_service(reader, snapshot, link(layout.root, "UpdateService")),
        _keep(reader, snapshot, link(host, "@Redfish.Settings", "SettingsObject")),
    ]
    collections = [link(host, "EthernetInterfaces"), *(link(system, "Processors") for _, system in systems)]
    # Five answers are not worth a second connection: a TLS handshake costs a BMC more than most of them.
    read = in_turn if reader.few(collections) else together
    await read(services + [_quietly(reader, snapshot, path) for path in collections])
    if not _has_gpus(snapshot, systems) or not (host or {}).get("SerialNumber"):
        await _chassis(reader, snapshot, layout)
    if not any((system.get("MemorySummary") or {}).get("TotalSystemMemoryGiB") for _, system in systems):
        await together([_quietly(reader, snapshot, link(system, "Memory")) for _, system in systems])
    return snapshot


async def _update_service(reader: Reader, snapshot: Snapshot, path: str | None) -> None:
    await _keep(reader, snapshot, path)
    await _collect(reader, snapshot, link(snapshot.document(path), "FirmwareInventory"))


async def _chassis(reader: Reader, snapshot: Snapshot, layout: Layout) -> None:
    """Device lists are read only where no Processor is a GPU: GB200 has 42 chassis and needs none of them."""
    chassis = await _collect(reader, snapshot, link(layout.root, "Chassis"))
    systems = [(path, snapshot.document(path) or {}) for path in layout.systems]
    if _has_gpus(snapshot, systems):
        return
    lists = device_lists((one for _, one in chassis), layout.traits)
    for place, paths in enumerate(lists):
        await together([_quietly(reader, snapshot, path) for path in paths])
        await together([_function(reader, snapshot, kind) for kind in doubtful(snapshot, paths)])
        if gpu_devices(snapshot, lists[: place + 1]):
            return


async def _function(reader: Reader, snapshot: Snapshot, kind: Members) -> None:
    """Of one device, which stands for all of its kind."""
    for _, device in kind:
        collection, first = functions_link(device)
        await _quietly(reader, snapshot, collection)
        await _keep(reader, snapshot, first)
        if snapshot.members(collection) or snapshot.document(first):
            return


async def _collect(reader: Reader, snapshot: Snapshot, path: str | None) -> Members:
    _, members = await reader.members(path)
    if path:
        snapshot.add_members(path, members)
    return members


async def _quietly(reader: Reader, snapshot: Snapshot, path: str | None) -> None:
    await _collect(reader, snapshot, path)


async def _keep(reader: Reader, snapshot: Snapshot, path: str | None) -> None:
    document = await reader.optional(path)
    if path and document is not None:
        snapshot.add(path, document)


def _has_gpus(snapshot: Snapshot, systems: Members) -> bool:
    return any(
        processor.get("ProcessorType") == "GPU"
        for _, system in systems
        for _, processor in snapshot.members(link(system, "Processors"))
    )
