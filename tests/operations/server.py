"""One simulated GPU server: power, self-test, firmware slots, BIOS, accounts."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from profiles.firmware.component import Activation, FirmwareComponent
from profiles.release import Release
from provisioner.models.inventory import Power
from provisioner.versions import extract
from tests.operations.server_faults import Faults

ON_SECONDS, OFF_SECONDS, POST_SECONDS, BMC_RESET_SECONDS = 5.0, 4.0, 240.0, 200.0
SETTLING_SECONDS = 60.0
FACTORY = "label-password"
_FORMS = ("{}", "BIOS Date: 02/14/2025 Ver {}", "{}_n04", "{} Feb 21 2024", "A47 v{} (02/22/2024)")
"""How Supermicro, NVIDIA and HPE write a version; the first that the catalog's pattern reads."""


@dataclass(slots=True)
class Part:
    """One entry of the firmware inventory."""

    component: FirmwareComponent
    active: str
    staged: str | None = None

    @property
    def name(self) -> str:
        """As catalogs know it; empty where they go by ids alone."""
        return next((glob.replace("*", "0") for glob in self.component.names), "")

    @property
    def reported(self) -> str:
        """As the inventory says it: some put a date or more around the version."""
        spelled = [form.format(self.active) for form in _FORMS]
        return next((text for text in spelled if extract(text, self.component.extract) == self.active), self.active)


@dataclass(slots=True)
class Flash:
    """One update task."""

    uri: str
    targets: tuple[str, ...]
    """As ordered."""
    parts: tuple[str, ...]
    """Inventory ids."""
    versions: Mapping[str, str]
    """By component class; one for any class, or one for each of a whole board."""
    started_at: float
    seconds: float
    state: str = "Running"
    listed: bool = True

    def brings(self, component: FirmwareComponent) -> str:
        """The version for parts of this class."""
        return self.versions.get(component.component) or next(iter(self.versions.values()))


