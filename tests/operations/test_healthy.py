"""A server with nothing wrong, from dark to ready."""

import pytest

from profiles.firmware.component import Activation
from provisioner.lifecycle.table import RULES
from provisioner.models.inventory import Power
from provisioner.models.lifecycle import State
from tests.operations.invariants import assert_ended, assert_ready
from tests.operations.site import Site, server, shipped


def way_to_ready() -> list[State]:
    """As the lifecycle table draws it."""
    way = [State.DISCOVERED]
    while RULES[way[-1]].operation is not None:
        way.append(RULES[way[-1]].to[0])
    return way


WITH_FIRMWARE = sorted(
    name for name, one in shipped().releases.items() if shipped().firmware_bundles[one.firmware].components
)
"""Virtual machines have none to flash; tests/machine boots a real one."""


@pytest.mark.parametrize("release", WITH_FIRMWARE)
def test_a_healthy_server_goes_the_way_of_the_table(release: str) -> None:
    """Three starts of the host: firmware, BIOS, image. One reset of the BMC, and one more where the mains are cut.

    Every part is flashed once.
    """
    one = server(release=release, cycles={Activation.AC_CYCLE: False})
    site = Site([one])
    (node,) = site.run()
    assert_ready(site, one, node)
    assert_ended(site, one, node)
    assert site.path_of(one.name) == way_to_ready()
    cuts = any(component.activation is Activation.AC_CYCLE for component in one.release.firmware.components)
    assert (one.host_starts, one.bmc_restarts) == (3, 1 + cuts)
    assert set(one.flashed.values()) == {1}
    assert one.logins == [True] * (3 + cuts)
    longest: dict[tuple[str, str], float] = {}  # what one package brings to one group is one flash
    for each in one.release.firmware.components:
        key = (each.artefact.sha256, str(each.targets))
        longest[key] = max(longest.get(key, 0.0), float(each.expected_minutes))
    flashing = sum(longest.values())
    assert flashing * 0.8 < site.seconds / 60 < flashing + 40


def test_a_server_that_is_as_it_should_be_is_only_booted_and_burnt_in() -> None:
    one = server()
    for part in one.parts.values():
        part.active = part.component.version
    one.bios |= one.release.bios.attributes
    site = Site([one])
    (node,) = site.run()
    assert_ready(site, one, node)
    assert (one.host_starts, one.bmc_restarts, one.flashes) == (1, 0, [])


def test_a_server_that_is_off_shows_its_gpus_once_it_is_on() -> None:
    """Many BMCs list GPUs only while the host is on."""
    one = server(power=Power.OFF)
    site = Site([one])
    (node,) = site.run()
    assert_ready(site, one, node)


def test_a_bmc_that_says_nothing_before_its_password_is_changed() -> None:
    """DSP0266, "Password change required": OpenBMC ships so."""
    one = server(release="gb200-2025-1", must_change_password=True)
    site = Site([one])
    (node,) = site.run()
    assert_ready(site, one, node)


def test_a_rack_shares_its_slots() -> None:
    """Four disruptive runs at once; the others wait their turn, and nobody is held for waiting."""
    servers = [server(f"r01-u{number:02}") for number in range(1, 11)]
    site = Site(servers)
    for one, node in zip(servers, site.run(), strict=True):
        assert_ready(site, one, node)
    assert site.most_flashing == 4
