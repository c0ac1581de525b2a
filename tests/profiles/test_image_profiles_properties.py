"""Whatever profiles say: changes compose, every value has an author, and hostile files are refused, not crashed on."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles.images.lock import profile_digest
from profiles.images.merged import merged_document
from profiles.images.patch import Branch, Leaf, Patch, Written, compose, plain
from profiles.images.patch_source import read_patch
from profiles.yaml_source import Located, Position
from tests.profiles.image_files import IMAGES, debian, load

KEYS = ("a", "b", "c")
scalars = st.sampled_from(["x", "y", 1, True])
records = st.builds(lambda name, value: {"name": name, "value": value}, st.sampled_from(KEYS), scalars)
removals = st.builds(lambda key: {"$remove": key}, st.sampled_from([*KEYS, "x", "y"]))


def distinct(items: list[Any]) -> list[Any]:
    """Keep one item of each name: a file that says two things about one is refused."""
    return list(
        {
            str(item.get("$remove", item.get("name")) if isinstance(item, dict) else item): item for item in items
        }.values()
    )


lists = st.lists(scalars | records | removals, max_size=4).map(distinct)
removed_keys = st.lists(st.sampled_from(KEYS), max_size=2, unique=True)


def mappings(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return mappings with and without markers; nothing is removed and written by one of them."""
    entries = st.dictionaries(st.sampled_from(KEYS), inner, max_size=3)
    marked = st.builds(
        lambda said, gone: {**{key: one for key, one in said.items() if key not in gone}, "$remove": gone},
        entries,
        removed_keys,
    )
    replaced = st.builds(lambda whole: {"$replace": whole}, entries | lists)
    return entries | marked | replaced


values = st.recursive(scalars | lists, mappings, max_leaves=8)
documents = st.dictionaries(st.sampled_from(KEYS), values, max_size=3)


def located(value: Any, name: str = "file") -> Located:
    """Return the value as if it came from a file, every part on line 1."""
    positions: dict[tuple[str | int, ...], Position] = {}

    def place(part: Any, field: tuple[str | int, ...]) -> None:
        positions[field] = Position(1, 1)
        for key, item in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
            place(item, (*field, key))

    place(value, ())
    return Located(Path(f"{name}.yaml"), value, positions, {}, {})


def patches(*documents: Any) -> list[Branch]:
    return [read_patch(located(document, f"file{number}")) for number, document in enumerate(documents)]


@given(one=documents, two=documents, three=documents)
def test_merging_is_associative_with_its_history(one: Any, two: Any, three: Any) -> None:
    a, b, c = patches(one, two, three)
    assert told(compose(compose(a, b), c)) == told(compose(a, compose(b, c)))


@given(one=documents, two=documents)
def test_a_profile_merged_with_itself_is_itself(one: Any, two: Any) -> None:
    base, child = patches(one, two)
    merged = compose(base, child)
    assert plain(compose(merged, merged)) == plain(merged)
    again = read_patch(child.written[0].origin.document)
    assert plain(compose(merged, again)) == plain(merged) or has_markers(two)


@given(one=documents, two=documents)
def test_every_value_has_an_author_whose_file_says_so(one: Any, two: Any) -> None:
    base, child = patches(one, two)
    merged = compose(base, child)
    assert isinstance(merged, Branch)
    document = merged_document(child.written[0].origin.document, merged)
    assert document.value == plain(merged)
    for field, patch in document.patches.items():
        assert value_at(document.value, field) == plain(patch)
        if isinstance(patch, Leaf):
            (author,) = patch.written
            assert value_at(author.origin.document.value, author.origin.field) == patch.value == author.value
        assert not {place(lost) for lost in patch.overrode} & {place(author) for author in patch.written}


@given(one=documents, two=documents)
def test_what_only_one_file_says_stays(one: Any, two: Any) -> None:
    base, child = patches(one, two)
    merged = plain(compose(base, child))
    for key in one.keys() - two.keys():
        assert merged[key] == plain(base.entries[key])
    for key in two.keys() - one.keys():
        assert merged[key] == plain(child.entries[key])


@given(order=st.permutations(range(IMAGES["elder"].count("\n"))))
@settings(max_examples=20, deadline=None)
def test_the_order_of_keys_does_not_change_a_profile(order: list[int]) -> None:
    document = yaml.safe_load(IMAGES["elder"])
    turned = dict(sorted(document.items(), key=lambda item: order[list(document).index(item[0])]))
    with TemporaryDirectory() as folder:
        plain_digest = profile_digest(debian(Path(folder), "plain"))
        images, findings = load(Path(folder), {"elder": yaml.safe_dump(turned, sort_keys=False)})
        assert not findings
        assert profile_digest(debian(Path(folder), "plain")) == plain_digest
        assert images["plain"].chain == ("elder", "plain")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(data=st.data(), name=st.sampled_from(sorted(IMAGES)))
def test_anything_in_the_place_of_one_value_is_taken_or_told(data: st.DataObject, name: str) -> None:
    document = yaml.safe_load(IMAGES[name])
    place: Any = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = data.draw(st.sampled_from(keys))
        if not place[key] or not isinstance(place[key], dict | list) or data.draw(st.booleans()):
            place[key] = data.draw(JSON)
            break
        place = place[key]
    with TemporaryDirectory() as folder:
        images, findings = load(Path(folder), {name: yaml.safe_dump(document, allow_unicode=True)})
        assert findings or images.keys() == IMAGES.keys()
        assert all(finding.message and finding.line >= 1 for finding in findings)


def told(patch: Patch) -> Any:
    """Return everything that a patch says, to compare."""
    history = [place(one) for one in patch.written], [place(one) for one in patch.overrode]
    if isinstance(patch, Leaf):
        return patch.value, history
    removed = {key: (str(origin.document.file), origin.field) for key, origin in patch.removed.items()}
    entries = [(key, told(entry)) for key, entry in patch.entries.items()]
    return patch.is_list, patch.replaces, entries, removed, history


def place(written: Written) -> tuple[str, tuple[str | int, ...]]:
    return str(written.origin.document.file), written.origin.field


def value_at(value: Any, field: tuple[str | int, ...]) -> Any:
    for part in field:
        value = value[part]
    return value


def has_markers(value: Any) -> bool:
    return "$re" in str(value)
