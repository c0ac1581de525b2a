"""From BIOS attributes and a profile to what is set."""

from hypothesis import given
from hypothesis import strategies as st

from provisioner.bios.plan import BiosValue, plan_bios, same
from tests.pure.samples import bios

NAMES = [f"Attribute{number}" for number in range(6)]
values: st.SearchStrategy[str | int | bool] = st.sampled_from(["Enabled", "Disabled", "1", "", 0, 1, 56, True, False])
wanted = st.dictionaries(st.sampled_from(NAMES), values, min_size=1)
current = st.dictionaries(st.sampled_from(NAMES), values | st.none())


@given(wanted, current)
def test_what_was_set_needs_no_setting(attributes: dict[str, str | int | bool], seen: dict[str, BiosValue]) -> None:
    plan = plan_bios(bios(attributes), seen)
    assert plan_bios(bios(attributes), {**seen, **plan.changes}).changes == {}


@given(wanted, current)
def test_changes_are_exactly_what_differs(attributes: dict[str, str | int | bool], seen: dict[str, BiosValue]) -> None:
    changes = plan_bios(bios(attributes), seen).changes
    for name, value in attributes.items():
        assert (name in changes) == (name in seen and not same(seen[name], value))
    assert all(same(value, attributes[name]) for name, value in changes.items())


@given(wanted, current, st.sets(st.sampled_from(NAMES)))
def test_a_name_that_the_bios_lacks_is_refused_unless_optional(
    attributes: dict[str, str | int | bool], seen: dict[str, BiosValue], optional: set[str]
) -> None:
    """infra-controller#5215: names differ between boards of one model; setting one that is absent reboots for ever."""
    allowed = tuple(sorted(optional & attributes.keys()))
    plan = plan_bios(bios(attributes, allowed), seen)
    refused = [name for name in attributes if name not in seen and name not in optional]
    assert [text.split(":")[0] for text in plan.refusals] == refused
    assert not plan.changes.keys() - seen.keys()


@given(values | st.none(), values | st.none())
def test_sameness_is_symmetric_and_strict(one: BiosValue, other: BiosValue) -> None:
    assert same(one, one)
    assert same(one, other) == same(other, one)
    if same(one, other):
        assert type(one) is type(other)


def test_one_is_neither_true_nor_the_text() -> None:
    """metal-operator PR 1040: an integer sent as text is refused."""
    assert not same(1, True)
    assert not same(0, False)
    assert not same("1", 1)
    assert not same(None, False)
    assert plan_bios(bios({"A": True}), {"A": 1}).changes == {"A": True}
