"""The BMCs of simulated servers, as `Bmcs`: logins are budgeted by the product's own budget, everything takes time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from profiles.firmware.component import Activation, Transport
from provisioner.capabilities.bmcs import BiosValue
from provisioner.errors import AnswerLost, BmcRefused, BmcUnreachable, LoginRefused, ResourceGone
from provisioner.firmware.stages import STRENGTH
from provisioner.leases.login_budget import LoginBudget
from provisioner.models.boot import BootMethod
from provisioner.models.identifiers import TaskUri
from provisioner.models.inventory import (
    BootAbilities,
    FirmwareComponent,
    Identity,
    Inventory,
    Power,
    Processor,
    Task,
)
from provisioner.models.node import BmcAddress
from provisioner.models.secret import Credentials, Secret
from provisioner.models.update import CycleVerb, UpdateOffer, UpdateOrder
from tests.operations.server import Flash, Server, now

R = TypeVar("R")

REQUEST_SECONDS = 0.2
_FIRMWARE = "/redfish/v1/UpdateService/FirmwareInventory/"
_ARCHITECTURES = {"arm64": "aarch64"}


class SimulatedBmc:
    """One BMC, logged in."""

    def __init__(self, address: BmcAddress, server: Server, credentials: Credentials) -> None:
        """Made by `SimulatedBmcs`."""
        self.address = address
        self._server = server
        self._credentials = credentials

    @property
    def must_change_password(self) -> bool:
        """As the server says."""
        return self._server.must_change_password

    async def identity(self) -> Identity:
        """Who it says it is."""
        await self._read()
        match = self._server.release.hardware_class.match
        plain = [glob.replace("*", "").strip() for glob in (match.manufacturer[0], match.model[0])]
        return Identity(self._server.serial, self._server.uuid, *plain)

    async def inventory(self) -> Inventory:
        """Everything."""
        identity, firmware = await self.identity(), await self.firmware()
        match = self._server.release.hardware_class.match
        gpu = match.gpu_model[0].replace("*", "")
        return Inventory(
            identity=identity,
            power=self._server.power,
            architecture=_ARCHITECTURES.get(match.arch, match.arch),
            processors=tuple(
                Processor(f"GPU_SXM_{n + 1}", "GPU", gpu)
                for n in range(self._server.gpus if self._server.power is Power.ON else 0)
            ),
            memory_gib=2048.0,
            macs=(),
            firmware=firmware,
            boot=BootAbilities(("None", "Pxe", "UefiHttp"), http_boot_uri=True),
            requests=2,
        )

    async def firmware(self) -> tuple[FirmwareComponent, ...]:
        """What runs."""
        await self._read()
        copying = now() < self._server.copies_until
        return tuple(
            FirmwareComponent(
                key, _FIRMWARE + key, part.name or key, part.reported, updateable=True, copying=copying and number == 0
            )
            for number, (key, part) in enumerate(self._server.listed_parts().items())
        )

    async def change_password(self, username: str, password: Secret) -> None:  # noqa: ARG002  as the protocol
        """The session goes on with the new one."""

        def act() -> None:
            self._server.password = password.reveal()
            self._server.must_change_password = False
            self._server.sessions += 1

        await self._write(act, before_change=True)

    async def power(self) -> Power:
        """Of the host."""
        await self._read()
        return self._server.power

    async def post_done(self) -> bool:
        """On and past it."""
        await self._read()
        return self._server.power is Power.ON and not self._server.in_post

    async def reset(self, reset_type: str) -> None:
        """On or off."""
        await self._write(lambda: self._server.reset(reset_type))

    async def reset_bmc(self) -> None:
        """Away."""
        await self._write(self._server.reset_bmc)

    async def bios(self) -> Mapping[str, BiosValue]:
        """In force."""
        await self._read()
        return dict(self._server.bios)

    async def pending_bios(self) -> Mapping[str, BiosValue]:
        """Waiting for a reset."""
        await self._read()
        return dict(self._server.bios_pending)

    async def set_bios(self, attributes: Mapping[str, BiosValue]) -> None:
        """For the next start. iDRAC takes nothing while a job is scheduled."""
        if self._server.bios_pending:
            raise BmcRefused(str(self.address), "a configuration job is scheduled already", 400)
        values = {name: value for name, value in attributes.items() if value is not None}
        await self._write(lambda: self._server.bios_pending.update(values))

    async def boot_override(self) -> tuple[str, str, str | None]:
        """As set."""
        await self._read()
        return self._server.override

    async def secure_boot(self) -> bool | None:
        """As the fault says."""
        await self._read()
        return self._server.faults.secure_boot

    async def set_boot_override(self, method: BootMethod) -> None:
        """Once."""
        if method.target in self._server.faults.refuses_boot:
            raise BmcRefused(str(self.address), f"{method.target} is not possible", 400)
        target = method.target if method.uri is None else self._server.faults.boots_from or method.target
        override = ("Once", target, method.uri.reveal() if method.uri else None)

        def act() -> None:
            self._server.override = override

        await self._write(act)

    async def update_offer(self) -> UpdateOffer:
        """It fetches packages."""
        await self._read()
        return UpdateOffer((Transport.SIMPLE_UPDATE,))

    async def start_update(self, order: UpdateOrder) -> TaskUri | None:
        """One flash at a time; without targets, of all parts that the package is for."""
        digest = order.package.path.name
        return TaskUri(await self._write(lambda: self._server.start_flash(order.targets, digest)))

    async def start_staged(self) -> TaskUri | None:
        """Nothing waits for it here."""
        raise BmcRefused(str(self.address), "offers no UpdateService.StartUpdate", 501)

    async def cycle(self, activation: Activation) -> None:
        """The board's power, off and on."""
        if await self.cycle_verb(activation) is None:
            raise BmcRefused(str(self.address), f"offers no verb for {activation}", 501)
        await self._write(lambda: self._server.cycle(activation))

    async def cycle_verb(self, activation: Activation) -> CycleVerb | None:
        """As the server says."""
        await self._read()
        if activation not in self._server.cycles:
            return None
        return CycleVerb(f"Simulated.{activation}", self._server.cycles[activation], activation)

    async def stronger_verbs(self, done: Activation, parts: Sequence[FirmwareComponent]) -> tuple[CycleVerb, ...]:  # noqa: ARG002
        """It has no chassis inside."""
        kinds = [one for one in (Activation.AUX_CYCLE, Activation.AC_CYCLE) if STRENGTH[one] > STRENGTH[done]]
        verbs = [await self.cycle_verb(one) for one in kinds]
        return tuple(one for one in verbs if one is not None)[:1]

    async def cycle_by(self, verb: str) -> None:
        """By its name."""
        await self.cycle(Activation(verb.removeprefix("Simulated.")))

    async def ready(self) -> bool:
        """It answers, and shows all of its parts."""
        try:
            await self._read()
        except BmcUnreachable:
            return False
        return len(self._server.listed_parts()) == len(self._server.parts)

    async def task(self, uri: TaskUri) -> Task:
        """One look."""
        await self._read()
        self._server.polls += 1
        flash = next((one for one in self._server.flashes if one.uri == uri and one.listed), None)
        if flash is not None and self._server.polls == self._server.faults.vanishing_poll:
            flash.listed = False
        if flash is None or not flash.listed:
            raise ResourceGone(str(self.address), f"GET {uri}: 404")
        return self._task(flash)

    async def tasks(self) -> tuple[Task, ...]:
        """Those that it remembers, newest first, as some BMCs list them."""
        await self._read()
        return tuple(self._task(flash) for flash in reversed(self._server.flashes) if flash.listed)

    def _task(self, flash: Flash) -> Task:
        status = "Critical" if flash.state == "Exception" else "OK"
        percent = min(100, int(100 * (now() - flash.started_at) / flash.seconds))
        targets = () if self._server.faults.hides_tasks else flash.targets
        return Task(flash.uri, flash.state, status, percent, (f"update {flash.state}",), targets)

    async def _read(self, *, before_change: bool = False) -> None:
        await asyncio.sleep(REQUEST_SECONDS)
        if self._server.is_away():
            raise BmcUnreachable(str(self.address), "no connection")
        if self._server.must_change_password and not before_change:
            raise BmcRefused(str(self.address), "PasswordChangeRequired", 403)

    async def _write(self, act: Callable[[], R], *, before_change: bool = False) -> R:
        await self._read(before_change=before_change)
        number, self._server.writes = self._server.writes, self._server.writes + 1
        acted = dict(self._server.faults.lost).get(number)
        if acted is None:
            return act()
        if acted:
            act()
        raise AnswerLost(str(self.address), "the answer never came")


