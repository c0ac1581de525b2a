"""What is in the box, what may be written to it, and what is broken in it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from emulator.kind import load_kind
from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for

HOST = "/redfish/v1/Systems/1"
GPU = f"{HOST}/Processors/GPU1"
BOX = "/redfish/v1/Chassis/1"
BAY = "/redfish/v1/Chassis/NVMeSSD.0.Group.0.StorageBackplane/Drives/Disk.Bay.0"
TRAY = "/redfish/v1/Chassis/Chassis_0"
HGX, GB200 = 0, 1
EARLY = ("off", "powering-on", "post")

Break = Callable[..., BmcClient]


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    with EmulatedFleet([Bmc(power="On"), Bmc("gb200-compute-tray", power="On")]) as running:
        account = "/redfish/v1/AccountService/Accounts/root"
        BmcClient(running.bmcs[GB200]).send("PATCH", account, json={"Password": "Changed-once-1"}).raise_for_status()
        wait_for(lambda: all(running.truth(one.name)["phase"] not in EARLY for one in running.bmcs))
        yield running


@pytest.fixture
def break_it(fleet: EmulatedFleet) -> Iterator[Break]:
    """Sets a fault on one of the servers; it is healed at the end of the test."""
    done: list[tuple[str, str]] = []

    def set_fault(which: int, fault: str, **arguments: Any) -> BmcClient:
        name = fleet.bmcs[which].name
        fleet.set_fault(name, fault, arguments)
        done.append((name, fault))
        return client(fleet, which)

    yield set_fault
    for name, fault in done:
        fleet.clear_fault(name, fault)


@pytest.fixture
def bmc(fleet: EmulatedFleet) -> BmcClient:
    """The HGX server."""
    return client(fleet, HGX)


def client(fleet: EmulatedFleet, which: int) -> BmcClient:
    one = BmcClient(fleet.bmcs[which])
    if which == GB200:
        one.http.auth = ("root", "Changed-once-1")
    return one


def health(bmc: BmcClient, path: str) -> str:
    return str(bmc.get(path)["Status"]["Health"])


@pytest.mark.parametrize(
    ("persona", "chassis"),
    [
        ("hgx-h100", {"UBB_1", "HGX_GPU_SXM_1", "HGX_GPU_SXM_8", "HGX_NVSwitch_0", "HGX_NVSwitch_3"}),
        ("dell-xe9680", {"System.Embedded.1", "Enclosure.Internal.0-1"}),
        ("gb200-compute-tray", {"Chassis_0", "BMC_0", "HGX_Chassis_0", "HGX_GPU_0", "HGX_GPU_3", "HGX_CPU_1"}),
    ],
)
def test_chassis_are_named_as_on_the_real_ones(persona: str, chassis: set[str]) -> None:
    """Captured trees of an SYS-821GE-TNHR, an iDRAC9 and a GB200 compute tray; HGX names of a DGX H100."""
    tree = load_kind(persona).tree
    assert all(f"/redfish/v1/Chassis/{one}" in tree for one in chassis)


def test_a_gpu_is_found_from_every_side(bmc: BmcClient) -> None:
    """DSP2046: Processor, Chassis, PCIeDevice and Memory of one GPU link to each other and agree."""
    gpu = bmc.get(GPU)
    module = bmc.get(gpu["Links"]["Chassis"]["@odata.id"])
    device = bmc.get(gpu["Links"]["PCIeDevice"]["@odata.id"])
    memory = bmc.get(gpu["Links"]["Memory"][0]["@odata.id"])
    assert gpu["SerialNumber"] == module["SerialNumber"] == device["SerialNumber"]
    assert module["Links"]["Processors"] == [{"@odata.id": GPU}]
    assert memory["Links"]["Processors"] == [{"@odata.id": GPU}]
    assert module["Location"]["PartLocation"]["ServiceLabel"] == "SXM1"
    assert memory["CapacityMiB"] == 80 * 1024
    versions = bmc.versions()
    assert gpu["FirmwareVersion"] == versions["HGX_FW_GPU_SXM_1"]


def test_the_hosts_ports_are_those_of_its_adapters(bmc: BmcClient) -> None:
    """DSP2046, EthernetInterface.Links: the MAC address is the same on each way."""
    for member in bmc.get(f"{HOST}/EthernetInterfaces")["Members"]:
        nic = bmc.get(member["@odata.id"])
        function = bmc.get(nic["Links"]["NetworkDeviceFunctions"][0]["@odata.id"])
        assert function["Ethernet"]["MACAddress"] == nic["MACAddress"]


def test_the_baseboards_manager_has_its_own_version_and_reset(fleet: EmulatedFleet) -> None:
    """GB200 as captured: HGX_BMC_0 behind BMC_0."""
    bmc = client(fleet, GB200)
    path = "/redfish/v1/Managers/HGX_BMC_0"
    manager = bmc.get(path)
    assert manager["FirmwareVersion"] == bmc.versions()["HGX_FW_BMC_0"]
    assert manager["Links"]["ManagerForServers"] == [{"@odata.id": "/redfish/v1/Systems/HGX_Baseboard_0"}]
    answer = bmc.send("POST", f"{path}/Actions/Manager.Reset", json={"ResetType": "ForceRestart"})
    assert answer.status_code == 204
    assert fleet.truth(fleet.bmcs[GB200].name)["bmc_resets"] == 0


def test_a_gpu_is_reset_in_the_ways_that_it_lists(bmc: BmcClient) -> None:
    """DSP2046, Processor.Reset."""
    path = f"{GPU}/Actions/Processor.Reset"
    assert bmc.send("POST", path, json={"ResetType": "ForceRestart"}).status_code == 204
    assert bmc.send("POST", path, json={"ResetType": "Nmi"}).status_code == 400


@pytest.mark.parametrize(
    ("path", "change"),
    [
        (BOX, {"LocationIndicatorActive": True}),
        (BAY, {"LocationIndicatorActive": True}),
        ("/redfish/v1/Managers/1/NetworkProtocol", {"SSDP": {"ProtocolEnabled": True}}),
        ("/redfish/v1/Managers/1/EthernetInterfaces/1", {"StaticNameServers": ["192.0.2.1"]}),
        ("/redfish/v1/Managers/1/EthernetInterfaces/1", {"DHCPv4": {"UseDNSServers": False}}),
    ],
)
def test_what_is_written_is_shown_and_the_rest_stays(bmc: BmcClient, path: str, change: dict[str, Any]) -> None:
    """DSP0266, PATCH: of objects only the properties that were sent change."""
    before = bmc.get(path)
    assert bmc.send("PATCH", path, json=change).status_code == 204
    after = bmc.get(path)
    (name, value), *_ = change.items()
    assert after[name] == ({**before[name], **value} if isinstance(value, dict) else value)
    assert {key for key in after if after[key] != before.get(key)} <= {name, "@odata.etag"}


def test_defaults_forget_what_was_written(fleet: EmulatedFleet, bmc: BmcClient) -> None:
    """DSP2046, Manager.ResetToDefaults; the BMC restarts."""
    bmc.send("PATCH", HOST, json={"AssetTag": "rack 7"}).raise_for_status()
    resets = fleet.truth(fleet.bmcs[HGX].name)["bmc_resets"]
    path = "/redfish/v1/Managers/1/Actions/Manager.ResetToDefaults"
    assert bmc.send("POST", path, json={"ResetType": "ResetAll"}).status_code == 204
    wait_for(lambda: fleet.truth(fleet.bmcs[HGX].name)["bmc_resets"] > resets)
    again = client(fleet, HGX)
    assert again.get(HOST)["AssetTag"] == ""


def test_a_gpu_that_is_not_seen_is_nowhere(break_it: Break) -> None:
    """NVIDIA/NVSentinel#684."""
    bmc = break_it(HGX, "gpu-missing", index=0)
    assert len(bmc.get(f"{HOST}/Processors")["Members"]) == 9
    for path in (GPU, f"{GPU}/ProcessorMetrics", "/redfish/v1/Chassis/HGX_GPU_SXM_1", f"{HOST}/Memory/GPU1_DRAM_0"):
        assert bmc.send("GET", path).status_code == 404
    assert len(bmc.get("/redfish/v1/Chassis/UBB_1")["Links"]["Contains"]) == 11
    assert not [one for one in bmc.get(HOST)["PCIeDevices"] if one["@odata.id"].endswith("GPU1")]


