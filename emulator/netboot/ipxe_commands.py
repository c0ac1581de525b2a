"""The commands of iPXE that boot scripts use. https://ipxe.org/cmd."""

from types import MappingProxyType

from emulator.netboot.fetch import File
from emulator.netboot.image import Kind, kind_of
from emulator.netboot.ipxe import Command, CommandFailed, Image, Ipxe

_WITH_VALUE = frozenset({"--name", "-n", "--timeout", "-t", "--default", "-d", "--key", "-k", "--drive", "--ext"})
_LONGEST_SLEEP_SECONDS = 3600


async def _set(ipxe: Ipxe, words: list[str]) -> None:
    name, *text = _some(words, "set", 1)
    ipxe.settings.set(name, " ".join(text))


async def _clear(ipxe: Ipxe, words: list[str]) -> None:
    ipxe.settings.set(_some(words, "clear", 1)[0], "")


async def _isset(_ipxe: Ipxe, words: list[str]) -> None:
    if not _some(words, "isset", 1)[0]:
        raise CommandFailed("isset: it is not set")


async def _iseq(_ipxe: Ipxe, words: list[str]) -> None:
    one, other = _some(words, "iseq", 2)[:2]
    if one != other:
        raise CommandFailed("iseq: they differ")


async def _inc(ipxe: Ipxe, words: list[str]) -> None:
    name, *step = _some(words, "inc", 1)
    value = _number(ipxe.settings.get(name) or "0", "inc") + _number(step[0] if step else "1", "inc")
    ipxe.settings.set(name, str(value))


async def _goto(ipxe: Ipxe, words: list[str]) -> None:
    label = _some(words, "goto", 1)[0]
    script = ipxe.scripts[-1]
    for number, line in enumerate(script.lines):
        if line.split()[:1] == [f":{label}"]:
            script.next, script.jumped = number, True
            return
    raise CommandFailed(f"goto: there is no label '{label[:40]}'")


async def _exit(ipxe: Ipxe, words: list[str]) -> None:
    status = _number(words[0], "exit") if words else 0
    ipxe.scripts[-1].status = status
    if status:
        raise CommandFailed(f"the script ended with exit {status}")


async def _sleep(ipxe: Ipxe, words: list[str]) -> None:
    await ipxe.sleep(min(_number(_some(words, "sleep", 1)[0], "sleep"), _LONGEST_SLEEP_SECONDS))


async def _kernel(ipxe: Ipxe, words: list[str]) -> None:
    ipxe.selected = await _image(ipxe, words, "kernel")


async def _initrd(ipxe: Ipxe, words: list[str]) -> None:
    await _image(ipxe, words, "initrd")


async def _imgfetch(ipxe: Ipxe, words: list[str]) -> None:
    await _image(ipxe, words, "imgfetch")


async def _imgselect(ipxe: Ipxe, words: list[str]) -> None:
    _, left = _options(words)
    ipxe.selected = _loaded(ipxe, _some(left, "imgselect", 1)) or await _image(ipxe, words, "imgselect")


async def _imgargs(ipxe: Ipxe, words: list[str]) -> None:
    name, *arguments = _some(words, "imgargs", 1)
    image = _named(ipxe, name)
    if image is None:
        raise CommandFailed(f"imgargs: no image is named '{name[:40]}'")
    image.arguments = tuple(arguments)


async def _imgfree(ipxe: Ipxe, words: list[str]) -> None:
    ipxe.images = [image for image in ipxe.images if words and image.name not in words]
    if ipxe.selected not in ipxe.images:
        ipxe.selected = None


async def _boot(ipxe: Ipxe, words: list[str]) -> None:
    _, left = _options(words)
    image = (_loaded(ipxe, left) or await _image(ipxe, words, "boot")) if left else ipxe.selected
    if image is None:
        raise CommandFailed("boot: no kernel was selected")
    await ipxe.start(image)


async def _chain(ipxe: Ipxe, words: list[str]) -> None:
    options, left = _options(words)
    image = _loaded(ipxe, _some(left, "chain", 1)) or await _image(ipxe, words, "chain")
    replaces = "--replace" in options or "-r" in options
    await ipxe.start(image)
    if options.keys() & {"--autofree", "-a"}:
        ipxe.images = [one for one in ipxe.images if one is not image]
    if replaces:
        ipxe.scripts[-1].status = 0


async def _sanboot(ipxe: Ipxe, words: list[str]) -> None:
    options, left = _options(words)
    if left or "--drive" not in options:
        raise CommandFailed("sanboot: the emulator has no SAN; --drive boots the next device")
    for script in ipxe.scripts:
        script.status = 0


