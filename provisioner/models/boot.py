"""One permission for one node to boot one image."""

from dataclasses import dataclass
from datetime import datetime

from provisioner.models.identifiers import NodeName
from provisioner.models.secret import Secret


@dataclass(frozen=True, slots=True)
class BootTicket:
    """Made by the boot operation, served as often as asked, used up only by the node's own report.

    `key` is part of the boot URI and proves that the asker is the node whose BMC was told; `token` goes to the
    agent, which can register with it under one boot id only.
    """

    node: NodeName
    generation: int
    attempt: int
    key: Secret
    token: Secret
    image: str
    root: str
    served: int
    """How often the boot endpoint answered with it."""
    boot_id: str | None
    """Of the boot that registered; None until then."""
    registered_at: datetime | None
    booted_image: str | None
    booted_root: str | None


@dataclass(frozen=True, slots=True)
class BootMethod:
    """How a node is told to boot from the network: a boot target, and the URI where the firmware takes one."""

    target: str
    uri: Secret | None
