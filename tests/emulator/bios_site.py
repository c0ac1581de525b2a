"""Two BMCs whose BIOS settings may be changed, and what tests do with them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from emulator.faults.bios import FAULTS
from emulator.testing import EmulatedFleet, RunningBmc
from tests.emulator.bmc_client import BmcClient, wait_for

SMC = "/redfish/v1/Systems/1/Bios"
DELL = "/redfish/v1/Systems/System.Embedded.1/Bios"
ON_RESET = {"@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"}}


@contextmanager
def restored(fleet: EmulatedFleet, bmc: RunningBmc, path: str) -> Iterator[BmcClient]:
    """A client of `bmc`; afterwards its faults and tasks are gone and its BIOS is as the factory left it."""
    client = BmcClient(bmc)
    yield client
    for fault in FAULTS:
        fleet.clear_fault(bmc.name, fault.name)
    for task in client.get("/redfish/v1/TaskService/Tasks")["Members"]:
        client.send("DELETE", task["@odata.id"])
    client.send("POST", f"{path}/Actions/Bios.ResetBios", json={})
    boot(fleet, client)


def boot(fleet: EmulatedFleet, client: BmcClient) -> None:
    """Through POST, then off."""
    client.reset("On")
    wait_for(lambda: fleet.truth(client.bmc.name)["phase"] == "no-bootable-device")
    client.reset("ForceOff")
    wait_for(lambda: fleet.truth(client.bmc.name)["power"] == "Off")


def stage(client: BmcClient, path: str, attributes: dict[str, Any], **more: Any) -> Any:
    """PATCH of Attributes at `path`; the answer."""
    return client.send("PATCH", path, json={"Attributes": attributes, **more})


def messages(answer: Any) -> list[tuple[str, str]]:
    """(message, attribute) of each message of an error."""
    found = answer.json()["error"]["@Message.ExtendedInfo"]
    return [(one["MessageId"].rpartition(".")[2], one["RelatedProperties"][0].rpartition("/")[2]) for one in found]
