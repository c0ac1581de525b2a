"""A whole image, from the machine's own apt sources to the store: the same bytes wherever and whenever."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from images.building.bootstrap import bootstrap
from images.building.failures import BuildFailedError, TreeRefusedError
from images.building.locking import parse_lock
from images.building.request import Stage
from images.building.tools import Tools
from images.digest import Digest, digest_of, hex_of
from images.manifest import ImageManifest, parse_manifest
from images.references import read_reference
from images.store import ArtefactStore
from profiles.images.debian import DebianImage, ImageFile, ImageTest, Services, User
from profiles.images.lock import profile_digest
from tests.images.built import SlimImage, build_profile, build_slim_image, slim_profile

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("heavy"), pytest.mark.timeout(600)]

NAME = "slim"
KEPT_STAGES = {Stage.FETCH, Stage.BOOTSTRAP, Stage.INITRD}


@pytest.fixture(scope="module")
def slim() -> SlimImage:
    return build_slim_image(NAME)


@pytest.fixture
def data_dir(slim: SlimImage, tmp_path: Path) -> Path:
    """A data directory of its own, with packages and results of stages as after a build, and no image."""
    place = tmp_path / "data"
    link_copies(slim.data_dir / "packages", place / "packages")
    link_copies(slim.data_dir / "builds" / "kept", place / "builds" / "kept")
    return place


def link_copies(source: Path, target: Path) -> None:
    """Copy a folder as hard links, in no time, without what others are at work on."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(
        source, target, copy_function=os.link, ignore=shutil.ignore_patterns("*.lock", ".*", "modules", "parts")
    )


def manifest_of(image: SlimImage) -> ImageManifest:
    return parse_manifest(ArtefactStore(image.data_dir / "artefacts").verify(Digest(image.digest)).read_bytes())


def command(data_dir: Path, profiles: Path, *more: str) -> list[str]:
    """The command as a person runs it."""
    words = ["image", "build", NAME, f"--data-dir={data_dir}", f"--profiles={profiles}", *more]
    return [sys.executable, "-m", "provisioner", *words]


def with_changes(slim: SlimImage, **changes: object) -> DebianImage:
    return DebianImage.model_validate({**slim_profile(slim.profiles, NAME).model_dump(), **changes})


