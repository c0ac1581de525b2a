"""What a boot service answers: a script that names a root and its command line, or sends the firmware away."""

from dataclasses import dataclass


class BootError(Exception):
    """The host could not boot; `retry_after` is what the boot service asked for, in seconds."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        """`reason` is for people."""
        super().__init__(reason)
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class BootScript:
    """The root to fetch, and the words of the kernel command line."""

    url: str
    words: tuple[str, ...]

    def word(self, name: str) -> str:
        """The value of `name=value` on the command line; raises BootError when it is not there."""
        for word in self.words:
            key, separator, value = word.partition("=")
            if key == name and separator:
                return value
        raise BootError(f"the command line has no {name}=")


def read_script(text: str) -> BootScript | None:
    """The script, or None for one that leaves network boot. Raises BootError for anything else."""
    lines = [line.strip() for line in text.splitlines()]
    if not lines or lines[0] != "#!ipxe":
        raise BootError("the boot service did not answer with a script")
    for line in lines:
        words = line.split()
        if words[:1] == ["exit"]:
            return None
        if words[:1] == ["kernel"]:
            return _kernel(words[1:])
    raise BootError("the script has neither kernel nor exit")


def _kernel(words: list[str]) -> BootScript:
    while words and words[0].startswith("-"):
        words = words[2:]
    if not words:
        raise BootError("the kernel line has no address")
    return BootScript(words[0], tuple(words[1:]))
