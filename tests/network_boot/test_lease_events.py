"""The lines that dnsmasq's script writes, and who reads them."""

import subprocess
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.models.found_host import Lease
from provisioner.network_boot.bmc_classes import BMC_CLASSES, is_bmc
from provisioner.network_boot.lease_events import FILE, MOST_BYTES, Follower, LeaseEvent, parse_event
from provisioner.network_boot.templating import TEMPLATES_FOLDER

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
UNTIL = int((NOW + timedelta(hours=1)).timestamp())


def line(action: str = "add", mac: str = "02:00:00:00:00:01", *, vendor: str = "iDRAC", user: str = "") -> str:
    """As the script writes it."""
    return "\t".join((action, mac, "10.0.0.5", str(UNTIL), "3600", "name", vendor, user, "tags")) + "\n"


def macs(events: Sequence[LeaseEvent]) -> list[str]:
    """Of whom."""
    return [event.lease.mac for event in events]


def test_a_line_says_who_has_what_until_when() -> None:
    event = parse_event(line())
    assert event is not None
    until = NOW + timedelta(hours=1)
    assert event.lease == Lease("02:00:00:00:00:01", "10.0.0.5", NOW, until, client_class="iDRAC")
    assert (event.over, event.firmware) == (False, False)


@pytest.mark.parametrize(
    ("vendor", "user", "firmware"),
    [
        ("PXEClient:Arch:00007:UNDI:003016", "", True),
        ("HTTPClient:Arch:00016:UNDI:003001", "", True),
        ("", "iPXE", True),
        ("iDRAC", "", False),
        ("", "", False),
        ("udhcp 1.36.1", "", False),
    ],
)
def test_firmware_of_a_host_is_no_bmc(vendor: str, user: str, *, firmware: bool) -> None:
    event = parse_event(line(vendor=vendor, user=user))
    assert event is not None
    assert event.firmware is firmware


@given(st.text(max_size=300))
def test_no_line_is_too_strange(text: str) -> None:
    """Anything may stand in a file."""
    event = parse_event(text)
    assert event is None or event.lease.address


def test_every_class_of_bmcs_has_a_source() -> None:
    assert all(is_bmc(one.begins) and len(one.source) > 20 for one in BMC_CLASSES)
    assert not is_bmc("PXEClient:Arch:00007:UNDI:003016")
    assert not is_bmc("")


def test_what_is_appended_is_read_once_and_a_half_line_later(tmp_path: Path) -> None:
    follower = Follower(tmp_path)
    assert list(follower.new_events()) == []
    path = tmp_path / FILE
    path.write_text(line(mac="02:00:00:00:00:01") + line(mac="02:00:00:00:00:02")[:20])
    assert macs(list(follower.new_events())) == ["02:00:00:00:00:01"]
    with path.open("a") as file:
        file.write(line(mac="02:00:00:00:00:02")[20:])
    assert macs(list(follower.new_events())) == ["02:00:00:00:00:02"]
    assert list(follower.new_events()) == []
    follower.close()


def test_a_long_file_is_put_aside_and_nothing_is_lost(tmp_path: Path) -> None:
    """The script may have opened the old file a moment before: its line is read too."""
    path, follower = tmp_path / FILE, Follower(tmp_path)
    path.write_text("x\n" * MOST_BYTES)
    assert list(follower.new_events()) == []
    aside = tmp_path / f"{FILE}.aside"
    assert (path.exists(), aside.exists()) == (False, True)
    with aside.open("a") as late:
        late.write(line(mac="02:00:00:00:00:01"))
    path.write_text(line(mac="02:00:00:00:00:02"))
    assert macs(list(follower.new_events())) == ["02:00:00:00:00:01", "02:00:00:00:00:02"]
    assert not aside.exists()
    follower.close()


def test_what_a_process_before_has_put_aside_is_read_first(tmp_path: Path) -> None:
    """It was killed in between."""
    (tmp_path / f"{FILE}.aside").write_text(line(mac="02:00:00:00:00:01"))
    (tmp_path / FILE).write_text(line(mac="02:00:00:00:00:02"))
    follower = Follower(tmp_path)
    assert macs(list(follower.new_events())) == ["02:00:00:00:00:01", "02:00:00:00:00:02"]
    follower.close()


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Where dnsmasq finds it."""
    path = tmp_path / "lease-event"
    path.write_bytes((TEMPLATES_FOLDER / "lease-event").read_bytes())
    path.chmod(0o700)
    return path


def call(script: Path, *words: str, **environment: str) -> list[str]:
    """As dnsmasq does; the lines."""
    called = subprocess.run([script, *words], env={"PATH": "/usr/bin:/bin", **environment}, timeout=30)
    assert called.returncode == 0
    path = script.with_name(FILE)
    return path.read_text().splitlines() if path.exists() else []


def test_the_script_writes_what_the_reader_reads(script: Path) -> None:
    said = {"DNSMASQ_LEASE_EXPIRES": str(UNTIL), "DNSMASQ_TIME_REMAINING": "3600", "DNSMASQ_USER_CLASS0": "iPXE"}
    (text,) = call(script, "add", "02:00:00:00:00:01", "10.0.0.5", "name", DNSMASQ_VENDOR_CLASS="PXEClient", **said)
    event = parse_event(text)
    assert event is not None
    assert (event.lease.client_class, event.firmware, event.lease.at) == ("PXEClient (iPXE)", True, NOW)
    (_, gone) = call(script, "del", "02:00:00:00:00:01", "10.0.0.5", **said)
    event = parse_event(gone)
    assert event is not None
    assert event.over


@pytest.mark.parametrize(
    "rude",
    [
        "a\nadd\t02:ff",
        "\t\t\t",
        "$(touch owned)",
        "`touch owned`",
        "'; touch owned; '",
        "\\n\\t%s%d",
        "-e x",
        "é\x1b[31m",
    ],
)
def test_no_word_of_a_client_becomes_another_line_or_a_command(script: Path, rude: str) -> None:
    words = ("add", "02:00:00:00:00:01", "10.0.0.5", rude)
    (text,) = call(script, *words, DNSMASQ_VENDOR_CLASS=rude, DNSMASQ_USER_CLASS0=rude)
    assert len(text.split("\t")) == 9
    assert text.isascii()
    assert not script.with_name("owned").exists()
    assert not Path("owned").exists()


def test_long_words_are_cut_and_other_actions_are_nobodys(script: Path) -> None:
    (text,) = call(script, "add", "m", "a", DNSMASQ_VENDOR_CLASS="x" * 5000)
    assert len(text) < 300
    assert len(call(script, "tftp", "1000", "10.0.0.5", "/x")) == 1
    assert len(call(script, "arp-add", "m", "a")) == 1


def test_many_at_once_are_whole_lines(script: Path) -> None:
    """A rack gets its addresses within a second."""
    running = [subprocess.Popen([script, "add", f"m{number}", "10.0.0.5"]) for number in range(60)]
    assert {one.wait(timeout=60) for one in running} == {0}
    lines = script.with_name(FILE).read_text().splitlines()
    assert sorted(text.split("\t")[1] for text in lines) == sorted(f"m{number}" for number in range(60))
    assert all(len(text.split("\t")) == 9 for text in lines)
