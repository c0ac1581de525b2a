"""What is sent to a BMC: no more than is needed, in the form that it offers."""

import asyncio
from typing import Any

import pytest

from provisioner.errors import BmcRefused
from provisioner.models.boot import BootMethod
from provisioner.models.inventory import Power
from provisioner.models.secret import Secret
from tests.redfish.site import Site, site_of
from tests.redfish.small_server import SYSTEM, small
from tests.redfish.tree_server import CREDENTIALS, TreeBmc, opened, recorded, serving

URI = "http://10.0.0.1:8410/boot/k3y"


async def test_a_restart_is_a_power_cycle_where_there_is_no_restart() -> None:
    """Allowable values differ by vendor; the small server allows On, ForceOff and PowerCycle."""
    bmc = TreeBmc(small())
    async with opened(bmc) as one:
        await one.reset("ForceRestart")
        action = bmc.documents[SYSTEM.lower()]["Actions"]["#ComputerSystem.Reset"]
        action["ResetType@Redfish.AllowableValues"] = ["On", "ForceOff"]
        with pytest.raises(BmcRefused, match="GracefulRestart is not offered"):
            await one.reset("GracefulRestart")
    assert [body for _, body in bmc.bodies] == [{"ResetType": "PowerCycle"}]


async def test_allowable_values_may_be_in_the_action_info() -> None:
    """DGX H100 lists reset types only there, and ForceRestart alone for its BMC, where sushy does not look."""
    documents = recorded("nvidia-dgx-h100")
    bmc = TreeBmc(documents)
    async with opened(bmc) as one:
        await one.reset("ForceRestart")
        await one.reset_bmc()
    assert [body["ResetType"] for _, body in bmc.bodies] == ["ForceRestart", "ForceRestart"]
    assert "managers/bmc/" in bmc.bodies[1][0], "the host's manager, not the one of the HGX baseboard"


async def test_an_action_info_that_is_not_there_allows_everything() -> None:
    """Recorded trees hold dangling links."""
    documents = small()
    action = documents[SYSTEM.lower()]["Actions"]["#ComputerSystem.Reset"]
    del action["ResetType@Redfish.AllowableValues"]
    action["@Redfish.ActionInfo"] = f"{SYSTEM}/NoActionInfo"
    bmc = TreeBmc(documents)
    async with opened(bmc) as one:
        await one.reset("ForceRestart")
    assert [body for _, body in bmc.bodies] == [{"ResetType": "ForceRestart"}]


async def test_uefi_http_boot_is_one_small_patch() -> None:
    """Mode is left out, as it is UEFI already; nothing else of the system is touched."""
    bmc = TreeBmc(small())
    async with opened(bmc) as one:
        await one.set_boot_override(BootMethod("UefiHttp", Secret(URI)))
    assert bmc.bodies == [
        (
            f"PATCH {SYSTEM.lower()}",
            {
                "Boot": {
                    "BootSourceOverrideTarget": "UefiHttp",
                    "HttpBootUri": URI,
                    "BootSourceOverrideEnabled": "Once",
                }
            },
        )
    ]


@pytest.mark.parametrize(
    ("manufacturer", "mode", "sent"),
    [("Example", "Legacy", True), ("Example", "UEFI", False), ("Supermicro", "UEFI", True), ("Example", None, True)],
)
async def test_the_mode_is_sent_when_it_differs_or_the_bmc_forgets_it(
    manufacturer: str, mode: str | None, sent: bool
) -> None:
    """DMTF/Redfishtool#106: Supermicro falls back to Legacy when an override does not repeat the mode."""
    documents = small()
    documents[SYSTEM.lower()]["Manufacturer"] = manufacturer
    documents[SYSTEM.lower()]["Boot"]["BootSourceOverrideMode"] = mode
    bmc = TreeBmc(documents)
    async with opened(bmc) as one:
        await one.set_boot_override(BootMethod("Pxe", None))
    assert (bmc.bodies[0][1]["Boot"].get("BootSourceOverrideMode") == "UEFI") is sent


