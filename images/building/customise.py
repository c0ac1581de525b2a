"""From a tree of packages to the tree of the profile: files, accounts, services, the agent."""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

import images
from images.build import agent_files, zip_archive
from images.building.failures import BuildFailedError, Violation
from images.building.settings_files import system_files
from images.building.tools import Tools
from images.building.tree_path import inside, link, write
from images.building.users import add_users, settle_passwords, user_ids
from profiles.images.debian import DebianImage, ImageFile

AGENT_ARCHIVE = "/usr/lib/firstlight/agent.pyz"
AGENT_UNIT = "firstlight-agent.service"
_NETWORK = "80-dhcp.network"
_SOURCES = Path(images.__file__).parent / "initrd"
_GONE_AT_BOOT = ("/run/", "/proc/", "/sys/", "/dev/", "/tmp/", "/var/run/", "/var/lock/")  # noqa: S108
_RESOLVED = "/usr/lib/systemd/systemd-resolved"
_WRITTEN_BY_POLICY = {"/etc/nftables.conf": "policy.egress"}


def customise(tree: Path, image: DebianImage, *, site_files: Mapping[str, Path], tools: Tools) -> list[Violation]:
    """Change the tree; return everything that could not be done, so that a person reads it once."""
    for path, text in system_files(image).items():
        write(tree, path, text.encode())
    _name_servers(tree)
    found = add_users(tree, image.users)
    settle_passwords(tree, tools.epoch)
    for file in image.files:
        found += write_file(tree, file, site_files)
    write(tree, AGENT_ARCHIVE, zip_archive(agent_files()))
    write(tree, f"/usr/lib/systemd/system/{AGENT_UNIT}", (_SOURCES / AGENT_UNIT).read_bytes())
    write(tree, f"/usr/lib/systemd/network/{_NETWORK}", (_SOURCES / _NETWORK).read_bytes())
    return [*found, *_services(tree, image, tools)]


def write_file(tree: Path, file: ImageFile, site_files: Mapping[str, Path]) -> list[Violation]:
    """Put one file of the profile into the tree."""
    if file.path.startswith(_GONE_AT_BOOT):
        return [Violation(file.path, "is emptied at every boot", "choose a place below /etc, /usr or /var/lib")]
    if file.path in _WRITTEN_BY_POLICY:
        return [Violation(file.path, f"is written from {_WRITTEN_BY_POLICY[file.path]}", "take it out of files")]
    owner = user_ids(tree, file.owner)
    if owner is None:
        return [Violation(file.path, f"its owner {file.owner} is no user of the image", "add the user, or correct it")]
    if inside(tree, file.path).is_dir():
        return [Violation(file.path, "is a folder in the image", "name the file in it")]
    place = write(tree, file.path, _content(file, site_files))
    os.chown(place, *owner)
    place.chmod(int(file.mode, 8))
    return []


def _content(file: ImageFile, site_files: Mapping[str, Path]) -> bytes:
    if file.sha256 is None:
        return (file.text or "").encode()
    content = site_files[file.sha256].read_bytes()
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise BuildFailedError(f"{site_files[file.sha256]}: changed while the image was built; build again")
    return content


def _name_servers(tree: Path) -> None:
    if inside(tree, _RESOLVED).exists():
        link(tree, "/etc/resolv.conf", "/run/systemd/resolve/resolv.conf")
    else:
        write(tree, "/etc/resolv.conf", b"")


def _services(tree: Path, image: DebianImage, tools: Tools) -> list[Violation]:
    """Ask the image's own systemctl, which is of the lock, and not the build host's."""
    services = image.services
    found = []
    for unit in (*services.enable, AGENT_UNIT):
        if not _is_there(tree, unit):
            what = "is enabled by the profile and in no package of the image"
            found.append(Violation(unit, what, "install its package, or take it out of services.enable"))
    if found:
        return found
    tools.run(("chroot", str(tree), "systemctl", "enable", *services.enable, AGENT_UNIT), alone=True)
    present = [unit for unit in services.disable if _is_there(tree, unit)]
    if present:
        tools.run(("chroot", str(tree), "systemctl", "disable", *present), alone=True)
    for unit in services.mask:
        link(tree, f"/etc/systemd/system/{unit}", "/dev/null")
    return []


def _is_there(tree: Path, unit: str) -> bool:
    """A unit file, or the template of an instance."""
    name, at, rest = unit.partition("@")
    names = (unit, f"{name}@.{rest.rpartition('.')[2]}") if at else (unit,)
    folders = ("/etc/systemd/system", "/usr/lib/systemd/system", "/lib/systemd/system")
    return any(inside(tree, f"{folder}/{one}").exists() for folder in folders for one in names)
