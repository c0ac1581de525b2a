"""Channels, freezes and keys in site.yaml."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from provisioner.channel_settings import policies_of
from provisioner.commands.keys import keys_app
from provisioner.errors import BadInput
from provisioner.models.channel import Channel
from provisioner.promotion.freeze import frozen
from provisioner.promotion.policy import DEFAULTS, SoakLimits
from provisioner.settings import Site, load_site
from provisioner.statement_shelf import read_keys


def site(folder: Path, text: str) -> Site:
    path = folder / "site.yaml"
    path.write_text(f"name: hall-3\n{text}")
    return load_site(path)


def test_what_is_not_said_is_as_the_channel_comes(tmp_path: Path) -> None:
    assert policies_of({}, ()) == DEFAULTS
    text = "channels:\n  canary: {tests: false, soak: {node_hours: 10}, approvals: 2}\n"
    found = policies_of(site(tmp_path, text).channels, ())
    canary, default = found[Channel.CANARY], DEFAULTS[Channel.CANARY]
    assert (canary.tests, canary.sbom, canary.approvals) == (False, default.sbom, 2)
    assert canary.soak == SoakLimits(default.soak.hours, 10, default.soak.domains)
    assert found[Channel.PRODUCTION] == DEFAULTS[Channel.PRODUCTION]


FREEZES = """
freezes:
  - {name: year end, begins: "2026-12-19 00:00", ends: "2027-01-04 08:00", zone: Europe/Berlin}
  - name: weekend
    channels: [canary, production]
    weekly: {days: [fri], start: "16:00", open_for: 64h, zone: Europe/Berlin}
"""


def test_freezes_are_those_of_their_channels(tmp_path: Path) -> None:
    found = policies_of({}, site(tmp_path, FREEZES).freezes)
    assert [one.name for one in found[Channel.PRODUCTION].freezes] == ["year end", "weekend"]
    assert [one.name for one in found[Channel.CANARY].freezes] == ["weekend"]
    assert found[Channel.DEV].freezes == ()
    friday = datetime(2026, 7, 3, 14, 30, tzinfo=UTC)  # 16:30 in Berlin
    shut = frozen(found[Channel.CANARY].freezes, friday)
    assert shut is not None
    assert shut[1] == datetime(2026, 7, 6, 6, 0, tzinfo=UTC)
    assert frozen(found[Channel.CANARY].freezes, friday - timedelta(hours=1)) is None
    both = frozen(found[Channel.PRODUCTION].freezes, datetime(2026, 12, 25, 20, tzinfo=UTC))
    assert both is not None
    assert (both[0].name, both[1]) == ("year end", datetime(2027, 1, 4, 7, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("channels: {beta: {}}", "beta"),
        ("channels: {canary: {approvals: -1}}", "approvals"),
        ("freezes: [{name: x}]", "needs begins and ends, or weekly"),
        ('freezes: [{name: x, begins: "2026-12-19", ends: "2026-12-18"}]', "is not after begins"),
        ('freezes: [{name: x, begins: "soon", ends: "2026-12-18"}]', "is no time"),
        ('freezes: [{name: x, zone: Mars, begins: "2026-12-18", ends: "2026-12-19"}]', "is no time zone"),
        ('freezes: [{name: x, begins: "2026-12-18T00:00+01:00", ends: "2026-12-19"}]', "has a zone of its own"),
        ("trust: {}", "keys"),
    ],
)
def test_what_cannot_be_is_refused_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(BadInput, match=r"site\.yaml:2:.*" + told):
        site(tmp_path, text)


def test_keys_are_those_of_keys_init(tmp_path: Path) -> None:
    """The site needs the public ones; what it decides it signs with the snapshot key, if that lies there."""
    result = CliRunner().invoke(keys_app, ["init", str(tmp_path / "keys")])
    assert result.exit_code == 0
    trust = site(tmp_path, "trust: {keys: keys}").trust
    assert trust is not None
    keys = read_keys(trust.keys, trust.decisions)
    assert (keys.managers.threshold, len(keys.managers.keys), keys.signer is not None) == (2, 3, True)
    (tmp_path / "keys" / "snapshot" / "snapshot-1.key").unlink()
    assert read_keys(trust.keys, None).signer is None
    with pytest.raises(BadInput, match="firstlight keys init DIR"):
        read_keys(tmp_path / "nowhere", None)
    with pytest.raises(BadInput, match="no private key can be read"):
        read_keys(trust.keys, tmp_path / "site.yaml")
