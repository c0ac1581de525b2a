"""Where a site says that BMCs are: what cannot be scanned is refused with line, field and remedy."""

import subprocess
import sys
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path

import pytest

from provisioner.errors import BadInput
from provisioner.schema_files import SCHEMAS, write_schemas
from provisioner.settings import load_site

SITE = "name: trial\ndata_dir: data\ndiscovery:\n"


def site(folder: Path, *lines: str) -> Path:
    """A site.yaml with these lines in `discovery`, which begin with line 4."""
    path = folder / "site.yaml"
    path.write_text(SITE + "".join(f"  {line}\n" for line in lines))
    return path


def test_ranges_are_networks_or_single_addresses(tmp_path: Path) -> None:
    path = site(tmp_path, "ranges: [10.0.1.0/24, 10.0.2.17, 'fd00::/112']", "every: 90s", "port: 8443", "ssdp: true")
    discovery = load_site(path).discovery
    assert discovery.ranges == tuple(map(ip_network, ("10.0.1.0/24", "10.0.2.17/32", "fd00::/112")))
    assert (discovery.every, discovery.port, discovery.ssdp) == (timedelta(seconds=90), 8443, True)
    path.write_text("name: trial\n")
    assert load_site(path).discovery.every == timedelta(minutes=15)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["ranges:", "  - 10.0.1.0/24", "  - 10.0.2.5/24"],
            "site.yaml:6: discovery.ranges[1]: 10.0.2.5/24 has host bits set; "
            "write 10.0.2.0/24 for the whole range, or 10.0.2.5 for the one address",
        ),
        (
            ["ranges: [10.0.0.0/8]"],
            "site.yaml:4: discovery.ranges[0]: 10.0.0.0/8 holds more than 1,048,576 addresses, too many to scan; "
            "name smaller ranges, such as 10.0.0.0/16",
        ),
        (["ranges: ['fd00::/64']"], "site.yaml:4: discovery.ranges[0]: fd00::/64 holds more than 1,048,576 addresses"),
        (
            ["ranges: [10.0.0.0/12, 10.16.0.0/12]"],
            "site.yaml:4: discovery.ranges: hold 2,097,152 addresses together; at most 1,048,576 can be scanned; "
            "name smaller ranges",
        ),
        (
            ["ranges: [rack-7]"],
            "site.yaml:4: discovery.ranges[0]: 'rack-7' is no range of addresses; write it such as 10.0.1.0/24",
        ),
        (["ranges: [10]"], "site.yaml:4: discovery.ranges[0]: 10 is no range of addresses"),
        (["ranges: [224.0.0.0/24]"], "site.yaml:4: discovery.ranges[0]: 224.0.0.0/24 is not where BMCs are"),
        (["ranges: 10.0.1.0/24"], "site.yaml:4: discovery.ranges: must be a list (- item)"),
        (["range: [10.0.1.0/24]"], 'site.yaml:4: discovery.range: is not a known key; did you mean "ranges"?'),
        (["every: 10ms"], "site.yaml:4: discovery.every: is shorter than a second; 15m is usual"),
        (["every: 15"], "site.yaml:4: discovery.every: is not a duration; write a number and a unit"),
        (["port: 70000"], "site.yaml:4: discovery.port: input should be less than or equal to 65535"),
    ],
)
def test_what_cannot_be_scanned_is_refused(tmp_path: Path, lines: list[str], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        load_site(site(tmp_path, *lines))
    assert str(refused.value).replace(f"{tmp_path}/", "").startswith(said)


@pytest.mark.parametrize("command", ["serve", "discover"])
def test_a_bad_range_starts_nothing(tmp_path: Path, command: str) -> None:
    """Exit code 2, everything that is wrong at once, and no data directory."""
    path = site(tmp_path, "ranges: [10.0.0.0/8, 10.0.2.5/24]", "portt: 443")
    words = [sys.executable, "-m", "provisioner", command, "--config", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "")
    told = ("site.yaml:4: discovery.ranges[0]", "site.yaml:4: discovery.ranges[1]", "site.yaml:5: discovery.portt")
    assert all(one in done.stderr for one in told), done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "data").exists()


def test_nowhere_to_look_is_told(tmp_path: Path) -> None:
    path = site(tmp_path, "port: 443")
    words = [sys.executable, "-m", "provisioner", "discover", "--config", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr == f"{path}: discovery: names nowhere to look; add ranges: [10.0.1.0/24], or ssdp: true\n"


def test_the_schemas_for_editors_are_those_of_the_models(tmp_path: Path) -> None:
    """`python -m provisioner.schema_files` brings them up to date."""
    write_schemas(tmp_path)
    assert {path.name: path.read_text() for path in SCHEMAS.iterdir()} == {
        path.name: path.read_text() for path in tmp_path.iterdir()
    }
