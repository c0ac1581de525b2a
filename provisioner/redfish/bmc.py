"""One BMC as operations see it: every method reads or acts once."""

from collections.abc import Mapping, Sequence

from profiles.firmware.component import Activation
from provisioner.capabilities.bmcs import BiosValue
from provisioner.errors import BmcRefused, BmcUnreachable, ResourceGone
from provisioner.models.boot import BootMethod
from provisioner.models.identifiers import TaskUri
from provisioner.models.inventory import FirmwareComponent, Identity, Inventory, Power, Task
from provisioner.models.secret import Credentials, Secret
from provisioner.models.update import CycleVerb, UpdateOffer, UpdateOrder
from provisioner.redfish import (
    accounts,
    background_copy,
    bios,
    boot,
    cycles,
    inventory,
    readiness,
    reset,
    started,
    tasks,
    update_requests,
    update_service,
    updates,
)
from provisioner.redfish.access import Access
from provisioner.redfish.chassis_holding import holding
from provisioner.redfish.expand import ExpandVerdicts
from provisioner.redfish.explore import explore
from provisioner.redfish.layout import Layout
from provisioner.redfish.reader import Reader, together
from provisioner.redfish.redact import redacted
from provisioner.redfish.snapshot import Document, Members, link
from provisioner.redfish.sweep import sweep

NOT_OFFERED = 501


