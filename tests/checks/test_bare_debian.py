"""The bare Debian comes from the mirror that this machine uses, however it is written down."""

from pathlib import Path

from tests.checks.bare_debian import apt_sources


def test_sources_come_from_both_formats(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(
        "# deb http://no.test/ bookworm main\ndeb [arch=amd64] http://one.test/ bookworm main\n"
    )
    (tmp_path / "sources.list.d" / "two.sources").write_text(
        "Types: deb\n# a comment\nURIs: http://two.test/debian\nSuites: bookworm bookworm-updates\nComponents: main\n\n"
        "Types: deb-src\nURIs: http://source.test/\nSuites: bookworm\n\n"
        "Types: deb\nURIs: http://other.test/\nSuites: nodistro\n"
    )
    assert apt_sources(tmp_path) == [
        "deb http://one.test/ bookworm main",
        "deb http://two.test/debian bookworm main",
        "deb http://two.test/debian bookworm-updates main",
    ]
