"""A rack whose agents are no processes: the product cannot tell them from real ones."""

from pathlib import Path

import pytest

from emulator.testing import Bmc
from tests.line.site import site

pytestmark = [pytest.mark.xdist_group("heavy"), pytest.mark.timeout(600)]


def test_a_rack_of_stand_ins_goes_to_ready_and_a_check_that_fails_is_held(tmp_path: Path) -> None:
    """emulator/stand_in: the node agent's protocol, against the real daemon."""
    broken = Bmc(faults=({"burn-in-check-fails": {"check": "memory"}},))
    bmcs = [Bmc(), Bmc("dell-xe9680"), Bmc("gb200-compute-tray"), broken]
    with site(tmp_path, bmcs, agent="stand-in") as running:
        running.start()
        nodes = running.until_settled()
        states = {name: one["state"] for name, one in nodes.items()}
        assert states == {"r01-u01": "ready", "r01-u02": "ready", "r01-u03": "ready", "r01-u04": "held"}
        assert "memory" in str(nodes["r01-u04"]["hold"])
        assert [running.fleet.truth(bmc.name)["agent_pid"] for bmc in running.fleet.bmcs] == [None] * 4
        assert running.fleet.truth("r01-u01")["agent_alive"]
        assert running.flashed_twice() == []