def test_a_degraded_gpu_is_there_and_critical(break_it: Break) -> None:
    """dsx-ai-factory/infra-controller#3368: degraded but present."""
    bmc = break_it(HGX, "gpu-degraded", index=1)
    assert health(bmc, f"{HOST}/Processors/GPU2") == "Critical"
    assert health(bmc, GPU) == "OK"
    assert bmc.get(HOST)["Status"]["HealthRollup"] == "Critical"
    break_it(HGX, "gpu-degraded", index=1, health="Warning")
    assert health(bmc, f"{HOST}/Processors/GPU2") == "Warning"


def test_a_gpu_too_hot_reads_so(break_it: Break) -> None:
    """NVIDIA/NVSentinel#1371."""
    bmc = break_it(HGX, "gpu-overheats", index=0, celsius=95.0)
    sensor = bmc.get("/redfish/v1/Chassis/HGX_GPU_SXM_1/Sensors/HGX_GPU_SXM_1_TEMP_0")
    assert sensor["Reading"] == pytest.approx(95.0, abs=1.0)
    assert sensor["Status"]["Health"] == "Critical"
    assert health(bmc, GPU) == "Critical"


def test_a_throttled_gpu_is_slow_and_says_why(fleet: EmulatedFleet, break_it: Break) -> None:
    """NVIDIA/NVSentinel#890: clock throttling without an Xid."""
    bmc = break_it(HGX, "gpu-throttled", index=0)
    fleet.set_load(fleet.bmcs[HGX].name, 1.0)
    slow, fast = (bmc.get(f"{HOST}/Processors/GPU{n}/ProcessorMetrics")["OperatingSpeedMHz"] for n in (1, 2))
    assert slow < fast / 2
    assert (bmc.get(GPU)["Throttled"], bmc.get(GPU)["ThrottleCauses"]) == (True, ["ThermalLimit"])
    fleet.set_load(fleet.bmcs[HGX].name, None)


