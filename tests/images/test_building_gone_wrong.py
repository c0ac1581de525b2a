"""Builds that fail, are killed or find no room: every reason is told, nothing is published, nothing stays."""

import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from images.building.bootstrap import bootstrap
from images.building.failures import BuildFailedError, TreeRefusedError
from images.building.locking import parse_lock
from images.building.request import Stage
from images.building.tools import Tools
from images.digest import Digest, digest_of, hex_of
from images.references import read_reference
from images.store import ArtefactStore
from profiles.images.debian import ImageFile, ImageTest, Services, User
from tests.images.built import SlimImage, build_profile, slim_profile
from tests.images.slim import NAME, command, link_copies, manifest_of, trees_in, with_changes

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("heavy"), pytest.mark.timeout(600)]


def test_every_breach_is_told_at_once_and_nothing_is_published(slim: SlimImage, data_dir: Path) -> None:
    profile = slim_profile(slim.profiles, NAME)
    key = "-----BEGIN PRIVATE" + " KEY-----\n" + "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n"
    wrong = (
        ImageFile(path="/etc/site/tls.key", text=key),
        ImageFile(path="/etc/ssh/ssh_host_rsa_key", text="x"),
        ImageFile(path="/etc/hostname", text="builder\n"),
        ImageFile(path="/srv/open", text="", mode="0666"),
        ImageFile(path="/run/lost", text=""),
        ImageFile(path="/etc/x", text="", owner="nobody-here"),
    )
    image = with_changes(
        slim,
        files=(*profile.files, *wrong),
        users=(User(name="eve", uid=1, shell="/bin/zsh"),),
        services=Services(enable=("no-such.service",), mask=profile.services.mask),
        tests=(*profile.tests, ImageTest.model_validate({"id": "guess", "stage": "build", "kind": "equals-lock"})),
    )
    with pytest.raises(TreeRefusedError) as told:
        build_profile(image, data_dir)
    said = {one.path for one in told.value.violations}
    assert {"/etc/site/tls.key", "/srv/open", "/run/lost", "/etc/x", "/bin/zsh", "/etc/passwd"} <= said
    assert {"no-such.service", "tests[guess]"} <= said
    assert "MIIEvQ" not in str(told.value)
    assert str(data_dir / "builds") in str(told.value)
    assert (read_reference(data_dir, NAME), trees_in(data_dir)) == (None, [])


def test_an_image_over_its_budget_is_not_published(slim: SlimImage, data_dir: Path) -> None:
    image = with_changes(slim, budgets={"max_root_mib": 10, "max_uki_mib": 10, "max_boot_seconds": 10})
    with pytest.raises(TreeRefusedError, match=r"budgets\.max_root_mib: is \d+ MiB, more than 10(.|\n)*max_uki_mib"):
        build_profile(image, data_dir)
    assert read_reference(data_dir, NAME) is None


def wait_for_stage(process: "subprocess.Popen[str]", stage: Stage) -> None:
    for line in process.stderr or ():
        if f": {stage.value} ..." in line:
            return
    raise AssertionError(f"it ended before {stage.value}")


def test_a_killed_builder_leaves_no_image_and_the_next_one_clears_up(slim: SlimImage, data_dir: Path) -> None:
    killed = subprocess.Popen(
        command(data_dir, slim.profiles), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with killed:
        wait_for_stage(killed, Stage.PACK)
        (left,) = trees_in(data_dir)
        killed.send_signal(signal.SIGKILL)
    assert read_reference(data_dir, NAME) is None
    deadline = time.monotonic() + 10
    while still := workers_in(data_dir):
        assert time.monotonic() < deadline, still
        time.sleep(0.1)
    built = build_profile(slim_profile(slim.profiles, NAME), data_dir)
    assert built.manifest.digest == slim.digest
    assert left not in trees_in(data_dir)


def workers_in(data_dir: Path) -> list[str]:
    """Return the command lines of processes that work on a build there."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = place.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if str(data_dir / "builds") in line:
            found.append(line)
    return found


def test_a_full_disk_is_told_and_leaves_nothing(slim: SlimImage, tmp_path: Path) -> None:
    place = tmp_path / "data"
    place.mkdir()
    link_copies(slim.data_dir / "packages", tmp_path / "packages")
    script = f"""
        mount -t tmpfs -o size=90m none {place} && mkdir {place}/packages
        mount --bind {tmp_path}/packages {place}/packages
        "$@"; code=$?
        ls -A {place}/builds/work {place}/images
        exit $code"""
    ran = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", *command(place, slim.profiles)], capture_output=True, text=True
    )
    assert ran.returncode == 1
    assert re.search(r"the disk( of \S+)? is full; make room", ran.stderr)
    assert f"log: {place}/builds/" in ran.stderr
    assert "build-" not in ran.stdout


def test_a_package_that_does_not_install_is_named_with_its_words(slim: SlimImage, tmp_path: Path) -> None:
    lock = parse_lock(ArtefactStore(slim.data_dir / "artefacts").verify(lock_of(slim)).read_bytes())
    assert lock is not None
    repository = tmp_path / "repository"
    link_copies(slim.data_dir / "packages" / "repositories" / hex_of(lock_of(slim)), repository)
    break_package(repository, "hostname")
    tools = Tools(tmp_path / "log", tmp_path, lock.epoch)
    with pytest.raises(BuildFailedError) as told:
        bootstrap(lock, repository, tmp_path / "tar", tools, lambda _done, _total: None)
    assert "this machine has no name" in (tmp_path / "log").read_text()
    assert "dpkg: error processing package hostname" in str(told.value)
    assert str(told.value).endswith(f"log: {tmp_path / 'log'}")


def lock_of(image: SlimImage) -> Digest:
    return manifest_of(image).artefact("lock").digest


def break_package(repository: Path, name: str) -> None:
    """Make it one whose own script fails when it is installed."""
    (package,) = repository.glob(f"{name}_*.deb")
    unpacked = repository.parent / name
    subprocess.run(["dpkg-deb", "--raw-extract", package, unpacked], check=True)
    script = unpacked / "DEBIAN" / "postinst"
    script.write_text("#!/bin/sh\necho this machine has no name\nexit 1\n")
    script.chmod(0o755)
    before = package.read_bytes()
    package.unlink()
    subprocess.run(["dpkg-deb", "--build", unpacked, package], check=True, stdout=subprocess.DEVNULL)
    after = package.read_bytes()
    index = repository / "Packages"
    text = index.read_text()
    index.unlink()
    for old, new in ((hex_of(digest_of(before)), hex_of(digest_of(after))), (f"{len(before)}\n", f"{len(after)}\n")):
        paragraph = next(one for one in text.split("\n\n") if one.startswith(f"Package: {name}\n"))
        text = text.replace(paragraph, paragraph.replace(old, new))
    index.write_text(text)
    (repository / "Release").unlink()
    (repository / "Release").write_text(
        f"Suite: bookworm\nSHA256:\n {hex_of(digest_of(text.encode()))} {len(text.encode())} Packages\n"
    )
