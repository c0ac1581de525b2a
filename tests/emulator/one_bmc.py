"""One fresh BMC after the other out of a running fleet: a fleet for each test would cost seconds."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from emulator.testing import EmulatedFleet, RunningBmc
from tests.emulator.bmc_client import BmcClient, wait_for
from tests.emulator.updates import INVENTORY, NEW_BIOS, package, push

BIOS = {"Targets": [f"{INVENTORY}/BIOS"]}


@dataclass(frozen=True, slots=True)
class OneBmc:
    """One of the fleet, and hands on it."""

    fleet: EmulatedFleet
    bmc: RunningBmc

    def client(self) -> BmcClient:
        """A new connection with the label's credentials."""
        return BmcClient(self.bmc)

    def truth(self) -> dict[str, Any]:
        return self.fleet.truth(self.bmc.name)

    def staged(self, name: str = "BIOS") -> str | None:
        version: str | None = self.truth()["firmware"][name]["staged"]
        return version

    def set_fault(self, fault: str, **arguments: Any) -> None:
        self.fleet.set_fault(self.bmc.name, fault, arguments)

    def clear_fault(self, fault: str) -> None:
        self.fleet.clear_fault(self.bmc.name, fault)

    def act(self, action: str) -> None:
        self.fleet.act(self.bmc.name, action)

    def restarted(self) -> bool:
        truth = self.truth()
        return bool(truth["bmc_resets"] and truth["bmc_answers"])

    def flash(self, fault: str, **arguments: Any) -> Any:
        """Set a fault, then push a BIOS; the answer to the push."""
        self.set_fault(fault, **arguments)
        return push(self.client(), package("bios", NEW_BIOS), BIOS)

    def flash_bmc(self) -> BmcClient:
        """Install new firmware of the BMC; a fresh client once it is back."""
        push(self.client(), package("bmc", "11.03.18"))
        wait_for(self.restarted)
        return self.client()


def each(fleet: EmulatedFleet) -> Iterator[OneBmc]:
    """Every BMC of a fleet once."""
    return (OneBmc(fleet, bmc) for bmc in fleet.bmcs)