@dataclass(slots=True)
class SimulatedBmcs:
    """`Bmcs`: one lease and one session each."""

    budget: LoginBudget
    servers: dict[BmcAddress, Server] = field(default_factory=dict)
    _leases: dict[BmcAddress, asyncio.Lock] = field(default_factory=dict)
    _sessions: dict[BmcAddress, tuple[Credentials, int]] = field(default_factory=dict)

    @asynccontextmanager
    async def open(self, address: BmcAddress, credentials: Credentials) -> AsyncIterator[SimulatedBmc]:
        """Hold the lease, logged in."""
        server = self.servers[address]
        async with self._leases.setdefault(address, asyncio.Lock()):
            if self._sessions.get(address) != (credentials, server.sessions):
                async with self.budget.login(str(address), credentials.username):
                    await self._log_in(address, server, credentials)
            yield SimulatedBmc(address, server, credentials)

    async def probe(self, address: BmcAddress) -> Identity | None:  # noqa: ARG002  as the protocol
        """Nobody asks."""
        return None

    async def close(self) -> None:
        """Nothing is open."""

    async def _log_in(self, address: BmcAddress, server: Server, credentials: Credentials) -> None:
        self._sessions.pop(address, None)
        await asyncio.sleep(REQUEST_SECONDS)
        if server.is_away():
            raise BmcUnreachable(str(address), "no connection")
        right = credentials.password.reveal() == server.password
        server.logins.append(right)
        if not right:
            raise LoginRefused(str(address), "401")
        self._sessions[address] = (credentials, server.sessions)
