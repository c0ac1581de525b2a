"""Plans of any bundle for any inventory, carried out on simulated devices that refuse what real ones refuse."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from profiles.firmware.bundle import FirmwareBundle
from profiles.firmware.component import FirmwareComponent as Wanted
from provisioner import versions
from provisioner.firmware.classes import Classes, matching
from provisioner.firmware.plan import FirmwarePlan, Update, plan_for, plan_updates, unproven, unproven_of
from provisioner.models.inventory import FirmwareComponent
from tests.pure.samples import catalogued, part

Inventory = tuple[FirmwareComponent, ...]
ACTIVATIONS = ["none", "bmc_reset", "host_reset", "power_cycle", "aux_cycle", "ac_cycle"]
REPORTED = ["1", "2", "3", "4", "odd", "N/A", None]


@st.composite
def bundles(draw: st.DrawFn) -> FirmwareBundle:
    """Up to five classes of four releases; some share files and targets; `after` goes in any direction, no circle."""
    count = draw(st.integers(1, 5))
    rank = draw(st.permutations(range(count)))
    return catalogued(
        *(draw(_classes(number, [one for one in range(count) if rank[one] < rank[number]])) for number in range(count)),
        policy={name: draw(st.sampled_from(["flash", "refuse"])) for name in ("newer", "unknown")},
    )


@st.composite
def _classes(draw: st.DrawFn, number: int, before: list[int]) -> dict[str, Any]:
    shared = draw(st.booleans())
    return {
        "name": f"c{number}",
        "glob": f"C{number}_*",
        "file": "shared" if shared else f"c{number}",
        "targets": draw(st.sampled_from(["absent", "empty", ("/chassis",)])) if shared else "parts",
        "version": draw(st.sampled_from(["1", "2", "3", "4"])),
        "releases": ["1", *(_release(draw, version) for version in (2, 3, 4))],
        "activation": draw(st.sampled_from(ACTIVATIONS)),
        "after": tuple(f"c{one}" for one in before if draw(st.integers(0, 2)) == 0),
    }


def _release(draw: st.DrawFn, version: int) -> str:
    stone = draw(st.sampled_from(["", "", f"<{version - 1}"]))
    return f"{version}{stone}" + draw(st.sampled_from(["", "", "", "!"]))


@st.composite
def cases(draw: st.DrawFn) -> tuple[FirmwareBundle, Inventory]:
    """A bundle, and up to three parts of each of its classes; most of them can be flashed."""
    bundle = draw(bundles())
    mostly = st.sampled_from([True, True, True, True, False])
    parts = [
        replace(part(f"C{number}_{place}", draw(st.sampled_from(REPORTED))), updateable=draw(mostly))
        for number in range(len(bundle.components))
        for place in range(draw(st.integers(0, 3)))
    ]
    return bundle, tuple(replace(one, write_protected=not draw(mostly)) for one in parts)


@st.composite
def sound(draw: st.DrawFn) -> tuple[FirmwareBundle, Inventory]:
    """One that often has no refusals."""
    bundle, _ = draw(cases())
    bundle = bundle.model_copy(
        update={"policy": bundle.policy.model_copy(update={"newer": "flash", "unknown": "flash"})}
    )
    parts = [
        part(f"C{number}_{place}", draw(st.sampled_from(["1", "2", "3", "4", "odd"])))
        for number in range(len(bundle.components))
        for place in range(draw(st.integers(1, 3)))
    ]
    return bundle, tuple(parts)


def planned(bundle: FirmwareBundle, inventory: Inventory) -> FirmwarePlan:
    """With approval of what cannot be reverted."""
    return plan_updates(bundle, inventory, allow_irreversible=True)


def carry_out(bundle: FirmwareBundle, inventory: Inventory, plan: FirmwarePlan) -> Inventory:
    """As a device does; it says where the plan would have bricked it, or was refused."""
    now = {one.uri: one for one in inventory}
    for stage in plan.stages:
        for update in stage.updates:
            for wanted in bundle.components:
                if wanted.component in update.components:
                    _may_be_flashed(bundle, wanted, tuple(now.values()))
                    _flash(wanted, update, now)
        seen = tuple(now.values())
        assert all(unproven_of(update, bundle, seen) == () for update in stage.updates)
    return tuple(now.values())


def _may_be_flashed(bundle: FirmwareBundle, wanted: Wanted, now: Inventory) -> None:
    for other in (one for one in bundle.components if one.component in wanted.after):
        assert all(versions.equal(one.version, other.version) for one in matching(other, now))


def _flash(wanted: Wanted, update: Update, now: dict[str, FirmwareComponent]) -> None:
    ranks = [release.version for release in wanted.releases]
    version = update.versions[update.components.index(wanted.component)]
    release = wanted.releases[ranks.index(version)]
    for one in matching(wanted, tuple(now.values())):
        if one.uri not in update.parts and wanted.targets == "parts":
            continue
        assert not one.write_protected or one.version == version
        assert not versions.is_missing(one.version)
        if one.version in ranks:
            rank = ranks.index(one.version)
            assert not any(newer.irreversible for newer in wanted.releases[ranks.index(version) + 1 : rank + 1])
            assert release.requires is None or rank >= ranks.index(release.requires)
        now[one.uri] = replace(one, version=version)


@given(sound())
def test_a_plan_that_is_carried_out_leads_to_the_bundle(case: tuple[FirmwareBundle, Inventory]) -> None:
    """And planning again gives nothing."""
    bundle, inventory = case
    plan = planned(bundle, inventory)
    if plan.refusals:
        return
    after = carry_out(bundle, inventory, plan)
    assert planned(bundle, after) == FirmwarePlan()
    assert unproven(bundle, after) == ()


@given(sound())
def test_a_plan_that_was_cut_off_goes_on_from_what_is_seen(case: tuple[FirmwareBundle, Inventory]) -> None:
    """After each stage, planning again gives the stages that were left, or fewer: no class is flashed twice."""
    bundle, inventory = case
    plan = planned(bundle, inventory)
    if plan.refusals or not plan.stages:
        return
    after = carry_out(bundle, inventory, FirmwarePlan(plan.stages[:1]))
    again = planned(bundle, after)
    assert again.refusals == ()
    done = {
        (name, version)
        for one in plan.stages[0].updates
        for name, version in zip(one.components, one.versions, strict=True)
    }
    left = {
        (name, version) for one in again.updates for name, version in zip(one.components, one.versions, strict=True)
    }
    assert done.isdisjoint(left)


@given(cases())
def test_nothing_is_flashed_that_must_not_be(case: tuple[FirmwareBundle, Inventory]) -> None:
    """No part without a version, none that is as it should be, none that is locked; each named with its reason."""
    bundle, inventory = case
    plan = planned(bundle, inventory)
    flashed = {uri for update in plan.updates for uri in update.parts}
    for wanted in bundle.components:
        told = " ".join(text for text in plan.refusals if text.startswith(f"{wanted.component}: "))
        for one in matching(wanted, inventory):
            locked = one.write_protected or (not one.updateable and wanted.targets == "parts")
            right = versions.equal(one.version, wanted.version)
            assert not (one.uri in flashed and (right or locked or versions.is_missing(one.version)))
            assert right or one.uri in flashed or one.id in told
        assert matching(wanted, inventory) or "no part in the inventory" in told


@given(cases())
def test_the_same_again_and_beside_others(case: tuple[FirmwareBundle, Inventory]) -> None:
    """What was found out for one node changes no plan of another."""
    bundle, inventory = case
    classes = Classes(bundle)
    plan_for(classes, inventory[::-1])
    assert plan_for(classes, inventory) == plan_updates(bundle, inventory)


@given(cases())
def test_what_cannot_be_reverted_needs_approval_and_is_always_told(case: tuple[FirmwareBundle, Inventory]) -> None:
    bundle, inventory = case
    free, bound = planned(bundle, inventory), plan_updates(bundle, inventory)
    assert free.irreversible == bound.irreversible
    assert free.stages == bound.stages
    more = [text for text in bound.refusals if text not in free.refusals]
    assert [text.split("; approve")[0] for text in more] == list(free.irreversible)
    policy = bundle.policy.model_copy(update={"irreversible": "flash"})
    assert plan_updates(bundle.model_copy(update={"policy": policy}), inventory) == free


GROUP = ({"name": "gpu", "glob": "GPU_*", "targets": "absent"}, {"name": "fpga", "glob": "FPGA_*", "targets": "absent"})


def test_one_file_for_the_same_targets_is_one_update() -> None:
    """DGX and HGX: one package for the whole GPU tray."""
    common = {"file": "hgx", "version": "2", "releases": ["1", "2"]}
    gpu, fpga = ({**one, **common} for one in GROUP)
    bundle = catalogued({**gpu, "activation": "power_cycle"}, {**fpga, "activation": "ac_cycle"})
    plan = planned(bundle, (part("GPU_0", "1", updateable=False), part("FPGA_0", "1")))
    (update,) = plan.updates
    assert (update.components, update.versions, update.targets) == (("gpu", "fpga"), ("2", "2"), None)
    assert update.activation == "ac_cycle"
    assert len(update.parts) == 2
    assert plan.refusals == ()


def test_one_file_cannot_be_sent_in_two_ways() -> None:
    common = {"file": "hgx", "version": "2", "releases": ["1", "2"], "activation": "ac_cycle"}
    gpu, fpga = ({**one, **common} for one in GROUP)
    bundle = catalogued({**gpu, "transports": ("multipart",)}, fpga)
    (refusal,) = planned(bundle, (part("GPU_0", "1"), part("FPGA_0", "1"))).refusals
    assert refusal.startswith("fpga: it is updated with gpu, by one file for the same targets, but in another way")


def test_a_group_is_not_taken_back_by_the_stepping_stone_of_one_part() -> None:
    bundle = catalogued({**GROUP[0], "version": "3", "releases": ["1", "2", "3<2"], "activation": "ac_cycle"})
    (refusal,) = planned(bundle, (part("GPU_0", "1"), part("GPU_1", "3"))).refusals
    assert refusal.startswith("gpu: GPU_1: would be taken back by gpu-2.fw, which gpu needs first")


def test_stepping_stones_are_stages_of_their_own() -> None:
    bundle = catalogued(
        {"name": "bmc", "glob": "BMC*", "version": "3", "releases": ["1", "2", "3<2"], "activation": "power_cycle"}
    )
    plan = planned(bundle, (part("BMC_0", "1"), part("BMC_1", "2")))
    assert [[(one.version, one.parts) for one in stage.updates] for stage in plan.stages] == [
        [("2", ("/inventory/BMC_0",))],
        [("3", ("/inventory/BMC_0", "/inventory/BMC_1"))],
    ]


def test_a_part_that_passed_a_line_does_not_go_back_whatever_the_policy() -> None:
    """Security revisions and comparison stamps (DSP0267): the device would refuse it in the middle of a plan."""
    fields = {"name": "bmc", "glob": "BMC", "version": "1", "releases": ["1", "2!", "3"], "activation": "bmc_reset"}
    plan = planned(catalogued(fields, policy={"newer": "flash", "unknown": "flash"}), (part("BMC", "3"),))
    assert plan.updates == ()
    assert plan.refusals == (
        "bmc: BMC: runs 3, and from 2 on the device refuses what is older: it cannot go to 1; name 2 or a newer one "
        "in the bundle",
    )


def test_policies_name_the_part_both_versions_and_the_remedy() -> None:
    fields = {"name": "bmc", "glob": "BMC_*", "version": "1", "releases": ["1", "2"], "activation": "bmc_reset"}
    bundle = catalogued(fields, policy={"newer": "refuse", "unknown": "refuse"})
    assert planned(bundle, (part("BMC_0", "2"), part("BMC_1", "2"), part("BMC_2", "odd"))).refusals == (
        "bmc: BMC_0, BMC_1: runs 2, newer than 1; name 2 in the bundle, or write `policy: {newer: flash}` there to go "
        "back",
        "bmc: BMC_2: runs odd, and nothing says whether 1 is newer; list odd among the releases of the catalog, or "
        "write `policy: {unknown: flash}` in the bundle",
    )


def test_a_package_that_is_too_large_is_refused_before_it_is_sent() -> None:
    """DMTF/Redfish-Tacklebox#99: a BMC with a limit of 70 MiB."""
    bundle = catalogued({"name": "bmc", "glob": "BMC", "version": "2", "releases": ["1", "2"], "activation": "none"})
    plan = plan_updates(bundle, (part("BMC", "1"),), largest_bytes=0)
    assert "bmc-2.fw has 1 bytes, and this BMC takes no more than 0 (MaxImageSizeBytes)" in plan.refusals[0]
    assert plan_updates(bundle, (part("BMC", "1"),), largest_bytes=1).refusals == ()


def test_classes_that_come_after_each_other_are_refused() -> None:
    fields = {"version": "2", "releases": ["1", "2"], "activation": "none"}
    first = {"name": "a", "glob": "A", "after": ("b",), **fields}
    second = {"name": "b", "glob": "B", "after": ("a",), **fields}
    plan = planned(catalogued(first, second), (part("A", "1"), part("B", "1")))
    assert plan == FirmwarePlan((), ("a, b: each comes after another of them; correct `after`",))
