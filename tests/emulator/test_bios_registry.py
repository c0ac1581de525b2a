"""The attribute registry of a BIOS is enforced: types, limits, locks and dependencies."""

from typing import Any

import orjson
import pytest

from emulator.persona.bios import Bios, BiosAttribute, Condition, Dependency
from emulator.persona.bios_rules import problems, resolve
from emulator.persona.registry import bios_of
from emulator.testing import EmulatedFleet
from tests.emulator.bios_site import DELL, SMC, boot, messages, stage
from tests.emulator.bmc_client import BmcClient
from tests.redfish.tree_server import MOCKUPS

RECORDED = {
    "dell-r750-idrac9": (
        "Systems/System.Embedded.1/Bios/BiosRegistry",
        "Systems/System.Embedded.1/Bios",
        (455, 278),
    ),
    "lenovo-sr670v2-xcc": (
        "schemas/registries/BiosAttributeRegistry.1.0.0.json",
        "Systems/1/Bios",
        (348, 95),
    ),
}


def attribute(**fields: Any) -> BiosAttribute:
    return BiosAttribute.model_validate({"type": "Integer", "value": 0, **fields})


def test_dependencies_reach_a_fixed_point_and_or_binds_in_order() -> None:
    """DSP0268, AttributeRegistry: missing MapTerms are AND (dell-r750-idrac9: several MapFrom entries have none)."""
    chain = Bios(
        attributes={name: attribute() for name in "abc"},
        dependencies=(
            Dependency(when=(Condition(attribute="b", value=1),), attribute="c", property="CurrentValue", value=1),
            Dependency(when=(Condition(attribute="a", value=1),), attribute="b", property="CurrentValue", value=1),
            Dependency(
                when=(
                    Condition(attribute="a", condition="GTR", value=5),
                    Condition(attribute="c", value=1, terms="OR"),
                    Condition(attribute="b", condition="LEQ", value=1),
                ),
                attribute="c",
                property="ReadOnly",
                value=True,
            ),
        ),
    )
    assert resolve(chain, {"a": 1, "b": 0, "c": 0}).values == {"a": 1, "b": 1, "c": 1}
    assert [one.trouble for one in problems(chain, {"a": 0, "b": 0, "c": 0}, {"a": 1, "c": 0})] == ["read-only"]
    assert problems(chain, {"a": 0, "b": 0, "c": 0}, {"c": 3}) == []


def test_conditions_without_terms_mean_or_where_the_recorded_locks_say_so() -> None:
    """dell-r750-idrac9: of 46 dependencies that hold by OR all are as recorded, by AND 33 locks have no reason."""
    registry_path, bios_path, _ = RECORDED["dell-r750-idrac9"]
    root = MOCKUPS / "dell-r750-idrac9/redfish/v1"
    registry = orjson.loads((root / registry_path / "index.json").read_bytes())
    values = orjson.loads((root / bios_path / "index.json").read_bytes())["Attributes"]
    bios = bios_of(registry, values)
    assert bios.missing_terms == "OR"
    assert [one.trouble for one in problems(bios, values, {"ProcCStates": "Enabled"})] == ["read-only"]
    assert problems(bios, values, {"SysProfile": "Custom", "ProcCStates": "Enabled"}) == []


@pytest.mark.parametrize(("terms", "holds"), [(("OR", None), True), ((None, "OR"), True), ((None, None), False)])
def test_terms_stand_on_either_of_two_conditions(terms: tuple[Any, Any], holds: bool) -> None:
    """lenovo-sr670v2-xcc has them on the first condition, gigabyte-h262-z63-megarac on the second."""
    when = tuple(Condition(attribute="a", value=value, terms=term) for value, term in zip((1, 2), terms, strict=True))
    dependency = Dependency(when=when, attribute="b", property="ReadOnly", value=True)
    bios = Bios(attributes={"a": attribute(), "b": attribute()}, dependencies=(dependency,))
    assert bool(problems(bios, {"a": 2, "b": 0}, {"b": 1})) is holds


def test_dependencies_that_chase_each_other_come_to_an_end() -> None:
    """A registry may be wrong; a BMC does not hang for that."""
    turns = tuple(
        Dependency(when=(Condition(attribute="a", value=old),), attribute="a", property="CurrentValue", value=new)
        for old, new in ((0, 1), (1, 0))
    )
    assert resolve(Bios(attributes={"a": attribute()}, dependencies=turns), {"a": 0}).values["a"] in (0, 1)


@pytest.mark.parametrize(
    ("fields", "value", "trouble"),
    [
        ({"lower": 2, "upper": 8, "increment": 3}, 5, None),
        ({"lower": 2, "upper": 8, "increment": 3}, 6, "range"),
        ({"lower": 2, "upper": 8}, 9, "range"),
        ({}, True, "type"),
        ({"type": "String", "max_length": 3}, "four", "format"),
        ({"type": "String", "min_length": 2}, "1", "format"),
        ({"type": "String", "pattern": "^[0-9]+$"}, "1a", "format"),
        ({"type": "Password", "max_length": 8}, "secret", None),
        ({"immutable": True}, 1, "read-only"),
        ({"gray_out": True}, 1, "read-only"),
        ({"hidden": True}, 1, "read-only"),
    ],
)
def test_registry_properties_are_enforced(fields: dict[str, Any], value: object, trouble: str | None) -> None:
    """DSP0268, AttributeRegistry."""
    bios = Bios(attributes={"a": attribute(**fields)})
    assert [one.trouble for one in problems(bios, {"a": 0}, {"a": value})] == ([trouble] if trouble else [])


