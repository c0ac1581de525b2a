"""Everything that is known about one node."""

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from pydantic import BaseModel

from api.views.nodes import NodeView
from provisioner.models.burn_in import BurnInRun, CheckResult, Heartbeat
from provisioner.models.inventory import Inventory
from provisioner.models.node import Node
from provisioner.services.glance import Glance


class FirmwareView(BaseModel):
    """One entry of the firmware inventory; `version` is null where the BMC gives none."""

    id: str
    name: str
    version: str | None
    updateable: bool


class InventoryView(BaseModel):
    """What was inside at the last sweep. `processors` and `gpus`: one model per part."""

    manufacturer: str
    model: str
    serial: str
    uuid: str
    power: str
    architecture: str
    processors: list[str]
    gpus: list[str]
    memory_gib: float
    macs: list[str]
    firmware: list[FirmwareView]

    @classmethod
    def of(cls, seen: Inventory) -> Self:
        """The view."""
        return cls(
            manufacturer=seen.identity.manufacturer,
            model=seen.identity.model,
            serial=seen.identity.serial,
            uuid=seen.identity.uuid,
            power=seen.power,
            architecture=seen.architecture,
            processors=[one.model for one in seen.processors if one.kind != "GPU"],
            gpus=[one.model for one in seen.gpus],
            memory_gib=seen.memory_gib,
            macs=list(seen.macs),
            firmware=[
                FirmwareView(id=one.id, name=one.name, version=one.version, updateable=one.updateable)
                for one in seen.firmware
            ],
        )


class ResultView(BaseModel):
    """One check of a burn-in."""

    item: str
    status: str
    started_at: datetime
    finished_at: datetime
    metrics: dict[str, float]
    evidence: str

    @classmethod
    def of(cls, result: CheckResult) -> Self:
        """The view."""
        return cls(
            item=result.item,
            status=result.status,
            started_at=result.started_at,
            finished_at=result.finished_at,
            metrics=dict(result.metrics),
            evidence=result.evidence,
        )


class BurnInView(BaseModel):
    """The last burn-in run; `last_sign_at` is the agent's last heartbeat."""

    run: str
    plan: str
    attempt: int
    opened_at: datetime
    last_sign_at: datetime | None
    results: list[ResultView]

    @classmethod
    def of(cls, run: BurnInRun, results: Sequence[CheckResult], beat: Heartbeat | None) -> Self:
        """The view."""
        return cls(
            run=run.run,
            plan=run.plan,
            attempt=run.attempt,
            opened_at=run.opened_at,
            last_sign_at=beat.at if beat else None,
            results=[ResultView.of(one) for one in results],
        )


class NodeDetail(NodeView):
    """One node. `inventory` is null before the first sweep, `burn_in` before the first run."""

    bmc: str
    serial: str | None
    expected_serial: str | None
    uuid: str | None
    manufacturer: str | None
    model: str | None
    observed_image: str | None
    generation: int
    attempt: int
    failures: int
    retry_at: datetime | None
    inventory: InventoryView | None
    burn_in: BurnInView | None

    @classmethod
    def assemble(cls, seen: Glance, inventory: InventoryView | None, burn_in: BurnInView | None) -> Self:
        """The view."""
        node: Node = seen.node
        return cls(
            **NodeView.of(seen).model_dump(),
            bmc=str(node.bmc),
            serial=node.serial,
            expected_serial=node.expected_serial,
            uuid=node.uuid,
            manufacturer=node.manufacturer,
            model=node.model,
            observed_image=node.observed_image,
            generation=node.generation,
            attempt=node.attempt,
            failures=node.failures,
            retry_at=node.retry_at,
            inventory=inventory,
            burn_in=burn_in,
        )
