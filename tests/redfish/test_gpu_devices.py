"""GPUs that are no Processors: found where a server lists them, each once, and nothing else with them."""

from typing import Any

import pytest

from provisioner.models.inventory import Inventory
from provisioner.redfish.devices import device_lists, gpu_devices
from provisioner.redfish.quirks.traits import Traits
from provisioner.redfish.snapshot import Snapshot
from tests.redfish.site import site_of
from tests.redfish.tree_server import CREDENTIALS, Documents, TreeBmc, folded, honest, recorded, serving

CHASSIS = "/redfish/v1/Chassis/1"
OEM = ("Oem", "Hpe", "Links", "Devices")
A100 = {"Manufacturer": "NVIDIA", "Model": "A100-SXM4", "Status": {"State": "Enabled"}}
GPU = {"VendorId": "0x10DE", "DeviceClass": "ProcessingAccelerators"}


async def swept(bmc: TreeBmc, *, times: int = 1) -> Inventory:
    """What the last of so many sweeps finds."""
    async with serving(bmc) as address, site_of() as site:
        for _ in range(times):
            async with site.bmcs.open(address, CREDENTIALS) as opened:
                found = await opened.inventory()
        return found


def without_gpu_processors(documents: Documents) -> Documents:
    """The same server, had it no Processors of type GPU."""
    gone = {path for path, one in documents.items() if isinstance(one, dict) and one.get("ProcessorType") == "GPU"}
    kept = {path: one for path, one in documents.items() if path not in gone}
    for path, one in kept.items():
        if path.endswith("/processors"):
            members = [member for member in one["Members"] if folded(member["@odata.id"]) not in gone]
            kept[path] = {**one, "Members": members, "Members@odata.count": len(members)}
    return kept


@pytest.mark.parametrize("expands", [True, False], ids=["expanding", "plain"])
@pytest.mark.parametrize(
    ("machine", "gpus"),
    [
        ("nvidia-dgx-h100", 8),  # beside four NVSwitches, and the same eight once more on the host's chassis
        ("supermicro-gb300", 4),
        ("lenovo-sr670v2-xcc", 8),  # beside a Matrox, also a DisplayController
        ("dell-r750-idrac9", 1),  # beside a Matrox, a BlueField and two ConnectX
        ("supermicro-sys-821ge-tnhr", 8),
        ("hpe-xl675d-a100-ilo5", 8),  # beside an NVSwitch and the baseboard, both with DeviceType GPU
        ("gigabyte-h262-z63-megarac", 0),
        ("nvidia-bluefield3-dpu-bmc", 0),
        ("nvidia-gb-nvlink-switch-tray", 0),
    ],
)
async def test_devices_tell_as_many_gpus_as_processors_do(machine: str, gpus: int, *, expands: bool) -> None:
    """Each recording, with its GPU processors taken out."""
    bmc = TreeBmc(without_gpu_processors(recorded(machine)), honest if expands else None)
    found = await swept(bmc)
    assert len(found.gpus) == gpus
    assert len({one.id for one in found.gpus}) == gpus
    assert not [one for one in found.gpus if "switch" in one.model.lower() or "matrox" in one.model.lower()]


@pytest.mark.parametrize(
    "machine",
    ["nvidia-dgx-h100", "nvidia-gb200-nvl-compute-tray", "supermicro-gb300", "lenovo-sr670v2-xcc", "dell-r750-idrac9"],
)
async def test_a_server_with_gpu_processors_is_asked_for_no_device(machine: str) -> None:
    """GB200 has 42 chassis: the sweep stays cheap."""
    bmc = TreeBmc(recorded(machine), honest)
    await swept(bmc)
    assert not [path for path in bmc.requests if "PCIeDevices" in path]


async def test_a_server_with_oem_devices_is_asked_for_no_pcie_device() -> None:
    """The PCIeDevices of this iLO 5 answer "Invalid URI", one by one."""
    bmc = TreeBmc(recorded("hpe-xl675d-a100-ilo5"), honest)
    again = await swept(bmc, times=2)
    assert not [path for path in bmc.requests if "PCIeDevices" in path]
    assert again.requests <= 10


def listed(**devices: dict[str, Any]) -> Snapshot:
    """A chassis with these devices; `function` of a device is what its function says."""
    snapshot = Snapshot()
    members = []
    for name, device in devices.items():
        path = f"{CHASSIS}/PCIeDevices/{name}"
        function = device.pop("function", None)
        members.append((path, {"Id": name, "PCIeFunctions": {"@odata.id": f"{path}/PCIeFunctions"}, **device}))
        if function:
            snapshot.add_members(f"{path}/PCIeFunctions", [(f"{path}/PCIeFunctions/0", function)])
    snapshot.add_members(f"{CHASSIS}/PCIeDevices", members)
    return snapshot


