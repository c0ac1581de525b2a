"""The verb that cuts standby power or the mains: found on each emulated and each recorded server, and used."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from emulator.testing import Bmc, EmulatedFleet
from profiles.firmware.component import Activation
from provisioner.errors import BmcRefused
from provisioner.models.inventory import Power
from provisioner.redfish.tls import TlsMode
from tests.redfish.emulated import PERSONAS, TIMEOUTS, faulty, ours
from tests.redfish.site import Site
from tests.redfish.tree_server import TreeBmc, opened, recorded

pytestmark = pytest.mark.xdist_group("redfish-cycles")  # one fleet for all of them
AUX, AC = Activation.AUX_CYCLE, Activation.AC_CYCLE
EMULATED = {
    "hgx-h100": ("OemSystemExtensions.Reset ACCycle of 1",) * 2,
    "dell-xe9680": ("DellOemChassis.ExtendedReset PowerCycle of System.Embedded.1",) * 2,
    "gb200-compute-tray": ("NvidiaChassis.AuxPowerReset AuxPowerCycle of BMC_0", None),
    "bluefield-3": ("Chassis.Reset PowerCycle of Card1",) * 2,
    "dgx-h100": ("Chassis.Reset PowerCycle of DGX",) * 2,
    "hgx-b200": ("OemSystemExtensions.Reset ACCycle of 1",) * 2,
    "hpe-xl675d": ("HpeComputerSystemExt.SystemReset AuxCycle of 1", None),
    "lenovo-sr670v2": ("LenovoComputerSystem.SystemReset ACPowerCycle of 1",) * 2,
    "nvlink-switch-tray": ("Chassis.Reset PowerCycle of System_0",) * 2,
}
RECORDED = {
    "dell-r750-idrac9": ("BIOS attribute PowerCycleRequest=FullPowerCycle, then a start of the host",) * 2,
    "gigabyte-h262-z63-megarac": (None, None),
    "hpe-xl675d-a100-ilo5": ("HpeComputerSystemExt.SystemReset AuxCycle of 1", None),
    "lenovo-sr670v2-xcc": ("LenovoComputerSystem.SystemReset ACPowerCycle of 1",) * 2,
    "nvidia-bluefield3-dpu-bmc": ("Chassis.Reset PowerCycle of Card1",) * 2,
    "nvidia-dgx-h100": (None, None),
    "nvidia-gb200-nvl-compute-tray": (
        "NvidiaChassis.AuxPowerReset AuxPowerCycle of BMC_0",
        "Chassis.Reset PowerCycle of Chassis_0",
    ),
    "supermicro-gb300": ("NvidiaChassis.AuxPowerReset AuxPowerCycle of BMC_0", None),
    "supermicro-sys-821ge-tnhr": (None, None),
}


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    """One server of each persona."""
    with EmulatedFleet([Bmc(persona) for persona in PERSONAS]) as running:
        yield running


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """A site, closed at the end."""
    made = Site(TlsMode.PIN, timeouts=TIMEOUTS)
    yield made
    await made.bmcs.close()


@pytest.mark.parametrize("machine", sorted(RECORDED))
async def test_each_recorded_server_offers_what_its_makers_put_there(machine: str) -> None:
    """Actions stand in three places, their values in the action or its ActionInfo; that of GB300 leads nowhere."""
    async with opened(TreeBmc(recorded(machine))) as bmc:
        verbs = [await bmc.cycle_verb(kind) for kind in (AUX, AC)]
        assert await bmc.cycle_verb(Activation.HOST_RESET) is None
    assert tuple(verb.name if verb else None for verb in verbs) == RECORDED[machine]
    assert [verb.needs_off for verb in verbs if verb and "AuxPower" in verb.name] in ([], [True])


@pytest.mark.parametrize(
    ("machine", "done", "verb"),
    [
        ("nvidia-gb200-nvl-compute-tray", Activation.POWER_CYCLE, "NvidiaChassis.AuxPowerReset AuxPowerCycle of BMC_0"),
        ("nvidia-gb200-nvl-compute-tray", AUX, "Chassis.Reset PowerCycle of Chassis_0"),
        ("nvidia-gb200-nvl-compute-tray", AC, None),
        ("lenovo-sr670v2-xcc", Activation.HOST_RESET, "LenovoComputerSystem.SystemReset ACPowerCycle of 1"),
        ("lenovo-sr670v2-xcc", AUX, None),  # the mains have stood in for standby power
        ("hpe-xl675d-a100-ilo5", AUX, None),
        ("supermicro-sys-821ge-tnhr", Activation.POWER_CYCLE, None),
    ],
)
async def test_what_cuts_more_power_is_the_next_that_a_recorded_server_offers(
    machine: str, done: Activation, verb: str | None
) -> None:
    """Chassis.Reset of each of the 18 chassis of a GB200 tray cycles its host: none of them is more than that."""
    async with opened(TreeBmc(recorded(machine))) as bmc:
        for part in (await bmc.firmware())[:8]:
            assert [one.name for one in await bmc.stronger_verbs(done, [part])] == ([verb] if verb else [])


async def test_a_chassis_with_power_of_its_own_is_cycled_alone() -> None:
    """dsx-ai-factory/infra-controller#3480: the chassis of a DPU, found from the device that the firmware is of."""
    tree = TreeBmc(recorded("nvidia-gb200-nvl-compute-tray"))
    chassis = "/redfish/v1/chassis/riser_slot1_bluefield_3_dpu"
    tree.documents[chassis]["Links"]["ComputerSystems"] = []
    device = {"@odata.id": "/redfish/v1/Dpu", "Links": {"Chassis": [{"@odata.id": chassis}]}}
    tree.documents["/redfish/v1/dpu"] = device
    entry = tree.documents["/redfish/v1/updateservice/firmwareinventory/nic_0"]
    entry["RelatedItem"] = [{"@odata.id": "/redfish/v1/Dpu"}]
    async with opened(tree) as bmc:
        parts = {one.id: one for one in await bmc.firmware()}
        (verb,) = await bmc.stronger_verbs(Activation.POWER_CYCLE, [parts["NIC_0"]])
        assert verb.name == "Chassis.Reset PowerCycle of Riser_Slot1_BlueField_3_DPU"
        assert verb.activation is Activation.POWER_CYCLE
        both = await bmc.stronger_verbs(Activation.POWER_CYCLE, [parts["NIC_0"], parts["FW_CPLD_0"]])
        assert [one.activation for one in both] == [AUX], "it would reach one of the two"
        await bmc.cycle_by(verb.name)
        with pytest.raises(BmcRefused, match="offers no AuxCycle of 9"):
            await bmc.cycle_by("AuxCycle of 9")
    ((place, body),) = tree.bodies
    assert place == f"POST {chassis}/actions/chassis.reset"
    assert body == {"ResetType": "PowerCycle"}


