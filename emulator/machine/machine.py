"""One machine: its board and the parts that work on it."""

import asyncio
import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from emulator.background import run_in_background
from emulator.faults.fault import Arguments
from emulator.machine.accounts import Accounts
from emulator.machine.ailments import tell_ill, tell_well
from emulator.machine.bios_settings import BiosSettings
from emulator.machine.board import Board
from emulator.machine.firmware import Firmware
from emulator.machine.host import Host
from emulator.machine.instruments import Instruments
from emulator.machine.logs import Logs
from emulator.machine.network_boot import NetworkBoot
from emulator.machine.outage import Outage
from emulator.machine.power_feeds import FEEDS, NONE
from emulator.machine.secure_boot import SecureBoot
from emulator.machine.sensor_watch import SensorWatch
from emulator.machine.sessions import Sessions
from emulator.machine.streams import Streams
from emulator.machine.subscriptions import Subscriptions
from emulator.machine.surroundings import Surroundings
from emulator.machine.tasks import Tasks
from emulator.machine.telemetry import Telemetry
from emulator.machine.virtual_media import VirtualMedia
from emulator.tree import places

_ANSWER_SECONDS = 0.05
_REQUEST_KINDS = 5000  # distinct requests that are counted; paths beyond are counted as "other"


class Machine:
    """A server and its BMC, as they are; redfish/ shows them to clients."""

    bmc_started_at = datetime.fromtimestamp(0, UTC)

    def __init__(self, board: Board, surroundings: Surroundings) -> None:
        """Everything is as the board remembers it; nothing runs before `start`."""
        self.board = board
        self.events = board.events
        self.client = surroundings.client
        self.accounts = Accounts(board)
        self.sessions = Sessions(board)
        self.tasks = Tasks(board)
        self.bios = BiosSettings(board, self.tasks)
        self.secure_boot = SecureBoot(board)
        self.firmware = Firmware(board, self.tasks, self.reset_bmc_soon)
        self.media = VirtualMedia(board)
        self.boot = NetworkBoot(board, self.bios, self.media, surroundings)
        self.host = Host(board, self.boot, self._host_starts)
        self.host.posted = self.bios.finish
        self.logs = Logs(board)
        self.subscriptions = Subscriptions(board, self.client)
        self.streams = Streams(board)
        self.telemetry = Telemetry(board, self.subscriptions, self.streams)
        self.sensors = SensorWatch(board, self.instruments, self._has_listeners, surroundings.pace)
        for listener in (self.logs.record, self.subscriptions.offer, self.streams.offer):
            self.events.listen(listener)
        self.tasks.changed = lambda task, what: self.events.publish(
            f"TaskEvent.{what}", task.id, origin=f"{places.TASKS}/{task.id}"
        )
        self.outage = Outage(board)
        self.firmware.restart_host = self._restart_host
        self.host.write_in_post = self.firmware.run_in_post
        self.requests: Counter[str] = Counter()
        self._bmc_down: asyncio.TimerHandle | None = None
        self._cycle: asyncio.Task[None] | None = None
        self.disconnect: Callable[[], None] = lambda: None  # set by the listener: ends the open connections
        self.read_certificate: Callable[[], bytes] = lambda: b""  # set by the listener: key and certificate
        self.replace_certificate: Callable[[bytes], None] = lambda _pem: None  # set by the listener

    @property
    def instruments(self) -> Instruments:
        """What its sensors read."""
        return Instruments(self.board, self.host.heat)

    @property
    def has_power(self) -> bool:
        """Whether one of its feeds is live."""
        return self.board.lost_feeds != FEEDS

    @property
    def bmc_answers(self) -> bool:
        """Whether the BMC has power and is not restarting."""
        return self.has_power and self._bmc_down is None

    def start(self) -> None:
        """Begin to live; needs a running loop."""
        self.bmc_started_at = datetime.now(UTC)
        self.firmware.resume()
        self.host.resume()
        self.wake()

    async def stop(self) -> None:
        """End whatever runs."""
        if self._cycle:
            self._cycle.cancel()
        self.telemetry.stop()
        self.sensors.stop()
        self.subscriptions.stop()
        await self.host.stop()

    def wake(self) -> None:
        """Look at what nobody looked at before: call it when somebody may have begun to wait for events."""
        self.telemetry.wake()
        self.sensors.wake()

    def reset_bmc(self) -> None:
        """Restart the BMC: sessions, tasks and connections are lost, it answers again after a while."""
        outage = self.outage.begin(by_itself=self.firmware.restarts)
        self._forget()
        self.firmware.activate("bmc_reset")
        self.board.state.bmc_resets += 1
        self.bmc_started_at = datetime.now(UTC)
        self.board.save()
        if self._bmc_down:
            self._bmc_down.cancel()
        self._bmc_down = asyncio.get_running_loop().call_later(outage, self._bmc_up)

    def reset_bmc_soon(self) -> None:
        """Restart the BMC after the answer to whoever asked for it is gone."""
        asyncio.get_running_loop().call_later(_ANSWER_SECONDS, self.reset_bmc)

    def lose_power(self) -> None:
        """Both feeds are gone: the host is off and the BMC is silent."""
        self.board.lost_feeds = FEEDS
        self._forget()
        self.firmware.slots.copy.pause()
        self.host.lose_power()

    def restore_power(self, cause: str = "ac_cycle") -> None:
        """The feeds are back: the BMC starts, the host stays off. `cause`: what the firmware takes it for."""
        self.board.lost_feeds = NONE
        self.outage.ruined = False
        self.firmware.activate(cause)
        self.firmware.resume()
        self.reset_bmc()

    def cut_power(self, kind: str, *, keeps_bmc: bool = False) -> None:
        """An AC or auxiliary (`kind`: ac, aux) power cycle, soon; a host that is on now goes on again."""
        was_on = self.host.power == "On"
        work = self._cut_power(kind, keeps_bmc, was_on)
        self._cycle = run_in_background(work, f"power cycle of {self.board.entry.name}")

    def restart_host_in(self, wall_seconds: float) -> None:
        """Restart a host that is on then."""
        asyncio.get_running_loop().call_later(max(0.0, wall_seconds), self._restart_if_on)

    def lose_feed(self, feed: str) -> None:
        """One feed is gone; the machine goes on with the other one while that is live."""
        if self.board.lost_feeds | {feed} != FEEDS:
            self.board.lost_feeds |= {feed}
        elif self.has_power:
            self.lose_power()
        self.board.touch()

    def restore_feed(self, feed: str) -> None:
        """One feed is back; a machine that had none starts as after any loss of power."""
        remaining = self.board.lost_feeds - {feed}
        if not self.has_power:
            self.restore_power()
        self.board.lost_feeds = remaining
        self.board.touch()

    def kill_agent(self) -> None:
        """Kill the process that runs on the host, if there is one."""
        self.boot.agent.kill()

    def set_fault(self, name: str, arguments: Arguments) -> None:
        """Make a fault happen from now on. Raises ValueError for an unknown one."""
        self.board.faults.set(name, arguments)
        self.board.save()
        tell_ill(self.board, name)

    def clear_fault(self, name: str) -> None:
        """Heal a fault; nothing happens when it is not there."""
        tell_well(self.board, name)
        self.board.faults.clear(name)
        self.board.save()

    def count_request(self, request: str) -> None:
        """Remember that a client asked for this."""
        known = request in self.requests or len(self.requests) < _REQUEST_KINDS
        self.requests[sys.intern(request) if known else "other"] += 1  # one string for all machines

    def truth(self) -> dict[str, Any]:
        """The physical truth, whatever the BMC tells its clients."""
        state = self.board.state
        inventory = self.firmware.inventory()
        return {
            "name": self.board.entry.name,
            "persona": self.board.persona.name,
            "place": self.board.entry.model_dump(
                include={"rack", "position", "power_domain", "nvlink_domain", "meant_for"}
            ),
            "feeds": {feed: feed not in self.board.lost_feeds for feed in sorted(FEEDS)},
            "power": self.host.power,
            "phase": self.host.phase,
            "load": self.host.heat.load,
            "bmc_answers": self.bmc_answers,
            "credentials": {"username": state.username, "password": self.accounts.factory_password},
            "firmware": {
                name: {"active": self.board.version(slot.key), "staged": self.firmware.staged(slot.key)}
                for name, slot in inventory.items()
            },
            "flashes": {name: state.flashes[slot.key] for name, slot in inventory.items() if slot.key in state.flashes},
            "bios": self.bios.current,
            "bios_pending": self.bios.pending,
            "booted_image": self.boot.booted_image,
            "agent_pid": self.boot.agent.pid,
            "agent_alive": self.boot.agent.alive,
            "media": self.media.truth(),
            "boot_error": self.boot.last_error,
            "boots": state.boots,
            "boot_failures": state.boot_failures,
            "resets": state.resets,
            "switched": state.switched,
            "bmc_resets": state.bmc_resets,
            "failed_logins": state.failed_logins,
            "locked": self.accounts.factory.locked,
            "sessions": len(self.sessions),
            "faults": self.board.faults.listing(),
            "requests": dict(self.requests),
        }

    def _forget(self) -> None:
        self.sessions.clear()
        self.accounts.unlock()
        self.firmware.abort()
        self.tasks.clear()
        self.bios.forget()
        self.telemetry.stop()
        self.sensors.stop()
        self.streams.close_all()
        self.subscriptions.abort()
        self.events.pause()
        self.disconnect()

    def _restart_host(self) -> None:
        if self.host.power == "On":
            self.host.restart()
        else:
            self.host.turn_on()

    def _host_starts(self, cold: bool) -> None:  # noqa: FBT001  (called by Host alone)
        before = self.board.bios_version
        if cold:
            self.firmware.activate("power_cycle")
        self.firmware.activate("host_reset")
        if self.board.bios_version != before:
            self._forget_settings()
        self.bios.apply()
        self.secure_boot.apply()
        if self.bios.take_cycle():
            self.cut_power("ac")

    def _forget_settings(self) -> None:
        """The BIOS is another one: some keep none of the settings of the one before."""
        board = self.board
        if board.persona.bios.defaults_after_update or board.faults.take("bios-defaults-after-update"):
            self.bios.restore_factory()
            board.state.boot_order = []

    async def _cut_power(self, kind: str, keeps_bmc: bool, was_on: bool) -> None:  # noqa: FBT001  (one caller)
        await asyncio.sleep(_ANSWER_SECONDS)
        if keeps_bmc:
            self.host.lose_power()
        else:
            self.lose_power()
        await self.board.clock.sleep(self.board.persona.durations.ac_off)
        await self.host.settled()
        self.firmware.activate(f"{kind}_cycle")
        if not keeps_bmc:
            self.restore_power(f"{kind}_cycle")
        if was_on:
            self.host.turn_on()

    def _restart_if_on(self) -> None:
        if self.host.power == "On":
            self.host.restart()

    def _has_listeners(self) -> bool:
        return bool(self.streams.listing()) or (bool(self.subscriptions.records) and self.subscriptions.enabled)

    def _bmc_up(self) -> None:
        self._bmc_down = None
        self.outage.end()
        self.events.resume()
        origin = places.bmc(self.board.persona)
        self.events.publish("OpenBMC.BMCRebootReason", "the BMC was reset", origin=origin, topic="bmc")
        self.events.publish("ResourceEvent.ResourceStateChanged", origin, "Enabled", origin=origin)
        self.wake()
