"""What the build host's own apt sources say for the suite of an image: sources.list(5)."""

from pathlib import Path

import pytest

from images.mirror.errors import MirrorError
from images.mirror.host_sources import host_sources
from images.mirror.source import Source

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
BOOKWORM = 'ID=debian\nVERSION_CODENAME=bookworm\nPRETTY_NAME="Debian GNU/Linux 12"\n'

DEB822 = f"""\
Types: deb
# a comment amid a paragraph, as cloud images have it
URIs: http://one.example.test/debian https://two.example.test/debian/
Suites: bookworm bookworm-updates bookworm-backports
Components: main
  contrib
Signed-By: {KEYRING}

Types: deb deb-src
URIs: http://one.example.test/debian-security
Suites: bookworm-security
Components: main
Signed-By: {KEYRING}

Types: deb
URIs: http://switched-off.example.test/debian
Suites: bookworm
Components: main
Enabled: no

Types: deb-src
URIs: http://only-sources.example.test/debian
Suites: bookworm
Components: main
"""

ONE_LINE = """\
# deb http://commented-out.example.test/debian bookworm main
deb http://three.example.test/debian bookworm main contrib # the mirror in the hall
deb [arch=amd64 Signed-By=/etc/apt/keyrings/debian-archive-hall.gpg] http://four.example.test/d bookworm main
deb-src http://three.example.test/debian bookworm main
deb [signed-by=/usr/share/keyrings/vendor.gpg] https://vendor.example.test bookworm main
deb https://other.example.test/debian bookworm stable
deb http://another.example.test/debian trixie main
deb http://packages.example.test/apt bookworm-pgdg main
deb cdrom:[Debian]/ bookworm main
deb http://cut-off.example.test
"""


def host(tmp_path: Path, os_release: str = BOOKWORM, **files: str) -> Path:
    (tmp_path / "apt" / "sources.list.d").mkdir(parents=True)
    (tmp_path / "os-release").write_text(os_release)
    for name, text in files.items():
        (tmp_path / "apt" / name.replace("__", "/").replace("_", ".")).write_text(text)
    return tmp_path


def test_debians_own_sources_are_taken_for_the_suite_of_the_image(tmp_path: Path) -> None:
    """Other publishers, sources, backports and what is switched off are left out."""
    etc = host(tmp_path, sources_list=ONE_LINE)
    (etc / "apt" / "sources.list.d" / "debian.sources").write_text(DEB822)
    (etc / "apt" / "sources.list.d" / "old.list.disabled").write_text("deb http://old.example.test/d bookworm main\n")
    hall = Path("/etc/apt/keyrings/debian-archive-hall.gpg")
    assert host_sources("trixie", etc) == (
        Source(uri="http://three.example.test/debian", suites=("trixie",)),
        Source(uri="http://four.example.test/d", suites=("trixie",), keyring=hall),
        Source(uri="http://one.example.test/debian", suites=("trixie", "trixie-updates"), keyring=KEYRING),
        Source(uri="https://two.example.test/debian/", suites=("trixie", "trixie-updates"), keyring=KEYRING),
        Source(uri="http://one.example.test/debian-security", suites=("trixie-security",), keyring=KEYRING),
    )
    assert host_sources("bookworm", etc)[0].suites == ("bookworm",)


def test_a_keyring_inside_a_source_is_another_publishers(tmp_path: Path) -> None:
    block = (
        "Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mDMEY865UxYJ\n -----END PGP PUBLIC KEY BLOCK-----\n"
    )
    etc = host(tmp_path, sources_list="deb http://one.example.test/debian bookworm main\n")
    text = f"Types: deb\nURIs: http://vendor.example.test\nSuites: bookworm\nComponents: main\n{block}"
    (etc / "apt" / "sources.list.d" / "vendor.sources").write_text(text)
    assert [one.uri for one in host_sources("bookworm", etc)] == ["http://one.example.test/debian"]


@pytest.mark.parametrize(
    ("os_release", "sources", "told"),
    [
        (BOOKWORM, "deb http://vendor.example.test stable main\n", "no enabled source is Debian's own (bookworm main)"),
        ('ID=ubuntu\nVERSION_CODENAME="noble"\n', "deb http://one.example.test noble main\n", "is not Debian"),
        ("", "", "is not Debian"),
    ],
)
def test_a_host_without_sources_of_debian_says_what_to_write(
    tmp_path: Path, os_release: str, sources: str, told: str
) -> None:
    with pytest.raises(MirrorError) as caught:
        host_sources("bookworm", host(tmp_path, os_release, sources_list=sources))
    assert told in str(caught.value)
    assert "name the mirror in site.yaml: mirrors: {debian: [{uri: ..." in str(caught.value)