def gpus_of(snapshot: Snapshot) -> list[str]:
    """Names of the GPUs of that chassis."""
    lists = device_lists([{"PCIeDevices": {"@odata.id": f"{CHASSIS}/PCIeDevices"}}], Traits())
    return [str(device["Id"]) for _, device in gpu_devices(snapshot, lists)]


def test_one_function_tells_for_all_of_a_kind() -> None:
    """Eight reads fewer on a server of eight."""
    assert gpus_of(listed(**{"9": {**A100, "function": GPU}, "10": {**A100}, "11": {**A100}})) == ["9", "10", "11"]


@pytest.mark.parametrize(
    "function",
    [
        {"VendorId": "0x10DE", "DeviceClass": "Bridge"},  # NVSwitch
        {"VendorId": "0x15B3", "DeviceClass": "NetworkController"},  # ConnectX, sold by NVIDIA
        {"VendorId": "0x102B", "DeviceClass": "DisplayController"},  # Matrox
        {"VendorId": "0x1A03", "DeviceClass": "DisplayController"},  # ASPEED
        {"VendorId": None, "DeviceClass": "DisplayController"},
        {"VendorId": "0x10DE"},
    ],
)
def test_a_function_of_something_else_is_no_gpu(function: dict[str, Any]) -> None:
    """PCI-SIG vendor IDs; DSP0268, DeviceClass of PCIeFunction."""
    other = {"Manufacturer": "NVIDIA", "Model": "Something", "function": function}
    assert gpus_of(listed(**{"1": other, "2": {**A100, "function": GPU}})) == ["2"]


def test_devices_without_a_model_speak_for_themselves_alone() -> None:
    """iDRAC 9 shows a H100 with no Model, and `NVIDIA Corporation` for a name."""
    nameless = {"Manufacturer": "NVIDIA", "Model": "N/A", "Name": "NVIDIA Corporation"}
    assert gpus_of(listed(a={**nameless, "function": GPU}, b={**nameless})) == ["a"]


def test_an_empty_slot_is_no_gpu() -> None:
    """Status of DSP0268: Absent."""
    assert gpus_of(listed(GPU1={**A100}, GPU2={**A100, "Status": {"State": "Absent"}})) == ["GPU1"]


def twice(*devices: dict[str, Any]) -> int:
    """GPUs of two chassis that list one of these each."""
    snapshot = Snapshot()
    for place, device in enumerate(devices):
        snapshot.add_members(f"/c{place}", [(f"/c{place}/{device['Id']}", device)])
    return len(gpu_devices(snapshot, [[f"/c{place}" for place in range(len(devices))]]))


@pytest.mark.parametrize(
    ("one", "other", "gpus"),
    [
        ({"Id": "GPU1", "UUID": "AB-1"}, {"Id": "GPU_SXM_1", "UUID": "ab-1"}, 1),
        ({"Id": "GPU1", "SerialNumber": "165"}, {"Id": "GPU1", "SerialNumber": "165"}, 1),
        ({"Id": "GPU1", "SerialNumber": "165"}, {"Id": "GPU2", "SerialNumber": "165"}, 2),  # two GB300 on one board
        ({"Id": "GPU1", "SerialNumber": "N/A"}, {"Id": "GPU1", "SerialNumber": "N/A"}, 2),
    ],
)
def test_a_gpu_that_two_chassis_list_is_counted_once(one: dict[str, Any], other: dict[str, Any], gpus: int) -> None:
    """The chassis of the host and that of the board."""
    assert twice(one, other) == gpus


def test_oem_devices_are_believed_before_pcie_devices() -> None:
    """They show the same GPUs under other names."""
    chassis = {
        "PCIeDevices": {"@odata.id": f"{CHASSIS}/PCIeDevices"},
        "Oem": {"Hpe": {"Links": {"Devices": {"@odata.id": f"{CHASSIS}/Devices"}}}},
    }
    snapshot = listed(**{"231": {**A100, "function": GPU}})
    snapshot.add_members(
        f"{CHASSIS}/Devices", [(f"{CHASSIS}/Devices/9", {"Id": "9", "DeviceType": "GPU", "DeviceInstances": [{}]})]
    )
    lists = device_lists([chassis], Traits(device_collection=OEM))
    assert [path for path, _ in gpu_devices(snapshot, lists)] == [f"{CHASSIS}/Devices/9"]
