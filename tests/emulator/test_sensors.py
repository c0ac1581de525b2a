"""Heat and power: as numbers, and as clients read them."""

from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator.clock import Clock
from emulator.machine.pace import Pace
from emulator.machine.thermals import FULL, IDLE, OFF, Heat, Lag, Span
from emulator.persona.load import load_persona, persona_names
from emulator.testing import Bmc, EmulatedFleet
from emulator.tree.gauges import gauges
from tests.emulator.bmc_client import BmcClient, wait_for

BOX = "/redfish/v1/Chassis/1"
GPU = "/redfish/v1/Systems/1/Processors/GPU1"
HEAT = "/redfish/v1/Chassis/HGX_GPU_SXM_1/Sensors/HGX_GPU_SXM_1_TEMP_0"


class Watch:
    """A wall clock that is turned by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture(scope="module")
def fleet() -> Iterator[EmulatedFleet]:
    with EmulatedFleet([Bmc(power="On")]) as running:
        wait_for(lambda: running.truth(running.bmcs[0].name)["phase"] not in ("off", "powering-on", "post"))
        yield running


@pytest.fixture
def bmc(fleet: EmulatedFleet) -> Iterator[BmcClient]:
    """The one BMC; afterwards nothing loads its host and nothing is wrong with it."""
    yield BmcClient(fleet.bmcs[0])
    fleet.set_load(fleet.bmcs[0].name, None)
    for fault in fleet.truth(fleet.bmcs[0].name)["faults"]:
        fleet.clear_fault(fleet.bmcs[0].name, fault)


def test_heat_comes_minutes_after_power() -> None:
    """A GPU's power rises within seconds, its heat sink warms for minutes: first-order lags."""
    watch = Watch()
    heat = Heat(Clock(1.0), now=watch)
    heat.enter("running")
    watch.seconds = 1000.0
    heat.bear(1.0)
    watch.seconds += 10.0
    assert heat.power > 1.9
    assert heat.warmth < 1.3
    watch.seconds += 600.0
    assert heat.warmth == pytest.approx(FULL, abs=0.01)


def test_a_fast_clock_heats_fast() -> None:
    """Emulated time: a burn-in of hours takes as long as the test wants."""
    watch = Watch()
    heat = Heat(Clock(600.0), now=watch)
    heat.enter("running")
    heat.bear(1.0)
    watch.seconds = 1.0
    assert heat.warmth == pytest.approx(FULL, abs=0.01)


def test_without_time_everything_is_there_at_once() -> None:
    """Speed 0: work takes no time."""
    heat = Heat(Clock(0.0))
    heat.enter("running")
    heat.bear(0.5)
    assert (heat.power, heat.warmth) == (1.5, 1.5)


@given(st.floats(OFF, FULL), st.floats(OFF, FULL), st.lists(st.floats(0.01, 1000), min_size=1, max_size=5))
@settings(deadline=None)
@example(start=0.0, target=1.0, steps=[10.0, 225.0])
def test_energy_never_goes_back(start: float, target: float, steps: list[float]) -> None:
    """A meter counts up, whatever the load does."""
    lag = Lag(start, target, 3.0)
    time, before = 0.0, (0.0, 0.0)
    for step in steps:
        time += step
        now = lag.integral(time)
        assert now[0] >= before[0] - 1e-9
        assert now[1] >= before[1] - 1e-9
        before = now


@given(st.floats(OFF, FULL))
@settings(deadline=None)
def test_a_value_lies_between_those_that_are_known(level: float) -> None:
    """Off, idle and full load are facts of the persona."""
    assert 0.0 <= Span(0.0, 70.0, 700.0).at(level) <= 700.0
    assert Span(0.0, 70.0, 700.0).at(IDLE) == 70.0


def test_what_ran_before_a_restart_loads_nothing_after_it() -> None:
    """The load belongs to what runs on the host."""
    heat = Heat(Clock(0.0))
    heat.enter("running")
    heat.bear(1.0)
    heat.enter("post")
    assert heat.load is None
    with pytest.raises(ValueError, match="post"):
        heat.bear(1.0)


@pytest.mark.parametrize("name", persona_names())
def test_every_sensor_has_a_name_of_its_own(name: str) -> None:
    """A sensor that another one hides would never be read."""
    persona = load_persona(name)
    found = [gauge.path for gauge in gauges(persona).values()]
    assert len(found) == len({path.lower() for path in found})
    gpus = [gauge for gauge in gauges(persona).values() if gauge.part == "gpu" and gauge.kind == "Power"]
    assert len(gpus) == len(persona.gpus.ids)


def test_a_loaded_server_draws_more_and_gets_hotter(fleet: EmulatedFleet, bmc: BmcClient) -> None:
    """An H100 draws 700 W, its limit, and stays below its slowdown temperature."""
    name = fleet.bmcs[0].name
    before = bmc.get(f"{GPU}/EnvironmentMetrics")
    watts = bmc.get(f"{BOX}/Power")["PowerControl"][0]["PowerConsumedWatts"]
    rpm = bmc.get(f"{BOX}/Thermal")["Fans"][0]["Reading"]
    fleet.set_load(name, 1.0)
    after = bmc.get(f"{GPU}/EnvironmentMetrics")
    assert before["PowerWatts"]["Reading"] < 200 < 650 < after["PowerWatts"]["Reading"] < 720
    assert before["TemperatureCelsius"]["Reading"] < 50 < after["TemperatureCelsius"]["Reading"] < 87
    assert bmc.get(f"{BOX}/Power")["PowerControl"][0]["PowerConsumedWatts"] > watts + 5000
    assert bmc.get(f"{BOX}/Thermal")["Fans"][0]["Reading"] > 2 * rpm
    assert bmc.get(f"{GPU}/ProcessorMetrics")["OperatingSpeedMHz"] > 1800


