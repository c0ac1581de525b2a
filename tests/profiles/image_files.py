"""A family of image profiles to break in one place at a time."""

from collections.abc import Mapping
from pathlib import Path

from profiles.findings import Finding
from profiles.images.debian import DebianImage
from profiles.images.load import LoadedImage, load_images

IMAGES = {
    "elder": """\
name: elder
description: what all have
abstract: true
root: debian
arch: x86_64
base: {distribution: debian, suite: bookworm, components: [main], mirror: debian, snapshot: "2026-11-29T00:00:00Z"}
kernel:
  package: linux-image-6.1.0-57-amd64
  version: "6.1.192-3"
  cmdline:
  - {key: panic, value: "30"}
  - {key: quiet}
packages:
  install:
  - {name: udev}
  - {name: kmod}
services:
  mask:
  - apt-daily.timer
  - apt-daily-upgrade.timer
  - unattended-upgrades.service
  - popularity-contest.timer
  - motd-news.timer
  - motd-news.service
policy:
  unattended_upgrades: "off"
  telemetry: "off"
  egress:
    default: deny
    allow:
    - {cidr: 10.0.0.0/8, protocol: tcp, port: 8410, why: the service}
boot: {method: uki_http, root: {overlay_mib: 1024}, consoles: [tty0]}
budgets: {max_root_mib: 512, max_uki_mib: 96, max_boot_seconds: 240}
""",
    "plain": """\
name: plain
description: no driver
extends: [elder]
""",
    "gpu": """\
name: gpu
description: a driver
extends: [elder]
target:
  gpus: [H100]
  platforms: [hgx-h100]
gpu:
  driver: {branch: "580", version: "580.126.20", modules: open, delivery: prebuilt}
  memory_mode: not_applicable
  packages:
    driver: [nvidia-driver-cuda, nvidia-modules]
    fabric_manager: nvidia-fabricmanager
""",
}


def load(directory: Path, changed: Mapping[str, str] | None = None) -> tuple[Mapping[str, LoadedImage], list[Finding]]:
    """Load IMAGES with some of them replaced or added."""
    paths = []
    for name, text in {**IMAGES, **(changed or {})}.items():
        path = directory / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    return load_images(paths)


def one(directory: Path, name: str, text: str | None = None) -> LoadedImage:
    """Return one profile that has to be right."""
    images, findings = load(directory, {} if text is None else {name: text})
    assert not findings
    return images[name]


def debian(directory: Path, name: str, text: str | None = None) -> DebianImage:
    profile = one(directory, name, text).profile
    assert isinstance(profile, DebianImage)
    return profile


def edited(name: str, old: str, new: str) -> dict[str, str]:
    """Return the change of one profile in which `old` occurs."""
    assert old in IMAGES[name]
    return {name: IMAGES[name].replace(old, new)}


def child(text: str, parents: str = "elder") -> dict[str, str]:
    """Return a profile named child that inherits from `parents`."""
    return {"child": f"name: child\ndescription: a child\nextends: [{parents}]\n{text}"}


def gpu(folder: Path, *changes: tuple[str, str]) -> DebianImage:
    """Return the profile with a driver, changed."""
    text = IMAGES["gpu"]
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return debian(folder, "gpu", text)
