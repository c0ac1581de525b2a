"""What a kernel module says about itself: its .modinfo section, as modinfo(8) shows it."""

from dataclasses import dataclass

from images.modules.elf import section
from images.modules.errors import ModuleUnreadableError


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """`vermagic`: the kernel it is built for, and what must be equal there. `version`: None where it has none."""

    name: str
    vermagic: str
    version: str | None
    license: str
    depends: tuple[str, ...]
    firmware: tuple[str, ...]

    @property
    def abi(self) -> str:
        """The kernel that it is for, as in uname -r."""
        return self.vermagic.partition(" ")[0]


def module_info(content: bytes) -> ModuleInfo:
    """Read an uncompressed module, signed or not; raises ModuleUnreadableError."""
    said: dict[str, list[str]] = {}
    for line in section(content, ".modinfo").split(b"\0"):
        key, separator, value = line.decode("utf-8", "replace").partition("=")
        if separator:
            said.setdefault(key, []).append(value)
    if "vermagic" not in said or "name" not in said:
        raise ModuleUnreadableError("says neither its name nor its kernel: it is no finished kernel module")
    return ModuleInfo(
        name=said["name"][0],
        vermagic=said["vermagic"][0].strip(),
        version=said.get("version", [None])[0],
        license=said.get("license", [""])[0],
        depends=tuple(one for one in said.get("depends", [""])[0].split(",") if one),
        firmware=tuple(said.get("firmware", ())),
    )
