"""What is kept when the emulator ends, and when it is written."""

import asyncio
import ssl
from pathlib import Path

import orjson
import pytest

from emulator.errors import ConfigError
from emulator.machine.state import State
from emulator.machine.state_folder import StateFolder
from emulator.racks import Plan
from emulator.testing import Bmc, EmulatedFleet
from tests.emulator.bmc_client import BmcClient, wait_for

_PASSWORD = "Changed-once-1"


def change_password(client: BmcClient) -> None:
    account = client.get("/redfish/v1/AccountService/Accounts")["Members"][0]["@odata.id"]
    client.send("PATCH", account, json={"Password": _PASSWORD}).raise_for_status()
    client.http.auth = (client.bmc.username, _PASSWORD)


def written(fleet: EmulatedFleet) -> list[str]:
    folder = fleet.directory / "state"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_what_was_answered_survives_a_crash() -> None:
    """Issue 3: state survives a restart. It is on the disk before the answer leaves."""
    with EmulatedFleet() as fleet:
        client = BmcClient(fleet.bmcs[0])
        change_password(client)
        assert orjson.loads((fleet.directory / "state/r01-u01/state.json").read_bytes())["password"] == _PASSWORD
        fleet.kill()
        fleet.start()
        again = BmcClient(fleet.bmcs[0])
        again.http.auth = client.http.auth
        assert again.get("/redfish/v1/Systems")["Members@odata.count"] == 1


def test_a_host_that_was_on_is_on_after_a_restart() -> None:
    """What happens without a request is kept too."""
    with EmulatedFleet() as fleet:
        BmcClient(fleet.bmcs[0]).reset("On")
        wait_for(lambda: fleet.truth("r01-u01")["power"] == "On")
        fleet.stop()
        fleet.start()
        assert fleet.truth("r01-u01")["power"] == "On"


def test_a_fleet_that_is_read_writes_its_certificates_and_nothing_else() -> None:
    """Ten thousand idle BMCs write nothing; a certificate is made at the first connection."""
    with EmulatedFleet(plan=Plan(1, 3, ("hgx-h100",))) as fleet:
        assert written(fleet) == []
        client = BmcClient(fleet.bmcs[1])
        client.get("/redfish/v1/Systems")
        assert written(fleet) == ["r01-u02/bmc.pem"]
        assert (fleet.directory / "state/r01-u02/bmc.pem").stat().st_mode & 0o077 == 0
        change_password(client)
        assert written(fleet) == ["r01-u02/bmc.pem", "r01-u02/state.json"]


def test_a_certificate_is_the_same_after_a_restart_only_when_state_is_kept() -> None:
    """Clients pin what they have seen."""
    for keep in (True, False):
        with EmulatedFleet(keep_state=keep) as fleet:
            before = _certificate(fleet)
            assert _certificate(fleet) == before
            fleet.stop()
            fleet.start()
            assert (_certificate(fleet) == before) == keep


def test_without_a_state_folder_nothing_is_kept_and_nothing_written() -> None:
    """fleet.yaml without state_dir."""
    with EmulatedFleet([Bmc(), Bmc("dell-xe9680")], keep_state=False) as fleet:
        change_password(BmcClient(fleet.bmcs[0]))
        assert fleet.truth("r01-u01")["credentials"]["password"] == _PASSWORD
        files = {path.name for path in fleet.directory.iterdir()}
        fleet.stop()
        fleet.start()
        assert fleet.truth("r01-u01")["credentials"]["password"] == fleet.bmcs[0].password
        assert {path.name for path in fleet.directory.iterdir()} == files
        assert "state" not in files


def test_a_state_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    """The file, and what would do."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a/state.json").write_bytes(b'{"username": ')
    with pytest.raises(ConfigError, match=r"a/state\.json: cannot be read: .*; remove it to start with a new machine"):
        StateFolder(tmp_path).open("a", State("root", "x"))


async def test_many_changes_of_one_turn_are_one_write(tmp_path: Path) -> None:
    """The file is replaced once, with the last of them; the same state again writes nothing."""
    folder = StateFolder(tmp_path)
    state = folder.open("a", State("root", "x"))
    for number in range(1000):
        state.boots = number
        folder.save("a", state)
    path = tmp_path / "a/state.json"
    assert not path.exists()
    await asyncio.sleep(0)
    assert orjson.loads(path.read_bytes())["boots"] == 999
    number = path.stat().st_ino
    folder.save("a", state)
    folder.flush()
    assert path.stat().st_ino == number


async def test_a_state_back_at_the_factory_replaces_the_one_on_the_disk(tmp_path: Path) -> None:
    """What differs from the file is written, not what differs from the factory."""
    folder = StateFolder(tmp_path)
    state = folder.open("a", State("root", "x"))
    for boots in (1, 0):
        state.boots = boots
        folder.save("a", state)
        folder.flush()
    assert StateFolder(tmp_path).open("a", State("root", "x")).boots == 0
    assert (tmp_path / "a/state.json").exists()


async def test_a_state_that_cannot_be_written_is_written_later(tmp_path: Path) -> None:
    """A full disk, or a folder that went away, does not lose what comes after."""
    folder = StateFolder(tmp_path)
    (tmp_path / "a").write_text("in the way")
    folder.save("a", State("root", "x", boots=3))
    folder.flush()
    (tmp_path / "a").unlink()
    folder.close()
    assert orjson.loads((tmp_path / "a/state.json").read_bytes())["boots"] == 3


def _certificate(fleet: EmulatedFleet) -> str:
    bmc = fleet.bmcs[0]
    return ssl.get_server_certificate((bmc.address, bmc.port), timeout=5)
