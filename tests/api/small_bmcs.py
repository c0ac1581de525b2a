"""BMCs as small as the tests of the API need them."""

# ruff: noqa: ARG002 - the protocols tell more than these need to know

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from profiles.firmware.component import Transport
from provisioner.capabilities.bmcs import Bmc
from provisioner.errors import BmcUnreachable
from provisioner.models.inventory import FirmwareComponent, Identity
from provisioner.models.node import BmcAddress
from provisioner.models.secret import Credentials
from provisioner.models.update import UpdateOffer


@dataclass(slots=True)
class SmallBmc:
    """As much of a BMC as a plan reads."""

    components: tuple[FirmwareComponent, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    offer: UpdateOffer = field(default_factory=lambda: UpdateOffer((Transport.MULTIPART,)))

    async def firmware(self) -> tuple[FirmwareComponent, ...]:
        return self.components

    async def update_offer(self) -> UpdateOffer:
        return self.offer

    async def bios(self) -> Mapping[str, Any]:
        return self.attributes


@dataclass(slots=True)
class SmallBmcs:
    """One BMC for every address; None: nothing answers."""

    bmc: SmallBmc | None = None

    def open(self, address: BmcAddress, credentials: Credentials) -> AbstractAsyncContextManager[Bmc]:
        return self._open(address)

    @asynccontextmanager
    async def _open(self, address: BmcAddress) -> AsyncIterator[Bmc]:
        if self.bmc is None:
            raise BmcUnreachable(str(address), "no answer for 30 s")
        yield cast("Bmc", self.bmc)

    async def probe(self, address: BmcAddress) -> Identity | None:
        return None

    async def close(self) -> None:
        return None
