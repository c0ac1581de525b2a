"""What a pool runs beside its bundle, and pools told by equal plans."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from provisioner.firmware.compliance import compliance
from provisioner.firmware.domains import Neighbourhood
from provisioner.firmware.plan import plan_updates
from provisioner.firmware.pool import plan_pool
from provisioner.models.identifiers import NodeName
from provisioner.models.inventory import FirmwareComponent
from provisioner.models.lifecycle import State
from provisioner.models.node import Domains
from tests.pure.samples import catalogued, node, part

BUNDLE = catalogued(
    {"name": "bmc", "glob": "BMC*", "version": "2", "releases": ["1", "2"], "activation": "bmc_reset"},
    {
        "name": "gpu",
        "glob": "GPU_*",
        "version": "97.0C",
        "releases": ["95.01", "96.01", "97.0C"],
        "floor": "96.01",
        "activation": "ac_cycle",
        "domain": "tray",
        "extract": "Ver (.+)",
    },
)
A, B, C = NodeName("a"), NodeName("b"), NodeName("c")
GOOD = (part("BMC_0", "2"), part("GPU_0", "Ver 97.0c "), part("GPU_1", "Ver  97.0C"))

reported = st.sampled_from(["95.01", "Ver 96.01", "97.0c", "97.0C ", "other", "N/A", None])
nodes = st.dictionaries(
    st.sampled_from([A, B, C]),
    st.lists(
        st.builds(part, st.sampled_from(["BMC_0", "GPU_0", "GPU_1", "PSU"]), reported), unique_by=lambda one: one.id
    ),
)


def test_ids_and_case_and_what_is_around_a_version_do_not_matter() -> None:
    """Ids change with an update (Dell's name the version), and BMCs write one version in many ways."""
    renamed = tuple(replace(one, id=f"{one.id}_Installed", uri=f"{one.uri}-2") for one in GOOD)
    found = compliance(BUNDLE, {A: GOOD, B: renamed})
    assert all(one.uniform and one.compliant for one in found)
    assert [(one.version, one.nodes) for one in found[1].versions] == [("97.0c", 2)]


def test_each_kind_of_difference_has_its_names() -> None:
    found = compliance(
        BUNDLE,
        {
            A: GOOD,
            B: (part("BMC_0", "1"), part("GPU_0", "Ver 97.0C"), part("GPU_1", "Ver 95.01")),
            C: (part("BMC_0", None), part("GPU_0", "Ver 97.0C")),
        },
    )
    bmc, gpu = found
    assert [(one.version, one.nodes, one.verdict.value) for one in bmc.versions] == [
        ("1", 1, "older"),
        ("2", 1, "equal"),
    ]
    assert (bmc.unknown, bmc.mixed, bmc.uneven, bmc.below_floor) == ((C,), (), (), ())
    assert (gpu.mixed, gpu.uneven, gpu.below_floor, gpu.unknown) == ((B,), (C,), (B,), ())
    assert not bmc.uniform
    assert not gpu.uniform


def test_all_alike_is_not_as_wanted() -> None:
    old = (part("BMC_0", "1"),)
    (bmc, gpu) = compliance(BUNDLE, {A: old, B: old})
    assert (bmc.uniform, bmc.compliant) == (True, False)
    assert (gpu.unknown, gpu.uniform) == ((A, B), False)


@given(nodes)
def test_compliant_is_what_has_no_plan(inventories: dict[NodeName, list[FirmwareComponent]]) -> None:
    """But for the number of parts, of which a plan for one node knows nothing."""
    found = compliance(BUNDLE, inventories)
    nothing = [plan_updates(BUNDLE, one) for one in inventories.values()]
    settled = all(not plan.stages and not plan.refusals for plan in nothing)
    even = not any(one.uneven for one in found)
    assert all(one.compliant for one in found) == (settled and even)


@given(nodes)
def test_a_pool_is_told_whole(inventories: dict[NodeName, list[FirmwareComponent]]) -> None:
    """Every node that was seen is in one group, and its own plan says what its group's says."""
    pool = [replace(node(State.READY), name=name, position=place) for place, name in enumerate((A, B, C))]
    seen = {name: tuple(parts) for name, parts in inventories.items()}
    groups = plan_pool(BUNDLE, pool, seen, Neighbourhood(pool))
    assert sorted(name for group in groups for name in group.nodes) == sorted(seen)
    assert [len(group.nodes) for group in groups] == sorted((len(group.nodes) for group in groups), reverse=True)
    for group in groups:
        for name in group.nodes:
            plan = plan_updates(BUNDLE, seen[name], allow_irreversible=True)
            assert plan.refusals == group.plan.refusals
            assert [one.versions for one in plan.updates] == [one.versions for one in group.plan.updates]
            assert plan.minutes == group.plan.minutes


def test_equal_servers_with_other_addresses_are_one_group() -> None:
    """Ten thousand nodes have to fit on a screen."""
    old = (part("BMC_0", "1"), *GOOD[1:])
    elsewhere = tuple(replace(one, uri=f"/other{one.uri}") for one in old)
    tray = Domains(tray="t1")
    pool = [replace(node(State.READY), name=name, position=place) for place, name in enumerate((A, B))]
    serving = replace(node(State.IN_PRODUCTION), name=C, position=3, domains=tray)
    around = Neighbourhood([*pool, serving])
    (group,) = plan_pool(BUNDLE, pool, {A: old, B: elsewhere}, around)
    assert (group.nodes, group.others, group.blocking) == ((A, B), (), ())
    gpus = (GOOD[0], part("GPU_0", "Ver 96.01"))
    (group,) = plan_pool(BUNDLE, [replace(pool[0], domains=tray)], {A: gpus}, around)
    assert group.others == (C,)
    assert [one.blocks for one in group.blocking] == ["is in production"]