def test_a_power_limit_is_kept(fleet: EmulatedFleet, bmc: BmcClient) -> None:
    """DSP2046, EnvironmentMetrics.PowerLimitWatts."""
    path = f"{GPU}/EnvironmentMetrics"
    fleet.set_load(fleet.bmcs[0].name, 1.0)
    assert bmc.send("PATCH", path, json={"PowerLimitWatts": {"SetPoint": 400}}).status_code == 204
    assert bmc.get(path)["PowerLimitWatts"]["SetPoint"] == 400
    assert bmc.get(path)["PowerWatts"]["Reading"] < 410
    refused = bmc.send("PATCH", path, json={"PowerLimitWatts": {"SetPoint": 4000}})
    assert refused.status_code == 400
    assert "PropertyValueOutOfRange" in refused.text
    bmc.send("PATCH", path, json={"PowerLimitWatts": {"SetPoint": 700}}).raise_for_status()


def test_the_limit_of_the_box_is_one_limit_in_two_places(bmc: BmcClient) -> None:
    """DSP2046: EnvironmentMetrics quotes the Control."""
    bmc.send("PATCH", f"{BOX}/EnvironmentMetrics", json={"PowerLimitWatts": {"SetPoint": 5000}}).raise_for_status()
    assert bmc.get(f"{BOX}/Controls/PowerLimit")["SetPoint"] == 5000
    assert bmc.get(f"{BOX}/Power")["PowerControl"][0]["PowerLimit"]["LimitInWatts"] == 5000
    bmc.send("POST", f"{BOX}/Controls/PowerLimit/Actions/Control.ResetToDefaults", json={}).raise_for_status()
    assert bmc.get(f"{BOX}/EnvironmentMetrics")["PowerLimitWatts"]["SetPoint"] == 12240


def test_a_quoted_reading_is_the_sensors(bmc: BmcClient) -> None:
    """DSP0266, excerpts: the same reading under DataSourceUri."""
    quoted = bmc.get(f"{BOX}/ThermalSubsystem/ThermalMetrics")["TemperatureReadingsCelsius"]
    assert len(quoted) > 10
    for one in quoted[:5]:
        assert bmc.get(one["DataSourceUri"])["Reading"] == pytest.approx(one["Reading"], abs=1.0)


def test_an_etag_outlives_a_reading(bmc: BmcClient) -> None:
    """A reading that changes by itself is no change of the resource."""
    first, second = bmc.send("GET", HEAT), bmc.send("GET", HEAT)
    assert first.headers["ETag"] == second.headers["ETag"]


def test_a_host_that_is_off_has_no_gpu_temperature() -> None:
    """bb-Ricardo/check_redfish#110: sensors of a host that is off have no reading."""
    with EmulatedFleet([Bmc()]) as fleet:
        bmc = BmcClient(fleet.bmcs[0])
        sensor = bmc.get(HEAT)
        assert sensor["Reading"] is None
        assert sensor["Status"]["State"] == "StandbyOffline"
        assert 20 < bmc.get(f"{BOX}/Sensors/Inlet_Temp")["Reading"] < 30
        answer = BmcClient(fleet.bmcs[0]).http.put(
            f"{fleet.admin_url}/bmcs/{fleet.bmcs[0].name}/load", json={"fraction": 0.5}, timeout=10
        )
        assert answer.status_code == 409
        assert "phase 'off'" in answer.json()["error"]


def test_a_sensor_may_have_no_reading(fleet: EmulatedFleet, bmc: BmcClient) -> None:
    """xcat2/confluent#6."""
    fleet.set_fault(fleet.bmcs[0].name, "sensor-unavailable", {"sensor": "SXM_1_TEMP"})
    sensor = bmc.get(HEAT)
    assert (sensor["Reading"], sensor["Status"]["State"]) == (None, "UnavailableOffline")
    assert bmc.get(HEAT.replace("SXM_1", "SXM_2"))["Reading"] is not None


def test_a_frozen_sensor_knows_nothing_of_load(fleet: EmulatedFleet, bmc: BmcClient) -> None:
    """openbmc/dbus-sensors#26: the value stays as it was."""
    fleet.set_fault(fleet.bmcs[0].name, "sensor-frozen", {"sensor": "SXM_1_TEMP"})
    before = bmc.get(HEAT)["Reading"]
    fleet.set_load(fleet.bmcs[0].name, 1.0)
    assert bmc.get(HEAT)["Reading"] == before
    assert bmc.get(HEAT.replace("SXM_1", "SXM_2"))["Reading"] > before + 20


def test_a_listed_sensor_may_answer_404(fleet: EmulatedFleet, bmc: BmcClient) -> None:
    """Linuxfabrik/monitoring-plugins#460."""
    fleet.set_fault(fleet.bmcs[0].name, "sensor-not-found", {"sensor": "SXM_1_TEMP"})
    listed = bmc.get(HEAT.rsplit("/", 1)[0])["Members"]
    assert {"@odata.id": HEAT} in listed
    assert bmc.send("GET", HEAT).status_code == 404


def test_a_fleet_that_is_watched_takes_a_bounded_share_of_a_core() -> None:
    """Measured: a look at all sensors of a server takes 1 to 2 ms."""
    pace = Pace()
    pace.lookers = 1
    assert (pace.pause(0.1), pace.pause(10.0)) == (0.5, 10.0)
    pace.lookers = 10_000
    assert pace.pause(0.1) == 100.0
