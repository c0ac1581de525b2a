"""Heat and power of the box: fans, supplies, sensors, leaks."""

from typing import Literal

from emulator.persona.part import Part, numbered


class Fans(Part):
    """Fans of the first chassis; at most `spare` of them may fail."""

    id: str = "FAN{n}"
    count: int = 10
    first: int = 1
    minimum_rpm: int = 2800
    maximum_rpm: int = 16000
    spare: int = 1
    sensor: str = "{fan}"  # pattern of the id of its sensor

    @property
    def ids(self) -> tuple[str, ...]:
        """One id for each."""
        return numbered(self.id, self.count, self.first)


class Supplies(Part):
    """Power supplies of the first chassis; at most `spare` of them may fail."""

    id: str = "{n}"
    name: str = "Power Supply {n}"
    count: int = 6
    first: int = 0
    watts: int = 3000
    manufacturer: str = "Delta"
    model: str = "ECD16020137"
    part_number: str = "PWS-3K01A-1R"
    version: str = "1.3"
    volts: int = 230
    spare: int = 2

    @property
    def ids(self) -> tuple[str, ...]:
        """One id for each."""
        return numbered(self.id, self.count, self.first)


class SensorNames(Part):
    """Ids of sensors. `{n}` is the number or id of the part, `{chassis}` the chassis where the sensor is."""

    inlet: str = "Inlet_Temp"
    exhaust: str = "Exhaust_Temp"
    board: str = "System_Temp"
    total_power: str = "Total_Power"
    energy: str = "Total_Energy"
    cpu_temperature: str = "CPU{n}_Temp"
    cpu_power: str = "CPU{n}_Power"
    memory: str = "DIMM_Group{n}_Temp"  # one for each processor
    drive: str = "Drive{n}_Temp"
    adapter: str = "{n}_Temp"
    supply_input: str = "PSU{n}_Input_Power"
    supply_output: str = "PSU{n}_Output_Power"
    supply_voltage: str = "PSU{n}_Input_Voltage"
    supply_temperature: str = "PSU{n}_Temp"
    gpu_temperature: str = "{chassis}_TEMP_0"
    gpu_memory: str = "{chassis}_DRAM_0_Temp_0"
    gpu_power: str = "{chassis}_Power_0"
    gpu_energy: str = "{chassis}_Energy_0"
    gpu_voltage: str = "{chassis}_Voltage_0"
    switch_temperature: str = "{chassis}_TEMP_0"
    switch_power: str = "{chassis}_Power_0"


class Physics(Part):
    """Heat and power of the box. `legacy`: has Power and Thermal; `subsystems`: PowerSubsystem and ThermalSubsystem."""

    inlet_celsius: float = 24.0
    inlet_warning: float = 38.0
    inlet_critical: float = 42.0
    cpu_celsius: float = 68.0  # at full load
    cpu_critical: float = 98.0
    gpu_celsius: float = 66.0  # at full load
    cooling: Literal["air", "liquid"] = "air"
    leak_detectors: tuple[str, ...] = ()  # ids; there are some only with liquid cooling
    idle_watts: int = 1400  # the box with everything in it
    maximum_watts: int = 10200  # the same at full load
    power_limit: bool = True  # the limit of the box may be set
    legacy: bool = True
    subsystems: bool = True

    @property
    def highest_limit_watts(self) -> int:
        """The highest limit that the box can be given."""
        return round(self.maximum_watts * 1.2)
