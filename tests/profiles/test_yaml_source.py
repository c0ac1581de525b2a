"""YAML from people and from enemies: a value with lines, or a ProfileError; nothing else, and soon."""

import itertools
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from profiles.findings import Finding, ProfileError
from profiles.loader import KINDS
from profiles.validation import validate
from profiles.yaml_source import Position, read_yaml
from tests.profiles.catalogs import FILES

SAME_FOLDER = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)


def read_text(folder: Path, text: str | bytes) -> object:
    path = folder / "file.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return read_yaml(path).value


def refusal(folder: Path, text: str | bytes) -> str:
    with pytest.raises(ProfileError) as caught:
        read_text(folder, text)
    return str(caught.value).removeprefix(f"{folder}/file.yaml:").split(";")[0]


def test_values_and_keys_know_where_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text("# comment\nnodes:\n  - name: r01\n    port: 0x20\n")
    located = read_yaml(path)
    assert located.value == {"nodes": [{"name": "r01", "port": 32}]}
    assert located.positions[("nodes", 0, "port")] == Position(4, 11)
    assert located.key_positions[("nodes", 0, "port")] == Position(4, 5)
    assert located.raw[("nodes", 0, "port")] == "0x20"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1: the file is empty"),
        (b"a: \xff\n", "1: byte 0xff is not UTF-8"),
        (b"ok: 1\n  a: \xc3\x28\n", "2: byte 0xc3 is not UTF-8"),
        ("a: \x00\n", "1: is not YAML: control characters are not allowed"),
        ("a: 1\n\tb: 2\n", "2: is not YAML: found a tab character that violates indentation"),
        ("a: [1, 2\n", "2: is not YAML: did not find expected ',' or ']'"),
        ("a: 1\na: 2\n", "2: a: is written twice, first on line 1"),
        ("a: {b: 1, c: 2, b: 3}\n", "1: a.b: is written twice, first on line 1"),
        ("a: &x 1\nb: 2\n", "1: anchors and aliases are not supported"),
        ("a: 1\nb: *x\n", "2: anchors and aliases are not supported"),
        ("a: 1\n---\nb: 2\n", "2: a second document begins here"),
        ("a: !!python/object/apply:os.system [ls]\n", "1: a: tag tag:yaml.org,2002:python/object/apply:os.system"),
        ("a: !secret x\n", "1: a: !secret 'x' is not supported"),
        ("a: !!binary aGk=\n", "1: a: tag:yaml.org,2002:binary 'aGk=' is not supported"),
        ("a: !!int x\n", "1: a: 'x' is not a valid int"),
        ("a: 2024-13-45\n", "1: a: 2024-13-45 is read as a date"),
        ("1.10: a\n", "1: key 1.10 is not text"),
        ("on: a\n", "1: key on is not text"),
        ("? [a, b]\n: c\n", "1: key a list or mapping is not text"),
        ("<<: {a: 1}\n", "1: key << is not text"),
        ("a: " + "1:" * 100_000 + "1", "1: a: '" + "1:" * 20 + "' is not a valid int"),
        ("a: " + "9" * 5000, "1: a: '" + "9" * 40 + "' is not a valid int"),
        ("a: " + "[" * 100 + "]" * 100, "1: nested deeper than 32 levels"),
        ("[" * 100_000, "1: is not YAML: exceeded maximum nesting depth"),
        ("- " * 1000, "1: nested deeper than 32 levels"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(tmp_path: Path, text: str | bytes, expected: str) -> None:
    assert refusal(tmp_path, text).startswith(expected)


def test_a_bomb_of_aliases_is_refused_at_once(tmp_path: Path) -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    names = "abcdefghijklmnopqrst"
    lines += [f"{n}: &{n} [{', '.join([f'*{m}'] * 9)}]" for m, n in itertools.pairwise(names)]
    began = time.monotonic()
    assert "anchors and aliases" in refusal(tmp_path, "\n".join(lines))
    assert time.monotonic() - began < 1


def test_an_alias_to_itself_is_refused(tmp_path: Path) -> None:
    assert "anchors and aliases" in refusal(tmp_path, "&a [*a]")


def test_a_file_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("profiles.yaml_source.SIZE_LIMIT_BYTES", 100)
    assert refusal(tmp_path, "a: " + "x" * 100) == "1: is larger than 100 bytes"


def test_a_file_that_is_not_there_or_is_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="cannot be read: No such file"):
        read_yaml(tmp_path / "absent.yaml")
    with pytest.raises(ProfileError, match="cannot be read: Is a directory"):
        read_yaml(tmp_path)


