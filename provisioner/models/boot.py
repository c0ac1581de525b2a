"""One permission for one node to boot one image."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from provisioner.models.identifiers import NodeName
from provisioner.models.node import Node
from provisioner.models.secret import Secret

SERVINGS_PER_TRY = 12
"""Firmware that loses its connection asks again a few times; a node that asks more often restarts for ever."""


class FailureKind(StrEnum):
    """Why an initrd gave up, in its own words."""

    FETCH = "fetch"
    """No server gave a file to its end."""
    INTEGRITY = "integrity"
    """Every server gave other bytes than the digest says, or dm-verity found some later."""
    MEMORY = "memory"
    """The root does not fit."""
    MOUNT = "mount"
    """The kernel cannot mount the root."""
    NETWORK = "network"
    """No address, or no way to the server."""


@dataclass(frozen=True, slots=True)
class BootFailure:
    """What an initrd reported before it powered its host off. `detail` is one line."""

    kind: FailureKind
    detail: str
    at: datetime
    served: int
    """How often the ticket had been served by then: one boot fails once."""

    @property
    def is_final(self) -> bool:
        """Another try with the same image would end in the same way, or hide what is wrong."""
        return self.kind not in {FailureKind.FETCH, FailureKind.NETWORK}


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
    most_served: int = SERVINGS_PER_TRY
    """Where the boot endpoint stops: a node that restarts for ever is not booted for ever."""
    programs: int = 0
    """How many of the answers were the program for UEFI, whose initrd asks for words."""
    asked: int = 0
    """How often an initrd asked for its words."""
    refused: tuple[str, ...] = ()
    """Boot targets that the BMC refused in this attempt."""
    failures: tuple[BootFailure, ...] = ()
    """What initrds reported, oldest first."""


@dataclass(frozen=True, slots=True)
class Asker:
    """A node that asks what to boot, and its newest ticket, as they were at one moment."""

    node: Node
    latest: BootTicket | None


@dataclass(frozen=True, slots=True)
class BootMethod:
    """How a node is told to boot from the network: a boot target, and the URI where the firmware takes one."""

    target: str
    uri: Secret | None


@dataclass(frozen=True, slots=True)
class Caller:
    """Who firmware says it is; empty strings mean that it did not say. Nothing of it is proven."""

    uuid: str = ""
    serial: str = ""
    mac: str = ""
    arch: str = ""
    address: str = ""
    """Where the request came from."""
