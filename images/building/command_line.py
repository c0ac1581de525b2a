"""The kernel's command line as the profile has it; what belongs to one boot comes from the boot service. Pure."""

from profiles.images.debian import DebianImage
from profiles.images.kinds import Lockdown


def command_line(image: DebianImage) -> tuple[str, ...]:
    """Return the words in order. The last console is the one that programs write to."""
    consoles = tuple(f"console={one}" for one in image.boot.consoles)
    own = tuple(one.key if one.value is None else f"{one.key}={one.value}" for one in image.kernel.cmdline)
    lockdown = () if image.kernel.lockdown is Lockdown.NONE else (f"lockdown={image.kernel.lockdown.value}",)
    return ("boot=firstlight", *consoles, *own, *lockdown)
