"""What a build keeps from the one before, and what is written down about an image."""

import json
from dataclasses import replace

import pytest

from images.building.command_line import command_line
from images.building.keys import bootstrap_key, build_key
from images.building.locking import kept_lock, parse_lock
from images.building.request import PublishLevel
from images.building.sbom import sbom_json
from profiles.images.debian import DebianImage
from profiles.images.lock import Lock, LockedKernel, LockedPackage, profile_content, profile_digest
from tests.images.small_trees import shipped

VERSIONS = {"mmdebstrap": "1", "mksquashfs": "1", "veritysetup": "1"}
PACKAGES = (
    LockedPackage("libc6", "2.36-9+deb12u1", "amd64", "a" * 64, 10, "pool/libc6.deb"),
    LockedPackage("tzdata", "1:2024a~1", "all", "b" * 64, 10, "pool/tzdata.deb"),
)


def locked(image: DebianImage) -> Lock:
    """A lock of two packages."""
    kernel = LockedKernel("linux-image-6.1.0-57-amd64", "6.1.192-3", "6.1.0-57-amd64")
    egress = kept_egress(image)
    return Lock(
        image.name, "x86_64", profile_content(image), profile_digest(image), 1, kernel, None, None, egress, (), PACKAGES
    )


def kept_egress(image: DebianImage) -> str:
    before = Lock("", "", profile_content(image), "", 0, LockedKernel("", "", ""), None, None, "", (), ())
    again = kept_lock(before, image, {})
    assert again is not None
    return again.egress_sha256


def test_a_lock_is_read_as_it_was_written() -> None:
    lock = locked(shipped())
    assert parse_lock(lock.canonical_json()) == lock


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"schema": "firstlight.image-lock/0"}'])
def test_a_lock_of_another_kind_is_none(content: bytes) -> None:
    """A build after an upgrade chooses packages anew and does not fail."""
    assert parse_lock(content) is None


def test_an_unchanged_profile_keeps_its_lock() -> None:
    lock = locked(shipped())
    assert kept_lock(lock, shipped(), {}) == lock


def test_another_file_keeps_the_packages_and_is_another_lock() -> None:
    lock = locked(shipped())
    image = shipped(files=[{"path": "/etc/motd", "text": "hello\n"}])
    again = kept_lock(lock, image, {})
    assert again is not None
    assert again.packages == lock.packages
    assert again.digest != lock.digest
    assert again.profile_digest == profile_digest(image)
    assert bootstrap_key(again, VERSIONS) == bootstrap_key(lock, VERSIONS)


@pytest.mark.parametrize(
    "changes",
    [
        {"packages": {"install": [{"name": "systemd-sysv"}]}},
        {"kernel": {"package": "linux-image-cloud-amd64"}},
        {"base": {**shipped().base.model_dump(), "snapshot": "2027-01-01T00:00:00Z"}},
        {"base": {**shipped().base.model_dump(), "mirror": "another"}},
    ],
)
def test_what_packages_were_chosen_by_makes_a_new_choice(changes: dict[str, object]) -> None:
    assert kept_lock(locked(shipped()), shipped("debian-12-base", **changes), {}) is None


def test_everything_that_can_change_an_image_changes_its_key() -> None:
    lock = locked(shipped())
    others = [
        build_key(replace(lock, epoch=2), "builder", PublishLevel.LOW),
        build_key(lock, "another builder", PublishLevel.LOW),
        build_key(lock, "builder", PublishLevel.HIGH),
        build_key(lock, "builder", PublishLevel.LOW),
    ]
    assert len(set(others)) == 4
    assert others[3] == build_key(locked(shipped()), "builder", PublishLevel.LOW)


@pytest.mark.parametrize(
    "change",
    [
        {"packages": PACKAGES[:1]},
        {"packages": (replace(PACKAGES[0], sha256="c" * 64), PACKAGES[1])},
        {"epoch": 2},
        {"arch": "arm64"},
    ],
)
def test_another_package_or_date_is_another_bootstrap(change: dict[str, object]) -> None:
    lock = locked(shipped())
    assert bootstrap_key(replace(lock, **change), VERSIONS) != bootstrap_key(lock, VERSIONS)  # type: ignore[arg-type]  # fields by name


def test_another_mmdebstrap_is_another_bootstrap() -> None:
    lock = locked(shipped())
    assert bootstrap_key(lock, VERSIONS) != bootstrap_key(lock, {**VERSIONS, "mmdebstrap": "2"})


def test_the_bill_of_materials_names_every_package_by_content() -> None:
    lock = locked(shipped())
    document = json.loads(sbom_json(lock))
    assert [(one["name"], one["version"], one["hashes"][0]["content"]) for one in document["components"]] == [
        (one.name, one.version, one.sha256) for one in PACKAGES
    ]
    assert document["components"][1]["purl"] == "pkg:deb/debian/tzdata@1%3A2024a~1?arch=all&distro=bookworm"
    assert document["metadata"]["timestamp"] == "1970-01-01T00:00:01Z"


def test_equal_locks_have_equal_bills_of_materials() -> None:
    assert sbom_json(locked(shipped())) == sbom_json(locked(shipped()))
    other = replace(locked(shipped()), packages=PACKAGES[:1])
    assert json.loads(sbom_json(other))["serialNumber"] != json.loads(sbom_json(locked(shipped())))["serialNumber"]


def test_the_command_line_is_the_profiles_and_has_nothing_of_one_boot() -> None:
    words = command_line(shipped("gpu-r580"))
    assert words == (
        *("boot=firstlight", "console=tty0", "console=ttyS0,115200"),
        *("panic=30", "iommu=pt", "pci=realloc=off", "lockdown=integrity"),
    )


def test_a_kernel_that_is_not_locked_down_gets_no_word_about_it() -> None:
    image = shipped(kernel={**shipped().kernel.model_dump(), "lockdown": "none"})
    assert not [word for word in command_line(image) if word.startswith("lockdown")]
