"""What our initrd does between the kernel and the root: asks for the words of this boot, fetches the root, checks it.

It fails closed: the reason is told to the service and to whoever reads the console, and the host powers off.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from emulator.clock import Clock
from emulator.faults.active import ActiveFaults
from emulator.netboot.boot_error import BootError, LostPower, PowersOff
from emulator.netboot.boot_words import merged, needed, value, values
from emulator.netboot.curl import Curl, NoRoom, Trouble
from emulator.netboot.fetch import File, shown
from emulator.netboot.identity import Identity
from emulator.netboot.ipxe import Boot
from emulator.netboot.patience import Patience

_WORDS_TRIES = 40
_ROOT_ROUNDS = 6
_ROOT_BUSY_SECONDS = 3600.0
_REPORT_TRIES = 6
_DETAIL_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Around:
    """The host that the initrd runs on. `seconds`: emulated, from the kernel to its first request; `tell`: reasons."""

    identity: Identity
    faults: ActiveFaults
    clock: Clock
    curl: Curl
    seconds: float
    tell: Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Booted:
    """All words of this boot, and the root that they name."""

    words: tuple[str, ...]
    root: File


class _Failed(Exception):
    """Why there is no root; `kind` as the service knows it: fetch, integrity, memory."""

    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(detail)
        self.kind = kind


class Initrd:
    """One run of it."""

    def __init__(self, around: Around) -> None:
        """Nothing runs."""
        self._around = around
        self._faults = around.faults

    async def run(self, boot: Boot) -> Booted:
        """From the command line to the root. Raises PowersOff, LostPower, or BootError where the system is not ours."""
        digest, server = needed(boot.words, "root"), needed(boot.words, "server").rstrip("/")
        await self._find_network()
        words = boot.words if value(boot.words, "token") else await self._ask_for_words(server, boot.words)
        if self._faults.take("power-lost-in-initrd"):
            raise LostPower("the host lost power in its initrd")
        try:
            return Booted(words, self._bundled(boot, digest) or await self._fetch(words, digest))
        except _Failed as failed:
            await self._report(server, value(words, "token"), failed)
            raise PowersOff(f"{failed.kind}: {failed}") from failed

    async def _find_network(self) -> None:
        await self._around.clock.sleep(self._around.seconds)
        if self._faults.take("initrd-without-network"):
            raise PowersOff("network: no port of the host got an address by DHCP in the initrd")

    async def _ask_for_words(self, server: str, words: tuple[str, ...]) -> tuple[str, ...]:
        host, url, patience = self._around.identity, f"{server}/boot/words", Patience(self._around.clock, _WORDS_TRIES)
        query = {"uuid": host.uuid, "serial": host.serial, "mac": host.mac, "arch": host.arch}
        while True:
            retry_after = None
            try:
                answer = await self._around.curl.text(url, {**query, "image": needed(words, "image")})
            except BootError as error:
                reason = str(error)
            else:
                if answer.status == 409:
                    raise PowersOff(f"the service refuses this boot: {_one_line(answer.text)}")
                complete = merged(words, answer.text) if answer.status == 200 else words
                if value(complete, "token"):
                    return complete
                reason = f"{shown(url)} answered {answer.status} without words for this boot"
                retry_after = answer.retry_after
            self._around.tell(reason)
            if not await patience.wait(retry_after):
                raise PowersOff(f"no words for this boot: {reason}")

    def _bundled(self, boot: Boot, digest: str) -> File | None:
        """The root among what firmware or iPXE fetched; None: it is not there, or not what it should be."""
        found = next((file for file in boot.images if file.digest == digest), None)
        for file in boot.images:
            if file is not found:
                file.drop()
        if found is None or self._flips(found.url):
            return None
        room = self._room_bytes()
        if room is not None and found.size_bytes > room:
            raise _Failed(
                "memory", f"the root has {found.size_bytes / 2**20:.1f} MiB, the memory room for {room >> 20}"
            )
        return found

    async def _fetch(self, words: tuple[str, ...], digest: str) -> File:
        """Ask every mirror, then the service; what gave wrong bytes is not asked again."""
        left = dict.fromkeys(base.rstrip("/") for base in (*values(words, "mirror"), needed(words, "server")))
        wrong: list[str] = []
        patience = Patience(self._around.clock, _ROOT_ROUNDS, _ROOT_BUSY_SECONDS)
        while True:
            errors: list[BootError] = []
            for url in [f"{base}/v1/artefacts/{digest}" for base in left]:
                try:
                    file = await self._around.curl.download(url, self._trouble(url))
                except NoRoom as error:
                    raise _Failed("memory", str(error)) from error
                except BootError as error:
                    errors.append(error)
                    self._around.tell(str(error))
                    continue
                if file.digest == digest:
                    return file
                del left[url.removesuffix(f"/v1/artefacts/{digest}")]
                wrong.append(f"{shown(url)} sent {file.digest} instead of {digest}")
            if not left or not await patience.wait(_earliest(errors)):
                raise _Failed("integrity" if wrong else "fetch", "; ".join((*wrong, *map(str, errors))))

    async def _report(self, server: str, token: str, failed: _Failed) -> None:
        """Tell the service, as far as it can be reached; the console has it anyway."""
        url, patience = f"{server}/boot/failures", Patience(self._around.clock, _REPORT_TRIES)
        document = {"kind": failed.kind, "detail": _one_line(str(failed))}
        while True:
            try:
                answer = await self._around.curl.report(url, token, document)
            except BootError:
                retry_after = None
            else:
                if answer.final:
                    return
                retry_after = answer.retry_after
            if not await patience.wait(retry_after):
                return

    def _trouble(self, url: str) -> Trouble:
        breaks = self._faults.take("root-transfer-breaks")
        return Trouble(self._flips(url), int(breaks["bytes"]) if breaks else None, self._room_bytes())

    def _flips(self, url: str) -> bool:
        fault: Mapping[str, Any] | None = self._faults.peek("wrong-artefact")
        if fault is None or str(fault["address"]) not in url:
            return False
        self._faults.take("wrong-artefact")
        return True

    def _room_bytes(self) -> int | None:
        fault: Mapping[str, Any] | None = self._faults.peek("root-does-not-fit")
        return int(fault["mebibytes"]) << 20 if fault else None


def _earliest(errors: list[BootError]) -> float | None:
    """When a server wants to be asked again; None: none says."""
    return min((error.retry_after for error in errors if error.retry_after is not None), default=None)


def _one_line(text: str) -> str:
    plain = "".join(mark if mark.isprintable() else " " for mark in text.strip().partition("\n")[0])
    return plain[:_DETAIL_CHARACTERS]