def listed(root: Path) -> list[str]:
    """Return every path of a packed root."""
    ran = subprocess.run(["unsquashfs", "-ls", "-d", "", root], capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()


def files_of(root: Path, target: Path, *paths: str) -> Path:
    subprocess.run(
        ["unsquashfs", "-quiet", "-no-progress", "-d", target, root, *paths], check=True, capture_output=True
    )
    return target


def trees_in(data_dir: Path) -> list[str]:
    work = data_dir / "builds" / "work"
    return [one.name for one in work.iterdir() if one.is_dir()] if work.exists() else []


def test_a_build_elsewhere_later_by_another_hand_is_the_same_image(slim: SlimImage, tmp_path: Path) -> None:
    """The whole of it again: other folder, time, umask, time zone, language, host name; only packages are kept."""
    place = tmp_path / "a folder of another name".replace(" ", "-") / "data"
    link_copies(slim.data_dir / "packages", place / "packages")
    script = 'hostname elsewhere; umask 077; exec "$@"'
    ran = subprocess.run(
        ["unshare", "--uts", "sh", "-c", script, "sh", *command(place, slim.profiles)],
        env={**os.environ, "TZ": "Asia/Tokyo", "LANG": "tr_TR.UTF-8", "SOURCE_DATE_EPOCH": "5", "XZ_OPT": "-1"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines()[-1] == slim.digest
    assert "bootstrap: done" in ran.stderr
    assert trees_in(place) == []


def test_the_image_is_all_that_a_node_needs(slim: SlimImage, tmp_path: Path) -> None:
    store = ArtefactStore(slim.data_dir / "artefacts")
    image = manifest_of(slim)
    assert image.bootable is not None
    assert [one.role for one in image.artefacts] == ["root", "kernel", "initrd", "lock", "sbom", "tests"]
    root = store.verify(image.artefact("root").digest)
    offset = image.bootable.verity_offset_bytes
    verify = ["veritysetup", "verify", f"--hash-offset={offset}"]
    subprocess.run([*verify, root, root, image.bootable.verity_root_hash], check=True)
    paths = set(listed(root))
    assert {"/usr/lib/firstlight/agent.pyz", "/usr/lib/systemd/system/firstlight-agent.service"} <= paths
    assert "/etc/systemd/system/multi-user.target.wants/firstlight-agent.service" in paths
    assert not [one for one in paths if one.endswith(".pyc") or one.startswith("/boot/") or "/hooks/firstlight" in one]
    out = files_of(root, tmp_path / "out", "/etc/machine-id", "/etc/shadow", "/etc/apt", "/etc/systemd/system")
    assert (out / "etc/machine-id").read_text() == ""
    assert {line.split(":")[1] for line in (out / "etc/shadow").read_text().splitlines()} <= {"*", "!*", "!"}
    assert (out / "etc/systemd/system/apt-daily.timer").readlink() == Path("/dev/null")
    kernel = store.verify(image.artefact("kernel").digest).read_bytes()
    assert kernel[:2] == b"MZ"
    tests = json.loads(store.verify(image.artefact("tests").digest).read_bytes())["tests"]
    assert {one["id"]: one["passed"] for one in tests}["packages-as-locked"] is True


def test_the_name_stands_for_the_image_of_this_profile(slim: SlimImage) -> None:
    reference = read_reference(slim.data_dir, NAME)
    assert reference is not None
    assert reference.image == slim.digest
    assert reference.profile_digest == profile_digest(slim_profile(slim.profiles, NAME))
    assert reference.lock_digest == manifest_of(slim).artefact("lock").digest


def test_nothing_is_done_for_an_unchanged_profile(slim: SlimImage) -> None:
    built = build_profile(slim_profile(slim.profiles, NAME), slim.data_dir)
    assert (built.manifest.digest, dict(built.seconds)) == (slim.digest, {})


def test_a_changed_file_unit_or_account_does_not_bootstrap_again(
    slim: SlimImage, data_dir: Path, tmp_path: Path
) -> None:
    same = build_profile(slim_profile(slim.profiles, NAME), data_dir)
    assert same.manifest.digest == slim.digest
    assert not KEPT_STAGES & set(same.seconds)
    profile = slim_profile(slim.profiles, NAME)
    ada = User(name="ada", uid=2000, groups=("adm",), ssh_keys=("ssh-ed25519 AAAA ada",))
    motd = ImageFile(path="/etc/motd", text="hello\n", owner="ada", mode="0600")
    services = {**profile.services.model_dump(), "disable": ("chrony.service",)}
    services["enable"] = [one for one in profile.services.enable if one != "chrony.service"]
    image = with_changes(slim, files=(*profile.files, motd), users=(ada,), services=services)
    other = build_profile(image, data_dir)
    assert not {Stage.RESOLVE, *KEPT_STAGES} & set(other.seconds)
    assert other.manifest.digest != slim.digest
    assert other.manifest.artefact("initrd") == manifest_of(slim).artefact("initrd")
    root = ArtefactStore(data_dir / "artefacts").path(other.manifest.artefact("root").digest)
    out = files_of(root, tmp_path / "out", "/etc/motd", "/home/ada", "/etc/systemd/system")
    assert ((out / "etc/motd").stat().st_uid, (out / "home/ada/.ssh/authorized_keys").stat().st_uid) == (2000, 2000)
    assert not (out / "etc/systemd/system/multi-user.target.wants/chrony.service").is_symlink()
    back = build_profile(profile, data_dir)
    assert (back.manifest.digest, dict(back.seconds)) == (slim.digest, {})


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


def test_of_two_builds_of_one_image_one_builds_and_the_other_waits(slim: SlimImage, data_dir: Path) -> None:
    words: Sequence[str] = command(data_dir, slim.profiles)
    both = [
        subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=data_dir)
        for _ in range(2)
    ]
    ended = [(*process.communicate(), process.returncode) for process in both]
    assert [(out.splitlines()[-1:], code) for out, _, code in ended] == [([slim.digest], 0)] * 2
    assert sorted("waiting for it" in said for _, said, _ in ended) == [False, True]
    assert sorted("pack: done" in said for _, said, _ in ended) == [False, True]


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
