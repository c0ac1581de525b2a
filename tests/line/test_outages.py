"""The service goes away while nodes work."""

import signal
import time
from pathlib import Path

import pytest

from emulator.testing import Bmc
from tests.line.site import site

pytestmark = [pytest.mark.xdist_group("heavy"), pytest.mark.timeout(600)]


def test_a_service_that_is_away_for_a_minute_costs_nothing(tmp_path: Path) -> None:
    """Stopped in the middle of the burn-in: agents keep their results, and nobody boots anew when it is back."""
    with site(tmp_path, [Bmc(), Bmc("dell-xe9680")]) as running:
        daemon = running.start()
        running.until(lambda nodes: any(one["state"] == "burning_in" for one in nodes.values()), 120)
        daemon.send_signal(signal.SIGSTOP)
        time.sleep(60)
        daemon.send_signal(signal.SIGCONT)
        running.until(lambda nodes: all(one["state"] == "ready" for one in nodes.values()), 120)
        boots = [running.fleet.truth(bmc.name)["boots"] for bmc in running.fleet.bmcs]
    assert boots == [1, 1]


def test_a_server_that_loses_power_in_its_burn_in_boots_again(tmp_path: Path) -> None:
    """Mains come back, the host stays off: the silence is noticed, the BMC is asked, the node is booted anew."""
    with site(tmp_path, [Bmc("gb200-compute-tray")]) as running:
        running.start()
        running.until(lambda nodes: nodes["r01-u01"]["state"] == "burning_in", 120)
        running.fleet.act("r01-u01", "power-loss")
        time.sleep(2)
        running.fleet.act("r01-u01", "power-restore")
        running.until(lambda nodes: nodes["r01-u01"]["state"] == "ready", 240)
        assert running.fleet.truth("r01-u01")["boots"] == 2
        assert running.flashed_twice() == []