@pytest.mark.parametrize("machine", RECORDED)
def test_recorded_values_are_what_the_recorded_registry_makes_of_them(machine: str) -> None:
    """NVIDIA/libredfish mockups: real settings are at the fixed point of their own registry's dependencies."""
    registry_path, bios_path, expected = RECORDED[machine]
    root = MOCKUPS / machine / "redfish/v1"
    registry = orjson.loads((root / registry_path / "index.json").read_bytes())
    values = orjson.loads((root / bios_path / "index.json").read_bytes())["Attributes"]
    bios = bios_of(registry, values)
    assert (len(bios.attributes), len(bios.dependencies)) == expected
    assert resolve(bios, values).values == values


def test_registry_document_says_what_is_enforced(dell: BmcClient) -> None:
    """DSP0268: limits, locks and dependencies; every attribute of Bios is in it."""
    name = dell.get(DELL)["AttributeRegistry"]
    location = dell.get(f"/redfish/v1/Registries/{name}")["Location"][0]["Uri"]
    registry = dell.get(location)["RegistryEntries"]
    entries = {entry["AttributeName"]: entry for entry in registry["Attributes"]}
    assert set(entries) == set(dell.get(DELL)["Attributes"])
    assert (entries["AcPwrRcvryUserDelay"]["LowerBound"], entries["AcPwrRcvryUserDelay"]["UpperBound"]) == (120, 600)
    assert entries["SystemServiceTag"]["Immutable"] is entries["SystemServiceTag"]["ReadOnly"] is True
    assert entries["SetupPassword"]["WriteOnly"] is True
    assert entries["AssetTag"]["ResetRequired"] is False
    assert {one["DependencyFor"] for one in registry["Dependencies"]} >= {"ProcCStates", "HttpDev1Uri"}


def test_supermicro_registry_numbers_the_values_that_attributes_show_as_text(smc: BmcClient) -> None:
    """NVIDIA/libredfish mockups: ValueName is a number, reads and writes use the display text."""
    registry = smc.get("/redfish/v1/Registries/BiosAttributeRegistry.v1_0_0")["Location"][0]["Uri"]
    entries = {one["AttributeName"]: one for one in smc.get(registry)["RegistryEntries"]["Attributes"]}
    values = entries["SR_IOVSupport_0047"]["Value"]
    assert [(one["ValueName"], one["ValueDisplayName"]) for one in values] == [("0", "Disabled"), ("1", "Enabled")]
    assert messages(stage(smc, f"{SMC}/SD", {"SR_IOVSupport_0047": "1"}))[0][0] == "PropertyValueNotInList"
    assert stage(smc, f"{SMC}/SD", {"SR_IOVSupport_0047": "Enabled"}).status_code == 200


def test_child_is_read_only_until_its_parent_is_set_and_follows_it(bios_fleet: EmulatedFleet, dell: BmcClient) -> None:
    """ironcore-dev/metal-operator#752: judged by current, pending and patched values together."""
    refused = stage(dell, f"{DELL}/Settings", {"ProcCStates": "Disabled"})
    assert (refused.status_code, messages(refused)) == (400, [("PropertyNotWritable", "ProcCStates")])
    assert stage(dell, f"{DELL}/Settings", {"SysProfile": "Custom"}).status_code == 200
    assert stage(dell, f"{DELL}/Settings", {"ProcCStates": "Disabled"}).status_code == 200
    boot(bios_fleet, dell)
    assert dell.get(DELL)["Attributes"]["ProcCStates"] == "Disabled"
    assert stage(dell, f"{DELL}/Settings", {"SysProfile": "PerfPerWattOptimizedDapc"}).status_code == 200
    boot(bios_fleet, dell)
    assert dell.get(DELL)["Attributes"]["ProcCStates"] == "Enabled"


def test_every_bad_attribute_of_a_change_is_named_and_none_is_taken(smc: BmcClient) -> None:
    """DSP0266, error responses: one message each, with RelatedProperties."""
    wanted = {"NUMA_003B": "Disabled", "NoSuch": 1, "BIOSVersion_0001": "2", "PXEBootWaitTime_00F8": "2"}
    answer = stage(smc, f"{SMC}/SD", wanted)
    assert answer.status_code == 400
    assert messages(answer) == [
        ("PropertyUnknown", "NoSuch"),
        ("PropertyNotWritable", "BIOSVersion_0001"),
        ("PropertyValueTypeError", "PXEBootWaitTime_00F8"),
    ]
    assert smc.get(f"{SMC}/SD")["Attributes"] == {}