async def _cpuid(ipxe: Ipxe, _words: list[str]) -> None:
    if ipxe.settings.get("buildarch") != "x86_64":
        raise CommandFailed("cpuid: not this architecture")


async def _prompt(_ipxe: Ipxe, words: list[str]) -> None:
    options, _ = _options(words)
    if not options.keys() & {"--timeout", "-t"}:
        raise CommandFailed("prompt: nobody is there to press a key")
    raise CommandFailed("prompt: no key was pressed")


async def _menu(ipxe: Ipxe, _words: list[str]) -> None:
    ipxe.menu = []


async def _item(ipxe: Ipxe, words: list[str]) -> None:
    options, left = _options(words)
    if left and not options.keys() & {"--gap", "-g"}:
        ipxe.menu.append(left[0])


async def _choose(ipxe: Ipxe, words: list[str]) -> None:
    options, left = _options(words)
    name = _some(left, "choose", 1)[-1]
    if not options.keys() & {"--timeout", "-t"}:
        raise CommandFailed("choose: nobody is there to choose; --timeout takes the default")
    chosen = options.get("--default") or options.get("-d") or next(iter(ipxe.menu), "")
    if not chosen:
        raise CommandFailed("choose: the menu is empty")
    ipxe.settings.set(name, chosen)


async def _nobody(_ipxe: Ipxe, _words: list[str]) -> None:
    raise CommandFailed("the script waits for a person or ends the power, and the emulator does neither")


async def _nothing(_ipxe: Ipxe, _words: list[str]) -> None:
    """The network is there from the start, and nobody looks at the screen."""


async def _image(ipxe: Ipxe, words: list[str], command: str) -> Image:
    options, left = _options(words)
    address, *arguments = _some(left, command, 1)
    file = await ipxe.load(address)
    _check_bootable(file, command)
    name = options.get("--name") or options.get("-n") or file.url.partition("?")[0].rpartition("/")[2]
    image = Image(name, file, tuple(arguments))
    ipxe.images.append(image)
    return image


def _check_bootable(file: File, command: str) -> None:
    if command == "chain" and kind_of(file.content) is Kind.OTHER:
        raise CommandFailed("chain: neither a script nor a program (Exec format error)")


def _options(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """The options in front, and what is left; `--name x` and `--name=x` are the same."""
    options: dict[str, str] = {}
    left = list(words)
    while left and left[0].startswith("-") and len(left[0]) > 1:
        word = left.pop(0)
        if word == "--":
            break
        name, separator, value = word.partition("=")
        if not separator and name in _WITH_VALUE and left:
            value = left.pop(0)
        options[name] = value
    return options, left


def _named(ipxe: Ipxe, name: str) -> Image | None:
    return next((image for image in ipxe.images if image.name == name), None)


def _loaded(ipxe: Ipxe, words: list[str]) -> Image | None:
    """An image that is in memory, by its name; words behind the name become its arguments."""
    image = _named(ipxe, words[0])
    if image and words[1:]:
        image.arguments = tuple(words[1:])
    return image


def _some(words: list[str], command: str, count: int) -> list[str]:
    if len(words) < count:
        raise CommandFailed(f"{command}: it needs {count} words more")
    return words


def _number(text: str, command: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise CommandFailed(f"{command}: '{text[:40]}' is no number") from None


COMMANDS: MappingProxyType[str, Command] = MappingProxyType(
    {
        "set": _set,
        "clear": _clear,
        "isset": _isset,
        "iseq": _iseq,
        "inc": _inc,
        "goto": _goto,
        "exit": _exit,
        "sleep": _sleep,
        "kernel": _kernel,
        "imgselect": _imgselect,
        "imgload": _imgselect,
        "initrd": _initrd,
        "module": _initrd,
        "imgfetch": _imgfetch,
        "imgargs": _imgargs,
        "imgfree": _imgfree,
        "boot": _boot,
        "imgexec": _boot,
        "chain": _chain,
        "sanboot": _sanboot,
        "cpuid": _cpuid,
        "prompt": _prompt,
        "menu": _menu,
        "item": _item,
        "choose": _choose,
        **dict.fromkeys(("shell", "reboot", "poweroff", "login", "read"), _nobody),
        **dict.fromkeys(
            ("echo", "dhcp", "ifopen", "ifclose", "ifconf", "ifstat", "iflinkwait", "route", "show", "imgstat"),
            _nothing,
        ),
        **dict.fromkeys(("console", "colour", "cpair", "nslookup", "ntp", "sync", "imgtrust"), _nothing),
    }
)
