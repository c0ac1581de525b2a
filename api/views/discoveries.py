"""BMCs that were found, as the API shows them."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel

from api.views.nodes import InstructionView
from provisioner.discovery.found import ExpectedBmc
from provisioner.models.found_bmc import FoundBmc
from provisioner.services.discoveries import Discoveries, Missing, Unexpected, UnknownHost


class FoundView(BaseModel):
    """A BMC that answered. Empty strings: its service root does not say. `how`: scan, ssdp or person."""

    address: str
    port: int
    vendor: str
    product: str
    uuid: str
    first_seen: datetime
    last_seen: datetime
    how: str

    @classmethod
    def fields_of(cls, bmc: FoundBmc) -> dict[str, object]:
        """What all views of a found BMC share."""
        return {
            "address": bmc.address.host,
            "port": bmc.address.port,
            "vendor": bmc.vendor,
            "product": bmc.product,
            "uuid": bmc.uuid,
            "first_seen": bmc.first_seen,
            "last_seen": bmc.last_seen,
            "how": bmc.how,
        }


class ExpectedView(FoundView):
    """One that answers where the plan has a node."""

    node: str

    @classmethod
    def of(cls, one: ExpectedBmc) -> Self:
        """The view."""
        return cls.model_validate({**cls.fields_of(one.bmc), "node": one.node.name})


class UnexpectedView(FoundView):
    """One that answers where no node is. `same_uuid`: nodes elsewhere that are known by its UUID."""

    same_uuid: list[str]
    instruction: InstructionView

    @classmethod
    def of(cls, one: Unexpected) -> Self:
        """The view."""
        return cls.model_validate(
            {
                **cls.fields_of(one.bmc),
                "same_uuid": [node.name for node in one.same_uuid],
                "instruction": InstructionView.of(one.instruction),
            }
        )


class MissingView(BaseModel):
    """A node whose BMC did not answer. `elsewhere`: unexpected BMCs that say its UUID, as address:port."""

    node: str
    rack: str
    position: int
    address: str
    port: int
    last_seen: datetime | None
    elsewhere: list[str]
    instruction: InstructionView

    @classmethod
    def of(cls, one: Missing) -> Self:
        """The view."""
        return cls(
            node=one.node.name,
            rack=one.node.rack,
            position=one.node.position,
            address=one.node.bmc.host,
            port=one.node.bmc.port,
            last_seen=one.last_seen,
            elsewhere=[str(bmc.address) for bmc in one.elsewhere],
            instruction=InstructionView.of(one.instruction),
        )


class HostView(BaseModel):
    """A host that is no node of ours. Empty strings: it did not say. `how`: dhcp or boot."""

    mac: str
    address: str
    client_class: str
    uuid: str
    serial: str
    how: str
    first_seen: datetime
    last_seen: datetime
    instruction: InstructionView

    @classmethod
    def of(cls, one: UnknownHost) -> Self:
        """The view."""
        host = one.host
        return cls(
            mac=host.mac,
            address=host.address,
            client_class=host.client_class,
            uuid=host.uuid,
            serial=host.serial,
            how=host.how,
            first_seen=host.first_seen,
            last_seen=host.last_seen,
            instruction=InstructionView.of(one.instruction),
        )


class DiscoveriesView(BaseModel):
    """As of the last scan; `scanned_at` is null before the first one. `expected` is null unless it was asked for.

    `hosts`: of the last 30 days, whatever was scanned.
    """

    scanned_at: datetime | None
    next_scan_at: datetime | None
    ranges: list[str]
    expected_count: int
    expected: list[ExpectedView] | None
    unexpected: list[UnexpectedView]
    missing: list[MissingView]
    hosts: list[HostView]

    @classmethod
    def of(cls, told: Discoveries, hosts: Sequence[UnknownHost], *, with_expected: bool) -> Self:
        """The view."""
        scan = told.scan
        return cls(
            scanned_at=scan.finished_at if scan else None,
            next_scan_at=scan.next_at if scan else None,
            ranges=list(scan.networks) if scan else [],
            expected_count=len(told.expected),
            expected=_expected(told.expected) if with_expected else None,
            unexpected=[UnexpectedView.of(one) for one in told.unexpected],
            missing=[MissingView.of(one) for one in told.missing],
            hosts=[HostView.of(one) for one in hosts],
        )


def _expected(found: Sequence[ExpectedBmc]) -> list[ExpectedView]:
    return [ExpectedView.of(one) for one in found]
