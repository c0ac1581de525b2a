"""iPXE: runs a script until it boots something, leaves, or fails. https://ipxe.org/scripting."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from urllib.parse import urljoin

from emulator.netboot.boot_error import BootError
from emulator.netboot.fetch import File, shown
from emulator.netboot.image import Kind, kind_of
from emulator.netboot.ipxe_settings import Settings

_MOST_STEPS = 2000
_DEEPEST_CHAIN = 16
_LONGEST_SCRIPT_BYTES = 2**20
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 2.0

Fetch = Callable[[str], Awaitable[File]]
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Boot:
    """What a script boots: a kernel, the other images in memory, the words of the command line."""

    images: tuple[File, ...]
    words: tuple[str, ...]


class BootsNow(Exception):
    """Ends all scripts: something else runs from here on."""

    def __init__(self, what: Boot | File) -> None:
        """`what`: a kernel with its command line, or an EFI binary."""
        super().__init__("boots")
        self.what = what


class CommandFailed(BootError):
    """A command failed; `||` may go on."""


@dataclass(slots=True)
class Image:
    """A file in memory, under the name that the script gave it."""

    name: str
    file: File
    arguments: tuple[str, ...] = ()


@dataclass(slots=True)
class Script:
    """A script that runs: where the next line is."""

    url: str
    lines: list[str]
    next: int = 0
    status: int | None = None  # of `exit`
    jumped: bool = False


Command = Callable[["Ipxe", list[str]], Awaitable[None]]


@dataclass(slots=True)
class Ipxe:
    """One run of iPXE. `fetch` gets files, `sleep` takes the seconds a script asks for."""

    fetch: Fetch
    sleep: Sleep
    settings: Settings
    commands: dict[str, Command]
    images: list[Image] = field(default_factory=list)
    selected: Image | None = None
    scripts: list[Script] = field(default_factory=list)
    menu: list[str] = field(default_factory=list)
    pause: float = _FIRST_PAUSE_SECONDS
    """How long the next failed fetch waits on the wall clock."""
    _steps: int = 0

    async def run(self, file: File) -> Boot | File | None:
        """Run a script: what it boots, or None when it leaves network boot. Raises BootError."""
        try:
            status = await self.execute(file)
        except BootsNow as end:
            return end.what
        if status is None:
            raise BootError(f"the script {shown(file.url)} ended with neither boot nor exit")
        return None

    async def execute(self, file: File) -> int | None:
        """Run a script within this run: the status of its `exit`, None at its end. Raises CommandFailed."""
        if len(self.scripts) >= _DEEPEST_CHAIN:
            raise BootError(f"scripts chain each other more than {_DEEPEST_CHAIN} deep")
        if len(file.content) > _LONGEST_SCRIPT_BYTES:
            raise BootError(f"the script {shown(file.url)} is larger than {_LONGEST_SCRIPT_BYTES} bytes")
        script = Script(file.url, _lines(file.content))
        self.scripts.append(script)
        try:
            while script.status is None and script.next < len(script.lines):
                line = script.lines[script.next]
                script.next += 1
                if not line.startswith(":"):
                    await self._line(script, line)
            return script.status
        finally:
            self.scripts.pop()

    async def load(self, address: str) -> File:
        """Fetch, relative to the script that asks. Raises CommandFailed, after a pause that grows."""
        try:
            url = urljoin(self.scripts[-1].url, address)
        except ValueError as error:
            raise CommandFailed(f"'{address[:60]}' is no address") from error
        try:
            return await self.fetch(url)
        except BootError as error:
            pause, self.pause = self.pause, min(2 * self.pause, _LONGEST_PAUSE_SECONDS)
            await asyncio.sleep(pause)  # a script that tries again must not become a load test
            raise CommandFailed(str(error), error.retry_after) from error

    async def start(self, image: Image) -> None:
        """Hand over to an image; comes back only from a script."""
        kind = kind_of(image.file.content)
        if kind is Kind.SCRIPT:
            status = await self.execute(image.file)
            if status:
                raise CommandFailed(f"the script {shown(image.file.url)} ended with status {status}")
            return
        if kind is Kind.EFI:
            raise BootsNow(image.file)
        others = tuple(one.file for one in self.images if one is not image)
        raise BootsNow(Boot((image.file, *others), image.arguments))

    async def _line(self, script: Script, line: str) -> None:
        """`a || b && c`: each command runs if the status so far says so; the status of the last counts."""
        failure: CommandFailed | None = None
        wanted = True
        for words, joint in _commands(line):
            if wanted:
                failure = await self._command(words)
            if script.jumped or script.status is not None:
                script.jumped = False
                return
            wanted = joint == ";" or (joint == "&&") == (failure is None)
        if failure:
            raise failure

    async def _command(self, words: list[str]) -> CommandFailed | None:
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise BootError(f"the script takes more than {_MOST_STEPS} steps")
        arguments = [self.settings.expand(word) for word in words]
        if not arguments:
            return None
        command = self.commands.get(arguments[0])
        try:
            if command is None:
                raise CommandFailed(f"the emulator's iPXE has no command '{arguments[0][:40]}'")
            await command(self, arguments[1:])
        except CommandFailed as error:
            return error
        return None


def _lines(content: bytes) -> list[str]:
    return [line.strip() for line in content.decode("utf-8", "replace").replace("\\\n", " ").splitlines()]


def _commands(line: str) -> list[tuple[list[str], str]]:
    """Each command of a line, with what stands behind it: `||`, `&&`, `;` or nothing; `#` begins a comment."""
    commands: list[tuple[list[str], str]] = []
    words: list[str] = []
    for word in line.split():
        if word.startswith("#"):
            break
        if word in ("||", "&&", ";"):
            commands.append((words, word))
            words = []
        else:
            words.append(word)
    return [*commands, (words, "")]