@pytest.mark.parametrize("which", range(len(PERSONAS)), ids=PERSONAS)
async def test_each_emulated_server_loses_its_standby_power(fleet: EmulatedFleet, site: Site, which: int) -> None:
    """And its BMC comes back. Without a verb the refusal is clear, and the caller composes or asks a person."""
    one = fleet.bmcs[which]
    async with ours(site, one) as bmc:
        verbs = [await bmc.cycle_verb(kind) for kind in (AUX, AC)]
        assert tuple(verb.name if verb else None for verb in verbs) == EMULATED[one.persona]
        if verbs[1] is None:
            with pytest.raises(BmcRefused, match="offers no verb for ac_cycle"):
                await bmc.cycle(AC)
        assert await bmc.power() is Power.OFF
        before = fleet.truth(one.name)["bmc_resets"]
        await bmc.cycle(AUX)
    async with asyncio.timeout(20):
        while fleet.truth(one.name)["bmc_resets"] == before:  # noqa: ASYNC110 - the emulator is another process
            await asyncio.sleep(0.05)


async def test_nvidia_refuses_while_the_host_is_on(fleet: EmulatedFleet, site: Site) -> None:
    """Public flows force the host off first (NVIDIA/open-nvfwupd); the verb says that it has to be."""
    one = fleet.bmcs[PERSONAS.index("gb200-compute-tray")]
    async with ours(site, one) as bmc:
        verb = await bmc.cycle_verb(AUX)
        assert verb is not None
        assert verb.needs_off
        await bmc.reset("On")
        async with asyncio.timeout(20):
            while await bmc.power() is not Power.ON:  # noqa: ASYNC110 - the emulator is another process
                await asyncio.sleep(0.05)
        with pytest.raises(BmcRefused, match="while the system is on"):
            await bmc.cycle(AUX)
        await bmc.reset("ForceOff")


async def test_the_bios_cuts_the_mains_of_a_dell_server_without_the_oem_action() -> None:
    """R750 as recorded: PowerCycleRequest is staged as any setting, then the host is started."""
    tree = TreeBmc(recorded("dell-r750-idrac9"))
    async with opened(tree) as bmc:
        await bmc.cycle(AC)
    (place, body), (reset, how) = tree.bodies
    assert place == "PATCH /redfish/v1/systems/system.embedded.1/bios/settings"
    assert body["Attributes"] == {"PowerCycleRequest": "FullPowerCycle"}
    assert reset.endswith("/computersystem.reset")
    assert how == {"ResetType": "ForceRestart"}


async def test_what_a_warm_reset_leaves_old_is_cycled(fleet: EmulatedFleet, site: Site) -> None:
    """dsx-ai-factory/infra-controller#3058: the verb does not need PowerCycle among the reset types of the host."""
    one = fleet.bmcs[PERSONAS.index("hgx-h100")]
    with faulty(fleet, one.name, "power-cycle-not-offered"):
        async with ours(site, one) as bmc:
            verb = await bmc.cycle_verb(AC)
    assert verb is not None
