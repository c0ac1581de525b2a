"""A release is its content."""

from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from profiles.fields import parse_duration, spell_duration
from profiles.loader import load_catalog
from profiles.release import Release
from profiles.schema_files import SCHEMAS, write_schemas
from tests.profiles.catalogs import write_catalog

IMAGE = "sha256:" + "ab" * 32


def test_a_release_survives_its_own_json(tmp_path: Path) -> None:
    release = load_catalog(write_catalog(tmp_path)).resolve_release("box-first", IMAGE)
    again = Release.model_validate_json(release.model_dump_json())
    assert again == release
    assert again.digest == release.digest


def test_the_order_of_keys_does_not_matter(tmp_path: Path) -> None:
    release = load_catalog(write_catalog(tmp_path)).resolve_release("box-first", IMAGE)
    turned = dict(reversed(release.bios.attributes.items()))
    bios = release.bios.model_copy(update={"attributes": turned})
    assert release.model_copy(update={"bios": bios}).digest == release.digest


@given(st.integers(min_value=1, max_value=365 * 86_400_000))
def test_a_duration_survives_its_own_text(milliseconds: int) -> None:
    duration = timedelta(milliseconds=milliseconds)
    assert parse_duration(spell_duration(duration)) == duration


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("15m", 900), ("2h", 7200), ("1h30m", 5400), ("200ms", 0.2)]
)
def test_durations_are_a_number_and_a_unit(text: str, seconds: float) -> None:
    assert parse_duration(text).total_seconds() == seconds


def test_the_schemas_for_editors_are_those_of_the_models(tmp_path: Path) -> None:
    """`python -m profiles.schema_files` brings them up to date."""
    write_schemas(tmp_path)
    assert {path.name: path.read_text() for path in SCHEMAS.iterdir()} == {
        path.name: path.read_text() for path in tmp_path.iterdir()
    }
