"""The shelf: releases become content, with images that were built before, and says what to run where they were not."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from images.digest import digest_of
from images.manifest import Artefact, Bootable, ImageManifest
from images.references import Reference, write_reference
from images.store import ArtefactStore
from profiles.catalog import Catalog
from profiles.images.debian import DebianImage
from profiles.images.lock import profile_digest
from profiles.loader import SHIPPED, load_catalog
from provisioner.boot.words import image_words
from provisioner.boot_programs import BootSettings
from provisioner.errors import BadInput, NotFound
from provisioner.release_shelf import ReleaseShelf, check_chosen
from tests.requirements import need

H100, CLASS, IMAGE = "hgx-h100-2025-1", "hgx-h100-8gpu", "burn-in"
BOOTABLE = Bootable("6.1.0-1-amd64", ("boot=firstlight",), "ab" * 32, 4096, 512, "uki_http", secure_boot=False)
STUB = Path("/usr/lib/systemd/boot/efi/linuxx64.efi.stub")
SITE = BootSettings("http://site", ("http://mirror",), {"x86_64": STUB}, {"x86_64": STUB})
"""The stub stands for iPXE too: any program does."""


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """The shipped profiles, and the release of the H100 servers with a Debian image."""
    need(STUB.is_file(), "systemd-boot-efi is not installed")
    shipped = load_catalog(SHIPPED)
    debian = shipped.releases[H100].model_copy(update={"image": IMAGE})
    return replace(shipped, releases={**shipped.releases, "debian": debian})


def build(
    catalog: Catalog,
    data_dir: Path,
    content: bytes = b"root",
    profile: str | None = None,
    bootable: Bootable = BOOTABLE,
) -> ImageManifest:
    """Do what a build does at its end. The kernel is a program of UEFI, as Linux is."""
    store = ArtefactStore(data_dir / "artefacts")
    image = catalog.images[IMAGE]
    assert isinstance(image, DebianImage)
    files = {"root": content, "kernel": STUB.read_bytes(), "initrd": b"initrd"}
    artefacts = tuple(Artefact(role, store.put_bytes(data), len(data)) for role, data in files.items())
    manifest = ImageManifest(IMAGE, "x86_64", artefacts, bootable)
    store.put_bytes(manifest.canonical_json())
    made_from = profile or profile_digest(image)
    write_reference(data_dir, Reference(IMAGE, manifest.digest, made_from, "sha256:l", "sha256:b", "2030-01-01"))
    return manifest


def shelf(catalog: Catalog, data_dir: Path, chosen: str | None = None) -> ReleaseShelf:
    """A shelf of a site."""
    return ReleaseShelf(catalog, {CLASS: chosen} if chosen else {}, data_dir, SITE, firmware_dir=None)


def test_a_release_with_an_image_that_was_built(catalog: Catalog, tmp_path: Path) -> None:
    built = build(catalog, tmp_path)
    check_chosen(catalog, {CLASS: "debian"}, tmp_path, SITE)
    one = shelf(catalog, tmp_path, "debian")
    release = one.desired(CLASS)
    assert release is not None
    assert release.image_digest == built.digest
    assert one.manifest(built.digest) == built


def test_an_image_that_was_not_built_is_named_with_the_command(catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match=f"debian: image {IMAGE} has not been built; run: firstlight image build {IMAGE}"
    ):
        check_chosen(catalog, {CLASS: "debian"}, tmp_path, SITE)
    assert not list(tmp_path.iterdir())
    with pytest.raises(BadInput, match="has not been built"):
        shelf(catalog, tmp_path).named("debian")


def test_an_image_of_an_older_profile_is_refused(catalog: Catalog, tmp_path: Path) -> None:
    build(catalog, tmp_path, profile="sha256:older")
    with pytest.raises(BadInput, match=f"another version of its profile; run: firstlight image build {IMAGE}"):
        check_chosen(catalog, {CLASS: "debian"}, tmp_path, SITE)


@pytest.mark.parametrize("lost", ["manifest", "root", "kernel"])
def test_an_image_with_a_file_missing_is_refused(catalog: Catalog, tmp_path: Path, lost: str) -> None:
    built = build(catalog, tmp_path)
    digest = built.digest if lost == "manifest" else built.artefact(lost).digest
    ArtefactStore(tmp_path / "artefacts").path(digest).unlink()
    with pytest.raises(BadInput, match=r"files of it are missing .*firstlight image build"):
        check_chosen(catalog, {CLASS: "debian"}, tmp_path, SITE)


def test_a_damaged_reference_is_named(catalog: Catalog, tmp_path: Path) -> None:
    build(catalog, tmp_path)
    (tmp_path / "images" / f"{IMAGE}.json").write_text("{")
    with pytest.raises(BadInput, match=f"{IMAGE}.json: is no reference"):
        check_chosen(catalog, {CLASS: "debian"}, tmp_path, SITE)


def test_a_newer_build_is_what_the_name_stands_for_and_the_older_one_is_still_found(
    catalog: Catalog, tmp_path: Path
) -> None:
    """Nodes still run the older one; what the site chose stays as it was when the service started."""
    older = build(catalog, tmp_path)
    one = shelf(catalog, tmp_path, "debian")
    newer = build(catalog, tmp_path, b"another root")
    assert one.named("debian").image_digest == newer.digest
    assert one.manifest(older.digest) == older
    desired = one.desired(CLASS)
    assert desired is not None
    assert desired.image_digest == older.digest


def test_a_release_that_is_not_chosen_is_found_by_name(catalog: Catalog, tmp_path: Path) -> None:
    release = shelf(catalog, tmp_path).named(H100)
    assert (release.name, release.hardware_class.name) == (H100, CLASS)
    assert shelf(catalog, tmp_path).manifest(release.image_digest).digest == release.image_digest


def test_a_release_that_is_none_is_not_found(catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=f'there is no release hgx-h100-2025-2; did you mean "{H100}"'):
        shelf(catalog, tmp_path).named("hgx-h100-2025-2")


@pytest.mark.parametrize("image", ["sha256:short", digest_of(b"nothing"), "../secret"])
def test_an_image_that_is_none_is_not_found(catalog: Catalog, tmp_path: Path, image: str) -> None:
    with pytest.raises(NotFound):
        shelf(catalog, tmp_path).manifest(image)


def test_a_file_that_is_no_manifest_is_no_image(catalog: Catalog, tmp_path: Path) -> None:
    digest = ArtefactStore(tmp_path / "artefacts").put_bytes(b"a root, not a manifest")
    with pytest.raises(NotFound, match="is no image"):
        shelf(catalog, tmp_path).manifest(digest)


async def test_the_program_of_an_image_is_made_once_and_says_what_every_node_is_to_do(
    catalog: Catalog, tmp_path: Path
) -> None:
    built = build(catalog, tmp_path)
    one = shelf(catalog, tmp_path, "debian")
    made = await asyncio.gather(*(one.uki(built.digest) for _ in range(3)))
    assert len({program.digest for program in made if program}) == 1
    content = one.path(str(made[0] and made[0].digest)).read_bytes()
    words = " ".join(image_words(built, "http://site", ("http://mirror",))).encode()
    assert words in content
    assert b"token" not in words
    assert not any(program.signed for program in made if program)
    assert await shelf(catalog, tmp_path).uki(built.digest) == made[0], "after a restart too"


async def test_ipxe_is_served_as_the_site_has_it(catalog: Catalog, tmp_path: Path) -> None:
    one = shelf(catalog, tmp_path)
    ipxe = await one.ipxe("x86_64")
    assert ipxe is not None
    assert one.path(ipxe.digest).read_bytes() == STUB.read_bytes()
    assert await one.ipxe("arm64") is None
    absent = replace(SITE, ipxe={"x86_64": tmp_path / "ipxe.efi"})
    with pytest.raises(BadInput, match=r"ipxe\.efi \(site\.yaml, network_boot\.ipxe\) cannot be read"):
        await ReleaseShelf(catalog, {}, tmp_path, absent, firmware_dir=None).ipxe("x86_64")


async def test_a_file_is_sound_while_its_bytes_are_those_of_its_name(catalog: Catalog, tmp_path: Path) -> None:
    root = build(catalog, tmp_path).artefact("root").digest
    one = shelf(catalog, tmp_path)
    assert await one.is_sound(root)
    path = one.path(root)
    path.chmod(0o644)
    path.write_bytes(b"toor")
    assert not await one.is_sound(root)
    path.unlink()
    assert not await one.is_sound(root)
    assert not await one.is_sound("no digest")


@pytest.mark.parametrize(
    ("method", "secure_boot", "stub", "words"),
    [
        ("uki_http", False, False, "needs the stub of systemd-boot"),
        ("ipxe", True, True, "nothing signs its boot program; run: firstlight boot keys DIR"),
        ("ipxe", False, False, ""),
        ("uki_http", False, True, ""),
    ],
)
def test_what_a_site_lacks_to_boot_its_images_is_told_before_it_starts(
    catalog: Catalog, tmp_path: Path, method: str, secure_boot: bool, stub: bool, words: str
) -> None:
    build(catalog, tmp_path, bootable=replace(BOOTABLE, method=method, secure_boot=secure_boot))
    site = SITE if stub else replace(SITE, stub={"x86_64": tmp_path / "absent"})
    if not words:
        check_chosen(catalog, {CLASS: "debian"}, tmp_path, site)
        return
    with pytest.raises(BadInput, match=words):
        check_chosen(catalog, {CLASS: "debian"}, tmp_path, site)
