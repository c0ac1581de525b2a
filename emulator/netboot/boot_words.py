"""The words `firstlight.key=value` of a command line."""

from collections.abc import Iterable, Sequence

from emulator.netboot.boot_error import BootError

_PREFIX = "firstlight."
_OF_ONE_BOOT = tuple(f"{_PREFIX}{key}=" for key in ("token", "node", "mirror"))


def value(words: Iterable[str], key: str) -> str:
    """The value of `firstlight.<key>`, the last one as the kernel has it; empty when it is not there."""
    return next(iter(values(tuple(words)[::-1], key)), "")


def values(words: Iterable[str], key: str) -> tuple[str, ...]:
    """All values of `firstlight.<key>`, in order."""
    start = f"{_PREFIX}{key}="
    return tuple(word.removeprefix(start) for word in words if word.startswith(start))


def needed(words: Iterable[str], key: str) -> str:
    """The value of a word; raises BootError when it is not there."""
    found = value(words, key)
    if not found:
        raise BootError(f"the command line has no {_PREFIX}{key}=")
    return found


def merged(words: Sequence[str], text: str) -> tuple[str, ...]:
    """The command line with the words of one boot, one on each line of `text`.

    They say who boots and where to fetch; what is started stands in the command line, which may be signed.
    """
    lines = (line.strip() for line in text.splitlines())
    given = (line for line in lines if line.startswith(_OF_ONE_BOOT) and len(line.split()) == 1)
    return (*words, *given)