async def test_a_target_or_a_uri_that_is_not_offered_is_refused_before_anything_is_sent() -> None:
    """GB200 and GB300 as recorded offer neither UefiHttp nor HttpBootUri."""
    documents = small()
    del documents[SYSTEM.lower()]["Boot"]["HttpBootUri"]
    bmc = TreeBmc(documents)
    async with opened(bmc) as one:
        with pytest.raises(BmcRefused, match="HttpBootUri"):
            await one.set_boot_override(BootMethod("UefiHttp", Secret(URI)))
        with pytest.raises(BmcRefused, match="Usb is not offered"):
            await one.set_boot_override(BootMethod("Usb", None))
    assert bmc.bodies == []


async def test_boot_settings_go_where_the_bmc_keeps_them() -> None:
    """AMI (DGX H100) has a settings object for the system, with the allowable values."""
    bmc = TreeBmc(recorded("nvidia-dgx-h100"))
    async with opened(bmc) as one:
        await one.set_boot_override(BootMethod("UefiHttp", Secret(URI)))
        assert await one.boot_override() == ("Disabled", "None", None)
    assert [key for key, _ in bmc.bodies] == ["PATCH /redfish/v1/systems/dgx/sd"]
    assert bmc.bodies[0][1]["Boot"]["HttpBootUri"] == URI


@pytest.mark.parametrize(
    ("machine", "place"),
    [
        ("nvidia-dgx-h100", "/redfish/v1/systems/dgx/bios/sd"),
        ("dell-r750-idrac9", "/redfish/v1/systems/system.embedded.1/bios/settings"),
        ("lenovo-sr670v2-xcc", "/redfish/v1/systems/1/bios/pending"),
        ("gigabyte-h262-z63-megarac", "/redfish/v1/systems/self/bios"),  # names no settings object
    ],
)
async def test_bios_settings_are_staged_where_the_bmc_says(machine: str, place: str) -> None:
    """`@Redfish.Settings` (DSP0266, "Settings resource"); iDRAC wants an apply time, or nothing ever happens."""
    bmc = TreeBmc(recorded(machine))
    async with opened(bmc) as one:
        assert await one.bios()
        await one.pending_bios()
        await one.set_bios({"Sriov": "Enabled", "Cores": 8})
    key, body = bmc.bodies[0]
    assert key == f"PATCH {place}"
    assert body["Attributes"] == {"Sriov": "Enabled", "Cores": 8}
    assert body.get("@Redfish.SettingsApplyTime") == (
        {"ApplyTime": "OnReset"} if machine.startswith(("dell", "lenovo")) else None
    )


async def test_a_board_without_bios_settings_has_none() -> None:
    """NVLink switch trays have no Bios resource."""
    bmc = TreeBmc(recorded("nvidia-gb-nvlink-switch-tray"))
    async with opened(bmc) as one:
        assert await one.bios() == {}
        assert await one.pending_bios() == {}
        with pytest.raises(BmcRefused):
            await one.set_bios({"Sriov": "Enabled"})


@pytest.mark.parametrize(
    ("power", "progress", "done"),
    [
        ("On", None, True),
        ("On", {"LastState": "OSRunning"}, True),
        ("On", {"LastState": "SystemHardwareInitializationComplete"}, True),
        ("On", {"LastState": "MemoryInitializationStarted"}, False),
        ("On", {"LastState": "OEM", "OemLastState": "OsIsRunning"}, True),  # BlueField-3
        ("Off", {"LastState": "OSRunning"}, False),
    ],
)
async def test_post_is_done_when_nothing_says_otherwise(power: str, progress: Any, done: bool) -> None:
    """Half of the recorded servers have no BootProgress."""
    documents = small()
    documents[SYSTEM.lower()] |= {"PowerState": power, "BootProgress": progress}
    async with opened(TreeBmc(documents)) as one:
        assert await one.post_done() is done
        assert await one.power() is Power(power)


async def test_a_cancelled_caller_keeps_the_lease_until_its_request_is_over() -> None:
    """Or the next caller would act while an earlier POST is still on its way."""
    bmc = TreeBmc(small())
    async with serving(bmc) as address, site_of() as site:
        bmc.delay = 0.05

        async def act(site: Site) -> None:
            async with site.bmcs.open(address, CREDENTIALS) as one:
                await one.reset("On")

        task = asyncio.create_task(act(site))
        await asyncio.wait_for(bmc.acted_on.wait(), 10)
        task.cancel()
        async with site.bmcs.open(address, CREDENTIALS):
            assert bmc.in_flight == 0
            assert len(bmc.bodies) == 1
        with pytest.raises(asyncio.CancelledError):
            await task