@dataclass(slots=True)
class Server:
    """Its physical truth, and counts of what was done to it."""

    name: str
    release: Release
    serial: str
    uuid: str
    faults: Faults = field(default_factory=Faults)
    gpus: int = -1
    password: str = FACTORY
    must_change_password: bool = False
    power: Power = Power.ON
    in_post: bool = False
    on_boot: Callable[[], None] = lambda: None
    on_power_lost: Callable[[], None] = lambda: None
    parts: dict[str, Part] = field(default_factory=dict)
    packages: dict[str, dict[str, str]] = field(default_factory=dict)
    """By digest, the versions of component classes: what the vendor has made for it."""
    flashes: list[Flash] = field(default_factory=list)
    bios: dict[str, str | int | bool] = field(default_factory=dict)
    bios_pending: dict[str, str | int | bool] = field(default_factory=dict)
    override: tuple[str, str, str | None] = ("Disabled", "None", None)
    cycles: dict[Activation, bool] = field(default_factory=lambda: {Activation.AUX_CYCLE: True})
    """What it offers to cut its standby power or its mains, and whether the host has to be off first."""
    away_until: float = 0.0
    sessions: int = 0
    """Grows when all sessions are lost."""
    logins: list[bool] = field(default_factory=list)
    """Every login that reached the BMC, and whether it was right."""
    host_starts: int = 0
    bmc_restarts: int = 0
    writes: int = 0
    polls: int = 0
    flashed: Counter[tuple[str, str]] = field(default_factory=Counter)
    copies_until: float = 0.0
    violations: list[str] = field(default_factory=list)
    _epoch: int = 0

    def __post_init__(self) -> None:
        """Old firmware, and a BIOS at its defaults."""
        self.learn(self.release)
        for component in self.release.firmware.components:
            for identifier in _identifiers(component.inventory[0].removeprefix("*") or component.component):
                self.parts[identifier] = Part(component, "0.1")
        for name, wanted in self.release.bios.attributes.items():
            self.bios[name] = not wanted if isinstance(wanted, bool) else "Default"
        self.gpus = self.gpus if self.gpus >= 0 else int(self.release.hardware_class.gpu_count)

    def become(self, release: Release) -> None:
        """From now on it is measured by this release."""
        self.release = release
        for part in self.parts.values():
            wanted = {one.component: one for one in release.firmware.components}
            part.component = wanted[part.component.component]

    def learn(self, release: Release) -> None:
        """Its firmware fits this server."""
        for one in release.firmware.components:
            for listed in one.releases:
                self.packages.setdefault(listed.artefact.sha256, {})[one.component] = listed.version
            self.packages.setdefault(one.artefact.sha256, {})[one.component] = one.version

    def reset(self, reset_type: str) -> None:
        """`On` or `ForceOff`; either is nothing when it is so already."""
        self._no_flash(f"reset {reset_type}")
        on = reset_type == "On"
        if on and self.power in {Power.OFF, Power.POWERING_OFF}:
            self.power = Power.POWERING_ON
            self._later(ON_SECONDS, self._start_host)
        elif not on and self.power in {Power.ON, Power.POWERING_ON}:
            self.on_power_lost()
            self.power = Power.POWERING_OFF
            self._later(OFF_SECONDS, self._stop_host)

    def lose_power(self) -> None:
        """The feeds go dark and come back; the host stays off."""
        self._epoch += 1
        self.power, self.in_post = Power.OFF, False
        self.on_power_lost()

    def reset_bmc(self, *, by_itself: bool = False) -> None:
        """Away for a while; sessions and tasks are forgotten, a flash that runs is lost."""
        if not by_itself:
            self._no_flash("BMC reset")
        self.away_until = max(self.away_until, now() + BMC_RESET_SECONDS)
        self.sessions += 1
        self.bmc_restarts += 1
        for flash in self.flashes:
            flash.state = "Lost" if flash.state == "Running" else flash.state
            flash.listed = False
        self._activate({Activation.BMC_RESET})

    def cycle(self, activation: Activation) -> None:
        """Standby power off and on: host and BMC start anew; a host that was off stays off."""
        self._no_flash(f"{activation}")
        if self.cycles[activation] and self.power is not Power.OFF:
            self.violations.append(f"{activation} at {now():.0f} s while the host is {self.power}")
        on = self.power is Power.ON
        self.lose_power()
        self.reset_bmc()
        by = {Activation.BMC_RESET, Activation.HOST_RESET, Activation.POWER_CYCLE, Activation.AUX_CYCLE, activation}
        self._activate(by)
        if on:
            self.reset("On")

    def meant(self, targets: tuple[str, ...] | None, digest: str) -> tuple[str, ...]:
        """The inventory ids of the parts that an order is for: those that it names, or all of the package's.

        A group, an empty list and no Targets at all stand for the parts whose catalog names the same.
        """
        named = [target.rsplit("/", 1)[-1] for target in targets or ()]
        if named and all(one in self.parts for one in named):
            return tuple(named)
        as_written = "absent" if targets is None else targets or "empty"
        return tuple(
            key
            for key, part in self.parts.items()
            if part.component.targets == as_written and digest in _digests(part.component)
        )

    def start_flash(self, targets: tuple[str, ...] | None, digest: str) -> str:
        """The task's URI. A second one at the same time is a violation; so is a package that is for no part."""
        meant = self.meant(targets, digest)
        self._no_flash(f"flash of {meant}")
        if not meant:
            self.violations.append(f"a flash of {digest[:12]} with targets {targets}, which is for nothing here")
        brought = self.packages[digest]
        parts = tuple(key for key in meant if len(brought) == 1 or not self._holds(key, brought))
        minutes = {float(self.parts[key].component.expected_minutes) for key in parts}
        seconds = max(minutes, default=0.0) * 60 * 0.8
        flash = Flash(f"/tasks/{len(self.flashes)}", targets or (), parts, brought, now(), seconds)
        self.flashes.append(flash)
        asyncio.get_running_loop().call_later(seconds, self._finish, flash, len(self.flashes) - 1)
        return flash.uri

    def _holds(self, key: str, brought: Mapping[str, str]) -> bool:
        """Of the package of a whole board, devices take what they do not hold already (DSP0267)."""
        part = self.parts[key]
        return (part.staged or part.active) == brought.get(part.component.component)

    def is_away(self) -> bool:
        """The BMC does not answer now."""
        return now() < self.away_until or any(start <= now() < start + long for start, long in self.faults.away)

    def listed_parts(self) -> dict[str, Part]:
        """What the inventory shows: half of it while the BMC starts (fwupd#7593: 40 s more after it is back)."""
        shown = len(self.parts) if now() >= self.away_until + SETTLING_SECONDS or not self.bmc_restarts else 2
        return dict(list(self.parts.items())[:shown])

    def running(self) -> list[Flash]:
        """Flashes that run."""
        return [flash for flash in self.flashes if flash.state == "Running"]

    def _no_flash(self, what: str) -> None:
        if self.running():
            self.violations.append(f"{what} at {now():.0f} s while {self.running()[0].parts} are being flashed")
        if now() < self.copies_until:
            self.violations.append(f"{what} at {now():.0f} s during a copy until {self.copies_until:.0f} s")

    def _finish(self, flash: Flash, number: int) -> None:
        if flash.state != "Running":
            return
        flash.state = "Exception" if number == self.faults.failing_task else "Completed"
        if flash.state == "Completed":
            for identifier in flash.parts:
                part = self.parts[identifier]
                version = flash.brings(part.component)
                self.flashed[identifier, version] += 1
                if identifier not in self.faults.stays_old:
                    part.staged = version
            self._activate({Activation.NONE})

    def _activate(self, by: set[Activation]) -> None:
        for part in self.parts.values():
            if part.staged and part.component.activation in by:
                part.active, part.staged = part.staged, None
                self.copies_until = now() + self.faults.copies_seconds

    def _start_host(self) -> None:
        self.power, self.in_post = Power.ON, True
        self.host_starts += 1
        self._activate({Activation.HOST_RESET, Activation.POWER_CYCLE})
        self.bios |= {k: v for k, v in self.bios_pending.items() if k not in self.faults.rejects_bios}
        self.bios_pending = {}
        self._later(POST_SECONDS, self._leave_post)

    def _leave_post(self) -> None:
        self.in_post = False
        if self.faults.asks:
            self.on_boot()

    def _stop_host(self) -> None:
        self.power, self.in_post = Power.OFF, False

    def _later(self, seconds: float, action: Callable[[], None]) -> None:
        self._epoch += 1
        epoch = self._epoch

        def act() -> None:
            if epoch == self._epoch:
                action()

        asyncio.get_running_loop().call_later(seconds, act)


def now() -> float:
    """Simulated seconds since the start."""
    return asyncio.get_running_loop().time()


def _digests(component: FirmwareComponent) -> set[str]:
    return {component.artefact.sha256, *(release.artefact.sha256 for release in component.releases)}


def _identifiers(glob: str) -> list[str]:
    return [glob.replace("*", str(number)) for number in (1, 2)] if "*" in glob else [glob]
