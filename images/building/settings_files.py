"""Files that follow from fields of the profile: path -> text. Pure."""

from profiles.images.debian import DebianImage
from profiles.images.egress import egress_ruleset

MODPROBE = "/etc/modprobe.d/firstlight.conf"
MODULES_LOAD = "/etc/modules-load.d/firstlight.conf"


def kernel_files(image: DebianImage) -> dict[str, str]:
    """Return what decides about kernel modules, in the initrd as well as in the root."""
    kernel = image.kernel
    denied = [f"blacklist {one}\ninstall {one} /bin/false\n" for one in kernel.deny_modules]
    given = sorted(image.gpu.module_options.items()) if image.gpu else []
    options = [f"options nvidia {name}={value}\n" for name, value in given]
    loaded = [f"{one}\n" for one in kernel.load_modules]
    return {MODPROBE: "".join([*denied, *options]), MODULES_LOAD: "".join(loaded)}


def system_files(image: DebianImage) -> dict[str, str]:
    """Return what every image has, beside what its profile names."""
    return {
        "/etc/nftables.conf": egress_ruleset(image),
        "/etc/fstab": "# The root comes from the initrd; there is nothing else to mount.\n",
        "/etc/default/locale": "LANG=C.UTF-8\n",
        "/etc/hosts": "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n",
        "/etc/machine-id": "",
        "/etc/apt/sources.list": "# Packages of an image never change; a new image has new ones.\n",
        "/etc/apt/apt.conf.d/99firstlight": 'APT::Periodic::Enable "0";\n',
    }
