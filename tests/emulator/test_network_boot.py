"""Network boot of an emulated host, with a real process behind it."""

import json
import os
import re

from emulator.testing import EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.boot_server import BootServer, build_root

SYSTEM = "/redfish/v1/Systems/1"


def boot_from(client: BmcClient, url: str | None) -> None:
    target = (
        {"BootSourceOverrideTarget": "UefiHttp", "HttpBootUri": url} if url else {"BootSourceOverrideTarget": "Pxe"}
    )
    answer = client.send("PATCH", SYSTEM, json={"Boot": {"BootSourceOverrideEnabled": "Once", **target}})
    assert answer.status_code == 204, answer.text
    assert client.reset("On").status_code == 204


def allow_http(client: BmcClient) -> None:
    answer = client.send("PATCH", f"{SYSTEM}/Bios/SD", json={"Attributes": {"IPv4HTTPSupport_00F5": "Enabled"}})
    assert answer.status_code == 200, answer.text


def running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_http_boot_fetches_what_the_bmc_was_told_and_runs_it() -> None:
    """UEFI 2.10, 24.7: HTTP boot."""
    with BootServer() as server, EmulatedFleet(boot_service=server.url) as fleet:
        server.offer_program("/boot/key", build_root())
        client = BmcClient(fleet.bmcs[0])
        allow_http(client)
        boot_from(client, f"{server.url}/boot/key")
        wait_for(lambda: server.hellos)
        words = json.loads(server.hellos[0])
        assert words["firstlight.node"] == "n"
        assert len(words["firstlight.boot_id"]) == 36
        assert ("/boot/key", "UefiHttpBoot/1.0") in server.requests
        truth = fleet.truth("r01-u01")
        assert (truth["booted_image"], truth["boots"]) == ("sha256:" + "1" * 64, 1)
        assert client.get(SYSTEM)["BootProgress"]["LastState"] == "OSRunning"
        assert client.get(SYSTEM)["Boot"]["BootSourceOverrideEnabled"] == "Disabled"
        client.reset("ForceOff")
        wait_for(lambda: client.get(SYSTEM)["PowerState"] == "Off")
        assert not running(truth["agent_pid"])


def test_firmware_starts_no_script_and_says_so() -> None:
    """tianocore/edk2, HttpBootCheckImageType: only EFI binaries and images, by type or by extension."""
    with BootServer() as server, EmulatedFleet(boot_service=server.url) as fleet:
        server.offer("/boot/key", build_root())
        client = BmcClient(fleet.bmcs[0])
        allow_http(client)
        boot_from(client, f"{server.url}/boot/key")
        wait_for(lambda: "application/efi" in (fleet.truth("r01-u01")["boot_error"] or ""))
        assert server.hellos == []
        server.offer_program("/boot/key", build_root())
        wait_for(lambda: server.hellos)


def test_pxe_boot_tells_who_it_is() -> None:
    """iPXE settings uuid, serial and mac."""
    with BootServer() as server, EmulatedFleet(boot_service=server.url) as fleet:
        server.offer("/boot/ipxe", build_root())
        boot_from(BmcClient(fleet.bmcs[0]), None)
        wait_for(lambda: server.hellos)
        path, agent = server.requests[0]
        assert re.fullmatch(r"iPXE/1\.21\.1\+ \(g[0-9a-f]+\)", agent)
        assert f"uuid={fleet.bmcs[0].uuid}" in path
        assert f"serial={fleet.bmcs[0].serial}" in path
        assert "arch=x86_64" in path


def test_http_boot_does_not_work_before_the_bios_allows_it() -> None:
    """IPv4HTTPSupport is off when the board leaves the factory."""
    with BootServer() as server, EmulatedFleet(boot_service=server.url) as fleet:
        boot_from(BmcClient(fleet.bmcs[0]), f"{server.url}/boot/key")
        wait_for(lambda: "IPv4HTTPSupport_00F5" in (fleet.truth("r01-u01")["boot_error"] or ""))
        assert server.requests == []


def test_agent_that_dies_is_started_again_with_the_same_boot() -> None:
    """As an init system does."""
    with BootServer() as server, EmulatedFleet(boot_service=server.url) as fleet:
        server.offer("/boot/ipxe", build_root())
        boot_from(BmcClient(fleet.bmcs[0]), None)
        wait_for(lambda: len(server.hellos) == 1)
        fleet.act("r01-u01", "kill-agent")
        wait_for(lambda: len(server.hellos) == 2)
        assert server.hellos[0] == server.hellos[1]
        assert fleet.truth("r01-u01")["boots"] == 1


def test_restart_of_the_emulator_boots_again_and_leaves_no_process() -> None:
    """Nothing outlives the emulator, however it ends."""
    with BootServer() as server, EmulatedFleet(boot_service=server.url) as fleet:
        server.offer("/boot/ipxe", build_root())
        boot_from(BmcClient(fleet.bmcs[0]), None)
        pids = []
        for end in (fleet.stop, fleet.kill):
            seen = len(server.hellos)
            wait_for(lambda seen=seen: len(server.hellos) > seen)  # type: ignore[misc]
            pids.append(fleet.truth("r01-u01")["agent_pid"])
            end()
            wait_for(lambda: not running(pids[-1]))
            fleet.start()
        wait_for(lambda: len(server.hellos) >= 3)
        assert fleet.truth("r01-u01")["boots"] >= 3