def test_swapped_gpus_have_each_others_serials(bmc: BmcClient, break_it: Break) -> None:
    """kubeswift-io/kubeswift#406: the order on the baseboard is not the order of the bus."""
    first, second = (bmc.get(f"{HOST}/Processors/GPU{n}")["SerialNumber"] for n in (1, 2))
    broken = break_it(HGX, "gpus-swapped", first=0, second=1)
    assert broken.get(GPU)["SerialNumber"] == second
    assert broken.get("/redfish/v1/Chassis/HGX_GPU_SXM_2")["SerialNumber"] == first


def test_an_nvlink_may_be_down(break_it: Break) -> None:
    """Azure/azhpc-diagnostics#73: one inactive link among many."""
    bmc = break_it(GB200, "nvlink-down", gpu=1, link=3)
    port = bmc.get("/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_1/Ports/NVLink_3")
    assert (port["LinkStatus"], port["CurrentSpeedGbps"], port["Status"]["Health"]) == ("LinkDown", 0, "Critical")
    assert bmc.get("/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_1/Ports/NVLink_4")["LinkStatus"] == "LinkUp"


def test_a_pcie_link_may_be_narrow(break_it: Break) -> None:
    """NVIDIA/NVSentinel#890: Gen5 x16 becomes Gen3 x8."""
    bmc = break_it(HGX, "pcie-degraded", index=0)
    interface = bmc.get(bmc.get(GPU)["Links"]["PCIeDevice"]["@odata.id"])["PCIeInterface"]
    assert (interface["PCIeType"], interface["LanesInUse"], interface["MaxLanes"]) == ("Gen3", 8, 16)
    assert bmc.get(GPU)["SystemInterface"]["PCIe"]["LanesInUse"] == 8
    break_it(HGX, "pcie-degraded", index=0, lanes=4, generation="Gen4")
    assert bmc.get(GPU)["SystemInterface"]["PCIe"]["LanesInUse"] == 4


def test_an_absent_dimm_is_listed_and_counts_nothing(break_it: Break) -> None:
    """Comcast/fishymetrics#14: State is Absent."""
    bmc = break_it(HGX, "dimm-missing", index=31)
    dimm = bmc.get(f"{HOST}/Memory/DIMM32")
    assert dimm["Status"] == {"State": "Absent"}
    assert "CapacityMiB" not in dimm
    assert bmc.get(HOST)["MemorySummary"]["TotalSystemMemoryGiB"] == 2048 - 64


def test_memory_may_be_counted_wrong(break_it: Break) -> None:
    """bb-Ricardo/check_redfish#66: MEM: 0GB."""
    assert break_it(HGX, "memory-too-small", gib=0).get(HOST)["MemorySummary"]["TotalSystemMemoryGiB"] == 0


def test_a_failed_drive_says_so(break_it: Break) -> None:
    """bb-Ricardo/check_redfish#126."""
    drive = break_it(HGX, "drive-failed", index=0).get(BAY)
    assert (drive["FailurePredicted"], drive["Status"]["Health"]) == (True, "Critical")