def test_a_large_list_is_read_in_seconds(tmp_path: Path) -> None:
    """A site of 12,500 servers of 8 GPUs."""
    node = '  - {name: r01-u01, rack: r01, position: 1, bmc_address: 127.20.1.1, bmc_port: 8443, serial: "S1"}\n'
    began = time.monotonic()
    read_text(tmp_path, "nodes:\n" + node * 12_500)
    assert time.monotonic() - began < 20


class Account(BaseModel):
    """Something with a credential."""

    factory_password: str


@pytest.mark.parametrize("password", ["31337", "2024-12-24", "1:1", "!x 31337"])
def test_a_finding_never_shows_a_password(tmp_path: Path, password: str) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(f"factory_password: {password}\n")
    with pytest.raises(ProfileError) as caught:
        validate(Account, read_yaml(path))
    assert "***" in str(caught.value)
    assert password[-4:] not in str(caught.value)


class Loose(BaseModel):
    """A model in which unions and nested lists add to pydantic's locations."""

    value: int | list[dict[str, int]] | None = None


@SAME_FOLDER
@given(st.one_of(st.text(), st.binary()))
def test_any_bytes_are_read_or_refused(tmp_path: Path, text: str | bytes) -> None:
    check_only_profile_errors(tmp_path, text)


WORDS = "a name [ ] { } &a *a !!int !x > ' \" 1.10 0x 1:30 2001-01-01 .nan ~ = << # yes \ufeff \x85"
FRAGMENTS = st.sampled_from(
    [*WORDS.split(), ": ", "\n", "  ", "\t", "- ", "? ", "|\n", "---\n", "...\n", "%YAML 1.1\n"]
)


@SAME_FOLDER
@given(st.lists(FRAGMENTS, max_size=30).map("".join))
def test_anything_that_looks_like_yaml_is_read_or_refused(tmp_path: Path, text: str) -> None:
    check_only_profile_errors(tmp_path, text)


JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=8,
)


@SAME_FOLDER
@given(data=st.data(), kind=st.sampled_from(sorted(KINDS)))
def test_a_profile_with_anything_in_the_place_of_one_value_is_read_or_refused(
    tmp_path: Path, data: st.DataObject, kind: str
) -> None:
    name = next(name for name in FILES if name.startswith(f"{kind}/"))
    document = yaml.safe_load(FILES[name])
    place: object = document
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place))) if isinstance(place, list) else []
        key = data.draw(st.sampled_from(keys))
        inner = place[key]  # type: ignore[index]  # a dict or list
        if not inner or not isinstance(inner, dict | list) or data.draw(st.booleans()):
            place[key] = data.draw(JSON)  # type: ignore[index]  # a dict or list
            break
        place = inner
    check_only_profile_errors(tmp_path, yaml.safe_dump(document, allow_unicode=True), KINDS[kind])


def check_only_profile_errors(folder: Path, text: str | bytes, model: type[BaseModel] = Loose) -> None:
    path = folder / "file.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    findings: tuple[Finding, ...] = ()
    try:
        validate(model, read_yaml(path))
    except ProfileError as error:
        findings = error.findings
        assert findings
    assert all(finding.line >= 1 and finding.column >= 1 for finding in findings)
    assert all(str(finding).startswith(f"{path}:{finding.line}: ") for finding in findings)
