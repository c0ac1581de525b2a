"""What goes wrong while a BMC restarts: each fault does what it says, over HTTPS."""

import time

from tests.emulator.bmc_client import wait_for
from tests.emulator.one_bmc import OneBmc
from tests.emulator.updates import INVENTORY, SERVICE, package, push


def test_the_inventory_comes_later_than_the_bmc(one: OneBmc) -> None:
    """F16, fwupd/fwupd#4531."""
    one.set_fault("inventory-late", seconds=1.5)
    client = one.flash_bmc()
    assert client.send("GET", "/redfish/v1/UpdateService").status_code == 200
    answer = client.send("GET", INVENTORY)
    assert (answer.status_code, bool(answer.headers["Retry-After"])) == (503, True)
    wait_for(lambda: client.send("GET", INVENTORY).status_code == 200)


def test_a_reset_while_the_bmc_restarts_by_itself_ruins_it(one: OneBmc) -> None:
    """F17, fwupd/fwupd#6544; only the loss of its power brings it back."""
    one.set_fault("reset-during-self-reboot", seconds=30.0)
    client = one.flash_bmc()
    assert client.send("GET", SERVICE).status_code == 200
    action = "/redfish/v1/Managers/1/Actions/Manager.Reset"
    assert client.send("POST", action, json={"ResetType": "GracefulRestart"}).status_code == 503
    assert client.send("GET", SERVICE).status_code == 503
    one.act("power-loss")
    one.act("power-restore")
    wait_for(lambda: one.truth()["bmc_answers"])
    assert one.client().send("GET", SERVICE).status_code == 200


def test_the_bmc_comes_back_in_phases(one: OneBmc) -> None:
    """F20, sonic-net/sonic-platform-common#707: refused, then 503, then 401, then half of the inventory, then all."""
    whole = one.client().get(INVENTORY)["Members@odata.count"]
    profile = {"refuse": 0.5, "unavailable": 1.0, "login": 1.0, "partial": 1.0}
    one.set_fault("bmc-outage-profile", **profile)
    began = time.monotonic()
    client = one.flash_bmc()
    assert time.monotonic() - began > 0.5
    seen: list[int | tuple[int, int]] = []
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and (200, whole) not in seen:
        answer = client.send("GET", INVENTORY)
        members = answer.json().get("Members@odata.count", 0)
        what: int | tuple[int, int] = (200, members) if answer.status_code == 200 else answer.status_code
        if what not in seen:
            seen.append(what)
        time.sleep(0.05)
    assert seen == [503, 401, (200, whole // 2), (200, whole)]


def test_the_bmc_stays_away_for_long(one: OneBmc) -> None:
    """F21, Mellanox/dpu-update#96."""
    one.set_fault("bmc-back-late", seconds=1.5)
    push(one.client(), package("bmc", "11.03.18"))
    wait_for(lambda: one.truth()["bmc_resets"] == 1)
    time.sleep(0.7)
    assert not one.truth()["bmc_answers"]
    wait_for(one.restarted)