class RedfishBmc:
    """Implements `Bmc` while its caller holds the lease."""

    def __init__(self, access: Access, verdicts: ExpandVerdicts) -> None:
        """Made by `RedfishBmcs.open`."""
        self.address = access.channel.address
        self._access = access
        self._verdicts = verdicts

    @property
    def must_change_password(self) -> bool:
        """The BMC said at login that the password must be changed first."""
        return self._access.channel.must_change_password

    async def identity(self) -> Identity:
        """Who the server says it is."""
        layout = await self._layout()
        host = await self._access.essential(layout.host)
        known = inventory.identity_of(host)
        if known.serial:
            return known
        _, chassis = await self._reader(layout).members(link(layout.root, "Chassis"))
        return inventory.identity_of(host, inventory.enclosure_serial(layout.host, (one for _, one in chassis)))

    async def inventory(self) -> Inventory:
        """The whole sweep; `requests` counts its GETs, those that found the host included when they were needed."""
        before, channel, systems = self._access.requests, self._access.channel, None
        if channel.layout is None:
            channel.layout, systems = await explore(self._access)
        layout = channel.layout
        snapshot = await sweep(self._reader(layout), layout, systems)
        return inventory.inventory_of(self._access.bmc, snapshot, layout, requests=self._access.requests - before)

    async def firmware(self) -> tuple[FirmwareComponent, ...]:
        """The firmware inventory, and which of it is being copied now."""
        layout = await self._layout()
        listed = await self._place("UpdateService", "FirmwareInventory")
        _, members = await self._reader(layout).members(listed)
        known = self._access.channel.firmware
        if known is None or known[0] != members:
            components = inventory.firmware_in(members, layout.traits)
            known = self._access.channel.firmware = (members, components)
        if not background_copy.may_have_roots(known[1]):
            return known[1]
        return background_copy.marked(known[1], await self._roots_of_trust(layout))

    async def change_password(self, username: str, password: Secret) -> None:
        """Set the password of `username`; when it is our own, the session ends and the next call uses the new one."""
        layout_root = await self._access.document("/redfish/v1/")
        reader = Reader(self._access, self._verdicts, "", {})
        path = await accounts.account_path(reader, layout_root, self._access.channel, username)
        with redacted(password.reveal()):
            await self._access.act(accounts.set_password(path, password))
        ours = self._access.channel.credentials
        if ours and ours.username == username:
            await self._access.log_out()
            self._access.channel.credentials = Credentials(username, password)

    async def power(self) -> Power:
        """PowerState of the host."""
        return inventory.power_of(self._access.bmc, await self._host())

    async def post_done(self) -> bool:
        """The host is on and not known to be in POST."""
        host = await self._host()
        if inventory.power_of(self._access.bmc, host) is not Power.ON:
            return False
        return not boot.in_post(host)

    async def reset(self, reset_type: str) -> None:
        """ComputerSystem.Reset by the allowed type that comes closest."""
        layout = await self._layout()
        await self._access.act(reset.reset_host(self._access.bmc, layout.host, reset_type))

    async def reset_bmc(self) -> None:
        """Manager.Reset of the host's manager; its sessions are usually lost, which the next call repairs."""
        layout = await self._layout()
        if layout.manager is None:
            raise BmcRefused(self._access.bmc, "names no manager of the host", NOT_OFFERED)
        await self._access.act(reset.reset_manager(self._access.bmc, layout.manager))

    async def bios(self) -> Mapping[str, BiosValue]:
        """The attributes in force; empty where the server has no Bios resource."""
        _, document = await self._bios()
        return bios.attributes_of(document)

    async def pending_bios(self) -> Mapping[str, BiosValue]:
        """What the settings object holds; empty where there is none."""
        layout, document = await self._bios()
        return bios.attributes_of(await self._reader(layout).optional(bios.settings_of(document)))

    async def set_bios(self, attributes: Mapping[str, BiosValue]) -> None:
        """Stage `attributes` for the next host reset."""
        _, document = await self._bios()
        path = link(document)
        if not document or not path:
            raise BmcRefused(self._access.bmc, "has no Bios resource", NOT_OFFERED)
        await self._access.act(bios.stage(document, path, attributes))

    async def boot_override(self) -> tuple[str, str, str | None]:
        """BootSourceOverrideEnabled, BootSourceOverrideTarget, HttpBootUri."""
        settings = await self._boot()
        enabled, target = settings.get("BootSourceOverrideEnabled"), settings.get("BootSourceOverrideTarget")
        return str(enabled or ""), str(target or ""), boot.uri_of(settings)

    async def secure_boot(self) -> bool | None:
        """Firmware will refuse what is not signed, at the next start; None where there is no SecureBoot resource."""
        layout = await self._layout()
        host = await self._access.essential(layout.host)
        return boot.secure_boot_of(await self._reader(layout).optional(link(host, "SecureBoot")))

    async def set_boot_override(self, method: BootMethod) -> None:
        """Boot once from the network as `method` says."""
        layout = await self._layout()
        mode = boot.mode_to_send(await self._boot(), layout.traits)
        secret = method.uri.reveal() if method.uri else ""
        with redacted(secret):
            await self._access.act(boot.override_once(self._access.bmc, layout.host, method, mode=mode))

    async def update_offer(self) -> UpdateOffer:
        """How the BMC takes firmware now."""
        return (await self._updating()).offer

    async def start_update(self, order: UpdateOrder) -> TaskUri | None:
        """Start one update."""
        return await (await self._updates()).start(await self._updating(), order)

    async def start_staged(self) -> TaskUri | None:
        """UpdateService.StartUpdate."""
        return await (await self._updates()).start_staged(await self._updating())

    async def cycle(self, activation: Activation) -> None:
        """AUX_CYCLE or AC_CYCLE."""
        await self._cut(await self._cycle(activation), f"verb for {activation}")

    async def cycle_verb(self, activation: Activation) -> CycleVerb | None:
        """The verb that `cycle` would use."""
        cycle = await self._cycle(activation)
        return cycle.verb if cycle else None

    async def stronger_verbs(self, done: Activation, parts: Sequence[FirmwareComponent]) -> tuple[CycleVerb, ...]:
        """The next in strength."""
        layout, found = await self._cycles(every=True)
        holders = await holding(self._reader(layout), layout, parts, found)
        return tuple(one.verb for one in cycles.stronger(found, done, holders))

    async def cycle_by(self, verb: str) -> None:
        """The verb of this name."""
        _, found = await self._cycles(every=True)
        await self._cut(next((one for one in found if one.name == verb), None), verb)

    async def ready(self) -> bool:
        """All that an update needs answers whole. What was known of its places is looked up anew."""
        try:
            self._access.channel.layout = self._access.channel.firmware = None
            self._access.channel.places.clear()
            return await readiness.is_ready(self._access, self._reader(await self._layout()))
        except (BmcUnreachable, ResourceGone, BmcRefused):
            return False

    async def task(self, uri: TaskUri) -> Task:
        """One look at a task or its monitor. Raises `ResourceGone` when the BMC has forgotten it."""
        try:
            return tasks.task_of(uri, await self._access.get_any(uri))
        except (BmcRefused, ResourceGone) as error:
            found = next((one for one in await self._task_members() if started.stands_for(uri, *one)), None)
            if found is not None:  # the task behind a monitor knows more than the monitor, and outlives it
                return tasks.listed(TaskUri(found[0]), found[1])
            if isinstance(error, ResourceGone):
                raise
            return tasks.failed(uri, error.message)  # a monitor hands on the refusal of the request that it stands for

    async def tasks(self) -> tuple[Task, ...]:
        """All tasks that the BMC lists."""
        return tuple(tasks.listed(TaskUri(path), document) for path, document in await self._task_members())

    async def _task_members(self) -> Members:
        layout = await self._layout()
        _, members = await self._reader(layout).members(await self._place("Tasks", "Tasks"))
        return members

    async def _cycle(self, activation: Activation) -> cycles.Cycle | None:
        _, found = await self._cycles(every=False)
        return cycles.chosen(found, activation)

    async def _cycles(self, *, every: bool) -> tuple[Layout, list[cycles.Cycle]]:
        layout, document = await self._bios()
        host = await self._access.essential(layout.host)
        return layout, await cycles.offered(self._reader(layout), layout, host, document, every=every)

    async def _cut(self, cycle: cycles.Cycle | None, wanted: str) -> None:
        if cycle is None:
            raise BmcRefused(self._access.bmc, f"offers no {wanted}", NOT_OFFERED)
        if cycle.target is not None:
            await self._access.act(update_requests.post(cycle.target, cycle.body))
            return
        await self.set_bios(cycle.body)
        await self.reset("ForceRestart" if await self.power() is Power.ON else "On")

    async def _roots_of_trust(self, layout: Layout) -> Members:
        """Read all chassis once per session, then only those that copy."""
        reader, known = self._reader(layout), self._access.channel.roots_of_trust
        if known is None:
            _, chassis = await reader.members(link(layout.root, "Chassis"))
            self._access.channel.roots_of_trust = known = background_copy.roots_in(chassis)
            return [(path, one) for path, one in chassis if path in known]
        documents = await together([reader.optional(path) for path in known])
        return [(path, one or {}) for path, one in zip(known, documents, strict=True)]

    async def _updates(self) -> updates.Updates:
        return updates.Updates(self._access, await self._place("Tasks", "Tasks"), self.tasks)

    async def _updating(self) -> update_service.UpdateService:
        layout = await self._layout()
        document = await self._update_service(layout)
        info = await self._reader(layout).optional(update_service.needs_action_info(document))
        return update_service.read(document, info)

    async def _place(self, service: str, name: str) -> str | None:
        """Where a service of the root keeps something; read once per session. None where there is no such service."""
        places = self._access.channel.places
        if service not in places:
            layout = await self._layout()
            document = await self._update_service(layout) if service == "UpdateService" else None
            document = document or await self._reader(layout).optional(link(layout.root, service))
            places[service] = link(document, name)
        return places[service]

    async def _layout(self) -> Layout:
        channel = self._access.channel
        if channel.layout is None:
            channel.layout, _ = await explore(self._access)
        return channel.layout

    def _reader(self, layout: Layout) -> Reader:
        return Reader(self._access, self._verdicts, layout.edition, layout.root)

    async def _host(self) -> Document:
        return await self._access.essential((await self._layout()).host)

    async def _boot(self) -> Document:
        layout = await self._layout()
        host = await self._access.essential(layout.host)
        settings = await self._reader(layout).optional(link(host, "@Redfish.Settings", "SettingsObject"))
        return boot.boot_of(host, settings)

    async def _bios(self) -> tuple[Layout, Document | None]:
        layout = await self._layout()
        host = await self._access.essential(layout.host)
        return layout, await self._reader(layout).optional(link(host, "Bios"))

    async def _update_service(self, layout: Layout) -> Document:
        path = link(layout.root, "UpdateService")
        if path is None:
            raise BmcRefused(self._access.bmc, "has no UpdateService", NOT_OFFERED)
        return await self._access.essential(path)
