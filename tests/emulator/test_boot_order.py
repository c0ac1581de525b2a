"""Which device a host boots, over Redfish and with hands."""

from typing import Any

from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.boot_server import BootServer

ROOT = b"never run: stand-ins"
SYSTEM = "/redfish/v1/Systems/1"
NAME = "r01-u01"


def override(client: BmcClient, target: str, enabled: str = "Once") -> None:
    boot = {"BootSourceOverrideTarget": target, "BootSourceOverrideEnabled": enabled}
    assert client.send("PATCH", SYSTEM, json={"Boot": boot}).status_code == 204


def reset(client: BmcClient, reset_type: str = "On") -> None:
    assert client.reset(reset_type).status_code == 204


def running(fleet: EmulatedFleet, image: str, boots: int) -> dict[str, Any]:
    def truth() -> dict[str, Any] | None:
        now = fleet.truth(NAME)
        return now if (now["phase"], now["booted_image"], now["boots"]) == ("running", image, boots) else None

    found: dict[str, Any] = wait_for(truth)
    return found


def test_once_is_used_up_by_the_post_after_it_and_the_disk_is_next() -> None:
    """DSP0268, BootSourceOverrideEnabled: Once."""
    with (
        BootServer() as server,
        EmulatedFleet([Bmc(installed="debian 12")], boot_service=server.url, agent="stand-in") as fleet,
    ):
        server.offer("/boot/ipxe", ROOT, image="net")
        client = BmcClient(fleet.bmcs[0])
        override(client, "Pxe")
        assert client.get(SYSTEM)["Boot"]["BootSourceOverrideEnabled"] == "Once"
        reset(client)
        running(fleet, "net", 1)
        boot = client.get(SYSTEM)["Boot"]
        assert (boot["BootSourceOverrideEnabled"], boot["BootSourceOverrideTarget"]) == ("Disabled", "None")
        reset(client, "ForceRestart")
        running(fleet, "debian 12", 2)
        override(client, "Pxe", "Continuous")
        for boots in (3, 4):
            reset(client, "ForceRestart")
            running(fleet, "net", boots)


def test_disk_without_an_operating_system_boots_nothing() -> None:
    """A server from the factory."""
    with BootServer() as server, EmulatedFleet(boot_service=server.url, agent="stand-in") as fleet:
        server.offer("/boot/ipxe", ROOT)
        client = BmcClient(fleet.bmcs[0])
        override(client, "Hdd")
        reset(client)
        wait_for(lambda: fleet.truth(NAME)["phase"] == "no-bootable-device")
        assert (fleet.truth(NAME)["boots"], server.requests) == (0, [])


def test_setup_waits_for_a_person() -> None:
    """DSP0268, BootProgress: SetupEntered."""
    with EmulatedFleet() as fleet:
        client = BmcClient(fleet.bmcs[0])
        override(client, "BiosSetup")
        reset(client)
        wait_for(lambda: client.get(SYSTEM)["BootProgress"]["LastState"] == "SetupEntered")
        assert fleet.truth(NAME)["phase"] == "bios-setup"


def test_image_in_virtual_media_is_booted_and_junk_is_named() -> None:
    """A boot script in the drive boots as one from the network does."""
    with BootServer() as server, EmulatedFleet(boot_service=server.url, agent="stand-in") as fleet:
        server.files["/junk.iso"] = b"junk"
        server.offer("/good.iso", ROOT, image="cd")
        client = BmcClient(fleet.bmcs[0])
        fleet.insert_media(NAME, "Cd", f"{server.url}/junk.iso")
        override(client, "Cd", "Continuous")
        reset(client)
        wait_for(lambda: "no operating system" in (fleet.truth(NAME)["boot_error"] or ""))
        fleet.eject_media(NAME, "Cd")
        fleet.insert_media(NAME, "Cd", f"{server.url}/good.iso")
        running(fleet, "cd", 1)
        assert fleet.truth(NAME)["media"] == {"Cd": f"{server.url}/good.iso"}
        fleet.eject_media(NAME, "Cd")
        reset(client, "ForceRestart")
        wait_for(lambda: fleet.truth(NAME)["phase"] == "no-bootable-device")
