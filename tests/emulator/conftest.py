"""One fleet with a BMC of each persona, for tests that only read."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from emulator.persona.load import load_persona, persona_names
from emulator.testing import Bmc, EmulatedFleet, RunningBmc
from tests.emulator.bios_site import DELL, SMC, restored
from tests.emulator.bmc_client import BmcClient
from tests.emulator.listener import EventListener
from tests.emulator.one_bmc import OneBmc, each

PERSONAS = persona_names()
_PASSWORD = "Changed-once-1"

Museum = dict[str, RunningBmc]


@pytest.fixture(scope="session")
def museum() -> Iterator[Museum]:
    """A BMC of each persona that may be read; the factory password is changed where it must be."""
    with EmulatedFleet([Bmc(persona) for persona in PERSONAS]) as fleet:
        yield {bmc.persona: _taken_over(bmc) for bmc in fleet.bmcs}


def _taken_over(bmc: RunningBmc) -> RunningBmc:
    accounts = load_persona(bmc.persona).accounts
    if not accounts.change_required:
        return bmc
    account = f"/redfish/v1/AccountService/Accounts/{accounts.id}"
    BmcClient(bmc).send("PATCH", account, json={"Password": _PASSWORD}).raise_for_status()
    return replace(bmc, password=_PASSWORD)


@pytest.fixture(scope="module")
def spares() -> Iterator[Iterator[OneBmc]]:
    """Fresh BMCs for the tests of a file."""
    with EmulatedFleet([Bmc()] * 48) as fleet:
        yield each(fleet)


@pytest.fixture
def one(spares: Iterator[OneBmc]) -> OneBmc:
    """A BMC that no other test has."""
    return next(spares)


@pytest.fixture
def client(one: OneBmc) -> BmcClient:
    """A client of `one`."""
    return one.client()


@pytest.fixture
def listener() -> Iterator[EventListener]:
    """A subscriber."""
    with EventListener() as listener:
        yield listener


@pytest.fixture(scope="module")
def bios_fleet() -> Iterator[EmulatedFleet]:
    """A Supermicro and a Dell whose BIOS settings the tests of a file change and restore."""
    with EmulatedFleet([Bmc(), Bmc("dell-xe9680")]) as fleet:
        yield fleet


@pytest.fixture
def smc(bios_fleet: EmulatedFleet) -> Iterator[BmcClient]:
    """The Supermicro of `bios_fleet`."""
    with restored(bios_fleet, bios_fleet.bmcs[0], SMC) as client:
        yield client


@pytest.fixture
def dell(bios_fleet: EmulatedFleet) -> Iterator[BmcClient]:
    """The Dell of `bios_fleet`."""
    with restored(bios_fleet, bios_fleet.bmcs[1], DELL) as client:
        yield client