def test_the_other_fans_hurry_when_one_stands_still(break_it: Break) -> None:
    """ibm-openbmc/dev#3449."""
    bmc = break_it(HGX, "fan-failed", index=2)
    fans = bmc.get(f"{BOX}/Thermal")["Fans"]
    assert (fans[2]["Reading"], fans[2]["Status"]["Health"]) == (0, "Critical")
    assert fans[3]["Reading"] > 16000
    assert health(bmc, f"{BOX}/Sensors/FAN3") == "Critical"
    assert health(bmc, f"{BOX}/Sensors/FAN4") == "OK"
    assert health(bmc, f"{BOX}/ThermalSubsystem/Fans/FAN3") == "Critical"
    assert bmc.get(f"{BOX}/ThermalSubsystem")["FanRedundancy"][0]["Status"]["Health"] == "Warning"


def test_the_other_supplies_carry_the_load_of_a_lost_feed(bmc: BmcClient, break_it: Break) -> None:
    """ibm-openbmc/openbmc#267: a supply is critical after AC."""
    before = bmc.get(f"{BOX}/Power")["PowerSupplies"][1]["PowerOutputWatts"]
    broken = break_it(HGX, "supply-failed", index=0, how="input-lost")
    supplies = broken.get(f"{BOX}/Power")["PowerSupplies"]
    assert (supplies[0]["LineInputVoltage"], supplies[0]["PowerOutputWatts"]) == (0, 0)
    assert supplies[1]["PowerOutputWatts"] > before * 1.1
    unit = broken.get(f"{BOX}/PowerSubsystem/PowerSupplies/0")
    assert (unit["LineInputStatus"], unit["Status"]["Health"]) == ("LossOfInput", "Critical")


def test_a_leak_is_seen_in_the_detector_and_in_its_group(break_it: Break) -> None:
    """dsx-ai-factory/infra-controller#5521."""
    bmc = break_it(GB200, "leak-detected", index=1)
    detector = bmc.get(f"{TRAY}/LeakDetectors/Chassis_0_LeakDetector_0_Manifold")
    assert (detector["DetectorState"], detector["Status"]["Health"]) == ("Critical", "Critical")
    assert health(bmc, f"{TRAY}/ThermalSubsystem/LeakDetection") == "Critical"
    assert bmc.get(TRAY)["Status"]["HealthRollup"] == "Critical"


def test_drives_without_raid_make_no_volume(bmc: BmcClient) -> None:
    """DSP2046, Volume: RAIDType is one of the controller's SupportedRAIDTypes, here none."""
    path = f"{HOST}/Storage/NVMe/Volumes"
    assert "POST" in bmc.send("GET", path).headers["Allow"]
    answer = bmc.send("POST", path, json={"RAIDType": "RAID1", "CapacityBytes": 10**12})
    assert (answer.status_code, "PropertyValueNotInList" in answer.text) == (400, True)
    assert "RAIDType" in bmc.send("POST", path, json={}).text


def test_a_part_that_becomes_ill_and_well_is_an_event(fleet: EmulatedFleet, break_it: Break) -> None:
    """DMTF ResourceEvent: ResourceStatusChangedCritical, then ...OK; the log keeps both."""
    bmc = break_it(HGX, "drive-failed", index=0)
    fleet.clear_fault(fleet.bmcs[HGX].name, "drive-failed")
    entries = bmc.get(f"{log_of(bmc)}/Entries")["Members"]
    told = [entry["MessageId"].rsplit(".", 1)[-1] for entry in entries if BAY in str(entry)]
    assert told[-2:] == ["ResourceStatusChangedCritical", "ResourceStatusChangedOK"]


def log_of(bmc: BmcClient) -> str:
    """The log of the host."""
    return str(bmc.get(bmc.get(HOST)["LogServices"]["@odata.id"])["Members"][0]["@odata.id"])


def test_a_fault_with_words_for_numbers_is_refused(fleet: EmulatedFleet) -> None:
    """The admin API says what is wrong."""
    url = f"{fleet.admin_url}/bmcs/{fleet.bmcs[HGX].name}/faults/fan-failed"
    answer = client(fleet, HGX).http.put(url, json={"index": "the second"}, timeout=10)
    assert answer.status_code == 400
    assert "index is a number, and a whole one, not 'the second'" in answer.json()["error"]
