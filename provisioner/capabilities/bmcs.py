"""What we need of a BMC."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from profiles.firmware.component import Activation
from provisioner.models.boot import BootMethod
from provisioner.models.identifiers import TaskUri
from provisioner.models.inventory import FirmwareComponent, Identity, Inventory, Power, Task
from provisioner.models.node import BmcAddress
from provisioner.models.secret import Credentials, Secret
from provisioner.models.update import CycleVerb, UpdateOffer, UpdateOrder

BiosValue = str | int | bool | None


class Bmc(Protocol):
    """One BMC, logged in, under its lease. Every method reads or acts once and raises `BmcError`s.

    GETs are retried a few times inside; what changes something is sent exactly once: when its answer is lost it
    raises `AnswerLost`, and the caller reads the state back.
    """

    address: BmcAddress

    @property
    def must_change_password(self) -> bool:
        """The BMC answers nothing before the password of this account has been changed (DSP0266, 13.2.6)."""
        ...

    async def identity(self) -> Identity:
        """Who the server says it is."""
        ...

    async def inventory(self) -> Inventory:
        """The whole sweep, over the asyncio read path."""
        ...

    async def firmware(self) -> tuple[FirmwareComponent, ...]:
        """The firmware inventory only."""
        ...

    async def change_password(self, username: str, password: Secret) -> None:
        """Set the password of the account `username`."""
        ...

    async def power(self) -> Power:
        """PowerState of the host."""
        ...

    async def post_done(self) -> bool:
        """The host is on and has left POST, or the BMC cannot tell (no BootProgress) and the host is on."""
        ...

    async def reset(self, reset_type: str) -> None:
        """ComputerSystem.Reset: `On`, `ForceOff`, `ForceRestart`, ... (the allowed one that comes closest)."""
        ...

    async def reset_bmc(self) -> None:
        """Manager.Reset, graceful where that is allowed."""
        ...

    async def bios(self) -> Mapping[str, BiosValue]:
        """The BIOS attributes in force; empty where the server has no Bios resource."""
        ...

    async def pending_bios(self) -> Mapping[str, BiosValue]:
        """Attributes that wait for the next host reset (all settings where the BMC shows no difference)."""
        ...

    async def set_bios(self, attributes: Mapping[str, BiosValue]) -> None:
        """Ask for `attributes` at the next host reset, through the settings object that the BMC names."""
        ...

    async def boot_override(self) -> tuple[str, str, str | None]:
        """BootSourceOverrideEnabled, BootSourceOverrideTarget, HttpBootUri (None: not set)."""
        ...

    async def secure_boot(self) -> bool | None:
        """Firmware will refuse what is not signed, at the next start; None where the BMC cannot tell."""
        ...

    async def set_boot_override(self, method: BootMethod) -> None:
        """Boot once from the network as `method` says, UEFI mode where the mode can be set."""
        ...

    async def update_offer(self) -> UpdateOffer:
        """How the BMC takes firmware now. Raises `BmcRefused` where it has no UpdateService."""
        ...

    async def start_update(self, order: UpdateOrder) -> TaskUri | None:
        """Start one update, sent once, by the first transport that both sides take; the task's URI, or None if unknown.

        A transport that is refused gives way to the next. None: watch the version; where `update_offer` says
        `start_update`, the image may wait for `start_staged`. Raises, with nothing begun: `BmcRefused`, `OneTargetOnly`
        (send one order for each target), `BmcUnreachable` (another update is at work: later); and `AnswerLost` when
        nobody knows: then look for its task.
        """
        ...

    async def start_staged(self) -> TaskUri | None:
        """UpdateService.StartUpdate: begin what was sent to wait for it; the task's URI, or None if unknown.

        Raises `BmcRefused` where nothing waits, or the BMC has no such action.
        """
        ...

    async def cycle(self, activation: Activation) -> None:
        """AUX_CYCLE or AC_CYCLE by the verb that the BMC offers; it may vanish before it answers (`AnswerLost`).

        Raises `BmcRefused` (501) where there is none, and (409) while the host is on where it has to be off.
        """
        ...

    async def cycle_verb(self, activation: Activation) -> CycleVerb | None:
        """The verb that `cycle` would use; None where the BMC offers none."""
        ...

    async def stronger_verbs(self, done: Activation, parts: Sequence[FirmwareComponent]) -> tuple[CycleVerb, ...]:
        """What cuts more power than `done`, next in strength: each chassis that holds one of these parts, or standby
        power, or the mains. Empty: the BMC offers nothing.
        """
        ...

    async def cycle_by(self, verb: str) -> None:
        """By the verb of this name; as `cycle`. Raises `BmcRefused` (501) where it is not offered any more."""
        ...

    async def ready(self) -> bool:
        """The root, the managers, the update service and the whole firmware inventory answer, and are complete.

        False while any of it does not; a BMC that answers a ping or its root may be minutes from there. Look twice,
        with a pause, and compare the inventory with what was there before: a short list may look whole for a while.
        """
        ...

    async def task(self, uri: TaskUri) -> Task:
        """One look at a task. Raises `ResourceGone` when the BMC has forgotten it."""
        ...

    async def tasks(self) -> tuple[Task, ...]:
        """All tasks that the BMC lists."""
        ...


class Bmcs(Protocol):
    """The way to all BMCs: one lease each, for every caller."""

    def open(self, address: BmcAddress, credentials: Credentials) -> AbstractAsyncContextManager[Bmc]:
        """Log in (or reuse the session) and hold the BMC's lease: one caller writes at a time.

        Raises `LoginRefused`, `LoginBudgetSpent`, `BmcUnreachable`, `CertificateChanged`.
        """
        ...

    async def probe(self, address: BmcAddress) -> Identity | None:
        """Read the service root without credentials: its uuid, vendor and product; None when it is no Redfish."""
        ...

    async def close(self) -> None:
        """Log out everywhere and close the connections."""
        ...
