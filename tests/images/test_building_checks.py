"""What no image may hold; every breach is told with its path."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from images.building.image_tests import Subject, results_json, run_image_tests
from images.building.secret_scan import secrets_in_bytes
from images.building.tree_checks import PRIVILEGED, check_tree
from images.building.tree_path import write
from profiles.images.debian import ImageTest
from profiles.images.lock import Lock, LockedKernel, profile_content, profile_digest
from tests.images.small_trees import shipped, small_tree
from tests.requirements import need

# In parts, so that this file holds no secret.
SECRETS = {
    "a private key": "-----BEGIN OPENSSH PRIVATE" + " KEY-----\n" + "b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAE" * 3,
    "an AWS key": "key = AKI" + "AIOSFODNN7EXAMPLE\n",
    "a GitHub token": "gh" + "p_" + "a1B2" * 9,
    "a GitLab token": "glpa" + "t-abcdefghij0123456789",
    "a Slack token": "xox" + "b-123456789012-123456789012-abcdefghijkl",
    "a Google API key": "AIz" + "a" + "B" * 35,
    "an NGC key": "nvap" + "i-" + "x" * 64,
    "a Hugging Face token": "h" + "f_" + "abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "a key for age": "AGE-SECRET" + "-KEY-1" + "Q" * 58,
    "a signed token (JWT)": "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0NTY3ODkw.SflKxwRJSMeKKF2QT4fwpM",
}


def paths(tree: Path) -> list[tuple[str, str]]:
    """Return path and fault of everything that is wrong."""
    return [(one.path, one.what) for one in check_tree(tree)]


def test_a_tree_without_faults_has_none(tmp_path: Path) -> None:
    assert paths(small_tree(tmp_path)) == []


@pytest.mark.parametrize(("kind", "text"), SECRETS.items())
def test_a_secret_is_found_by_its_kind_and_never_printed(tmp_path: Path, kind: str, text: str) -> None:
    tree = small_tree(tmp_path)
    write(tree, "/opt/site/settings", f"# words before\n{text}\n".encode())
    (found,) = check_tree(tree)
    assert (found.path, found.what) == ("/opt/site/settings", f"holds {kind}")
    assert text.strip() not in str(found)


def test_a_secret_is_found_at_any_place_of_a_large_file(tmp_path: Path) -> None:
    """The file is read in blocks; a secret may lie across two of them."""
    tree = small_tree(tmp_path)
    write(tree, "/opt/blob", b"\0" * (2**22 - 10) + SECRETS["a GitHub token"].encode() + b"\0" * 100)
    assert paths(tree) == [("/opt/blob", "holds a GitHub token")]


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PUBLIC" + " KEY-----\nMIIB",
        "if line == '-----BEGIN RSA PRIVATE" + " KEY-----':",
        "xoxo-ghp_short",
        "hf_x",
    ],
)
def test_what_only_speaks_of_secrets_is_none(text: str) -> None:
    assert secrets_in_bytes(text.encode()) == set()


@given(st.binary(max_size=2000))
def test_noise_is_no_secret(content: bytes) -> None:
    assert secrets_in_bytes(content, hashes=True) == set()


@pytest.mark.parametrize(
    ("password", "fault"), [("$6$salt$abcdefghijklmnop", "has a password"), ("", "lets everybody in")]
)
def test_an_account_with_a_password_or_an_open_one_is_told(tmp_path: Path, password: str, fault: str) -> None:
    tree = small_tree(tmp_path)
    write(tree, "/etc/shadow", f"root:{password}:20717:0:99999:7:::\n".encode())
    (found,) = check_tree(tree)
    assert found.path == "/etc/shadow"
    assert fault in found.what
    assert "salt" not in str(found)


def test_the_hash_of_a_password_is_a_secret_in_any_configuration(tmp_path: Path) -> None:
    tree = small_tree(tmp_path)
    write(tree, "/etc/site/users", b"admin: $6$" + b"abcdefgh$" + b"x" * 86)
    assert paths(tree) == [("/etc/site/users", "holds the hash of a password")]


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    tree = small_tree(tmp_path)
    write(tree, "/etc/machine-id", b"0123456789abcdef0123456789abcdef\n")
    write(tree, "/etc/hostname", b"builder\n")
    write(tree, "/etc/ssh/ssh_host_ed25519_key", b"")
    write(tree, "/usr/lib/python3/x.pyc", b"")
    write(tree, "/usr/bin/gcc-12", b"", 0o755)
    write(tree, "/usr/bin/mine", b"", 0o4755)
    write(tree, "/usr/bin/group", b"", 0o2755)
    write(tree, "/srv/open", b"", 0o666)
    assert [path for path, _ in paths(tree)] == [
        *("/etc/hostname", "/etc/machine-id", "/etc/ssh/ssh_host_ed25519_key", "/srv/open", "/usr/bin/gcc-12"),
        *("/usr/bin/group", "/usr/bin/mine", "/usr/lib/python3/x.pyc"),
    ]
    assert all(one.remedy for one in check_tree(tree))


def test_programs_that_need_more_rights_may_have_them(tmp_path: Path) -> None:
    tree = small_tree(tmp_path)
    for path in PRIVILEGED:
        write(tree, path, b"", 0o4755)
    assert paths(tree) == []


def test_the_link_loader_is_no_compiler(tmp_path: Path) -> None:
    tree = small_tree(tmp_path)
    for name in ("ld.so", "assert", "cpio", "makepasswd", "golang-docs"):
        write(tree, f"/usr/bin/{name}", b"", 0o755)
    assert paths(tree) == []


def test_a_program_with_capabilities_is_told(tmp_path: Path) -> None:
    need(os.geteuid() == 0, "capabilities of files need root")
    tree = small_tree(tmp_path)
    place = write(tree, "/usr/bin/mine", b"", 0o755)
    os.setxattr(place, "security.capability", bytes.fromhex("0100000200200000000000000000000000000000"))
    assert paths(tree) == [("/usr/bin/mine", "has capabilities of its own")]


def subject_of(tree: Path, *tests: ImageTest) -> Subject:
    """A tree whose lock has no packages."""
    image = shipped(tests=[one.model_dump() for one in tests])
    digest = profile_digest(image)
    kernel = LockedKernel("linux-image-1", "1", "1")
    lock = Lock("x", "x86_64", profile_content(image), digest, 0, kernel, None, None, "", (), ())
    write(tree, "/var/lib/dpkg/status", b"")
    return Subject(tree, image, lock)


def build_test(name: str, kind: str, expect: str | None = None, *, blocking: bool = True) -> ImageTest:
    return ImageTest.model_validate(
        {"id": name, "stage": "build", "kind": kind, "expect": expect, "blocking": blocking}
    )


def test_absent_means_that_no_path_matches(tmp_path: Path) -> None:
    tree = small_tree(tmp_path)
    results, against = run_image_tests(subject_of(tree, build_test("no-shell", "absent", "/bin/ba*")))
    assert [str(one).split(":")[0] for one in against] == ["/bin/bash"]
    assert [one.passed for one in results] == [False]
    results, against = run_image_tests(subject_of(tree, build_test("no-zsh", "absent", "/bin/zsh*")))
    assert ([one.passed for one in results], against) == ([True], [])


def test_a_test_that_nobody_can_run_has_not_passed(tmp_path: Path) -> None:
    """Skipped is not passed."""
    results, against = run_image_tests(
        subject_of(small_tree(tmp_path), build_test("packages-as-lokked", "equals-lock"))
    )
    assert not results[0].passed
    assert "packages-as-locked" in against[0].remedy


def test_one_that_does_not_block_is_in_the_results_only(tmp_path: Path) -> None:
    test = build_test("no-shell", "absent", "/bin/bash", blocking=False)
    results, against = run_image_tests(subject_of(small_tree(tmp_path), test))
    assert against == []
    assert b'"passed":false' in results_json(results)


def test_a_package_that_the_lock_does_not_have_is_named(tmp_path: Path) -> None:
    subject = subject_of(small_tree(tmp_path), build_test("packages-as-locked", "equals-lock"))
    status = b"Package: extra\nStatus: install ok installed\nVersion: 1.2\nArchitecture: all\n\n"
    write(subject.tree, "/var/lib/dpkg/status", status)
    _, (against,) = run_image_tests(subject)
    assert against.what == "extra is 1.2 all, the lock has none"
