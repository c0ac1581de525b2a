"""The audit chain: whatever is done to an exported log is found, at the first line that it touches."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provisioner.models.audit import NOTHING_BEFORE, AuditEntry, AuditLine, follow, seal, text_of
from provisioner.services.audit import AuditDocument, Broken, Verified, verify

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
WORDS = st.text(max_size=8)
DIGESTS = st.none() | st.just("sha256:" + "a" * 64)
ENTRIES = st.builds(
    AuditEntry,
    at=st.datetimes(timezones=st.just(UTC)),
    who=WORDS,
    what=WORDS,
    subject=WORDS,
    before=DIGESTS,
    after=DIGESTS,
    evidence=st.lists(WORDS, max_size=2).map(tuple),
    request=WORDS,
)


def chain(entries: list[AuditEntry]) -> list[AuditLine]:
    lines: list[AuditLine] = []
    for entry in entries:
        lines.append(follow(lines[-1] if lines else None, entry))
    return lines


def five() -> list[str]:
    entries = [AuditEntry(NOON + timedelta(minutes=n), f"p{n}", "node.hold", f"r01-u0{n}") for n in range(1, 6)]
    return [text_of(line) for line in chain(entries)]


def rewritten(text: str, **fields: Any) -> str:
    """A line with other content and a digest that fits it."""
    document = AuditDocument.model_validate({**json.loads(text), **fields})
    return text_of(seal(document.line()))


@given(st.lists(ENTRIES, max_size=5))
def test_what_was_written_is_whole(entries: list[AuditEntry]) -> None:
    lines = chain(entries)
    texts = [text_of(line) for line in lines]
    assert verify(texts) == Verified(len(lines), lines[-1].digest if lines else NOTHING_BEFORE)
    assert [AuditDocument.model_validate_json(text).line() for text in texts] == lines


@given(st.data())
def test_any_changed_character_is_found_where_it_is(data: st.DataObject) -> None:
    texts = five()
    place = data.draw(st.integers(0, 4))
    text = texts[place]
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters(codec="utf-8").filter(lambda one: one != text[at]))
    texts[place] = text[:at] + other + text[at + 1 :]
    found = verify(texts)
    assert isinstance(found, Broken)
    assert found.place == place + 1


@given(st.permutations(range(5)))
def test_any_other_order_is_found(order: list[int]) -> None:
    texts = five()
    found = verify([texts[number] for number in order])
    if order == sorted(order):
        assert isinstance(found, Verified)
        return
    assert isinstance(found, Broken)
    assert found.place == next(place for place, number in enumerate(order) if place != number) + 1
    assert "the order was changed" in found.why or "second time" in found.why


@given(st.sets(st.integers(0, 4), min_size=1, max_size=4))
def test_any_missing_lines_are_found(gone: set[int]) -> None:
    """Those at the end by the digest that an earlier look has told."""
    texts = five()
    head = json.loads(texts[-1])["digest"]
    found = verify([text for number, text in enumerate(texts) if number not in gone], head)
    assert isinstance(found, Broken)
    assert "missing" in found.why


def test_faults_name_the_line() -> None:
    texts = five()
    assert verify([*texts[:2], *texts[3:]]) == Broken(3, "entry 3 is missing before entry 4 (node.hold r01-u04 by p4)")
    assert verify(texts[3:]) == Broken(1, "entries 1 to 3 are missing before entry 4 (node.hold r01-u04 by p4)")
    swapped = [texts[0], texts[2], texts[1], *texts[3:]]
    why = (
        "the order was changed: entry 3 (node.hold r01-u03 by p3) is here, and entry 2, which belongs here, comes later"
    )
    assert verify(swapped) == Broken(2, why)
    twice = "entry 2 (node.hold r01-u02 by p2) is here a second time, or was moved: entry 3 belongs here"
    assert verify([*texts[:2], texts[1]]) == Broken(3, twice)
    assert verify(["", *texts]) == Broken(1, "it is no line of an audit log")
    cut = "the line with digest sha256:0 is missing: the end of the log was cut off or rewritten"
    assert verify(texts, "sha256:0") == Broken(6, cut)
    assert verify(texts, json.loads(texts[2])["digest"]) == Verified(5, json.loads(texts[4])["digest"])


def test_a_line_whose_digest_was_made_to_fit_is_found_by_the_next() -> None:
    texts = five()
    texts[1] = rewritten(texts[1], who="eve")
    before = "entry 2 (node.hold r01-u02 by eve) was replaced"
    assert verify(texts) == Broken(3, f"{before}: entry 3 (node.hold r01-u03 by p3) was written behind another line")
    texts[0] = rewritten(texts[0], previous="sha256:1")
    assert verify(texts) == Broken(
        1, "the beginning was replaced: entry 1 (node.hold r01-u01 by p1) was written behind another line"
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("{", '{"who":"eve",', 1),
        lambda text: text.replace('"who":', '"who": ', 1),
        lambda text: text.replace("}", ',"more":1}'),
        lambda text: text.replace("12:01:00.000000Z", "13:01:00.000000+01:00"),
    ],
)
def test_another_spelling_of_the_same_is_no_line_of_ours(change: Any) -> None:
    """A name that stands twice in JSON shows a reader one value and a program the other."""
    texts = five()
    assert change(texts[0]) != texts[0]
    found = verify([change(texts[0]), *texts[1:]])
    assert isinstance(found, Broken)
    assert found.place == 1
