"""CSV with a header row as a located document, so that its mistakes are told like those in YAML: by line and column."""

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from profiles.findings import Finding, ProfileError, did_you_mean
from profiles.yaml_source import FieldPath, Located, Position

LARGEST_BYTES = 16 * 2**20
MOST_FINDINGS = 20
SEPARATORS = ",;\t"


def read_csv(path: Path, root: str, columns: tuple[str, ...], nested: Mapping[str, tuple[str, str]]) -> Located:
    """The rows as `{root: [{column: text}]}`; empty cells are left out, values stay text.

    `nested`: columns beside those of `columns`, whose cells are fields of a field: `{column: (field, its field)}`.
    The separator is a comma, or a semicolon or a tab where the header row has one of those instead (spreadsheets).
    Raises ProfileError for what is no such file: no header, unknown or repeated columns, rows that are too long.
    """
    text = _read(path)
    header_line = text.split("\n", 1)[0]
    separator = max(SEPARATORS, key=header_line.count)
    rows = _rows(path, text, separator)
    line, header = next(rows, (1, []))
    names = [name.strip() for name in header]
    findings = _header_findings(path, line, names, columns=(*columns, *nested))
    if findings:
        raise ProfileError(findings)
    positions: dict[FieldPath, Position] = {(): Position(1, 1), (root,): Position(1, 1)}
    entries: list[dict[str, Any]] = []
    for line, row in rows:
        if len(row) > len(names):
            message = f"has {len(row)} cells, but there are {len(names)} columns"
            findings.append(Finding(path, line, len(names) + 1, names[-1], message, "quote cells that hold commas"))
        where: FieldPath = (root, len(entries))
        positions[where] = Position(line, 1)
        entry: dict[str, Any] = {}
        for number, (name, cell) in enumerate(zip(names, row, strict=False), start=1):
            field = nested.get(name, (name,))
            if cell.strip():
                _put(entry, field, cell.strip())
                for depth in range(1, len(field) + 1):
                    positions.setdefault((*where, *field[:depth]), Position(line, number))
        entries.append(entry)
    if findings:
        raise ProfileError(findings[:MOST_FINDINGS])
    value: Any = {root: entries}
    return Located(path, value, MappingProxyType(positions), MappingProxyType(positions), MappingProxyType({}))


def _put(entry: dict[str, Any], field: tuple[str, ...], text: str) -> None:
    for name in field[:-1]:
        entry = entry.setdefault(name, {})
    entry[field[-1]] = text


def _read(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        said = f"cannot be read: {error.strerror or error}"
        raise ProfileError([Finding(path, 1, 1, "", said, "check the path and its permissions")]) from error
    if len(content) > LARGEST_BYTES:
        raise ProfileError([Finding(path, 1, 1, "", f"is larger than {LARGEST_BYTES} bytes", "split it")])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise ProfileError([Finding(path, line, 1, "", "is not UTF-8", "save the file as UTF-8")]) from error


def _rows(path: Path, text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Each row that is not empty, with the line that it begins on."""
    reader = csv.reader(text.splitlines(keepends=True), delimiter=separator, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ProfileError(
                [Finding(path, line, 1, "", f"cannot be read as CSV: {error}", "check the quotes")]
            ) from error
        if any(cell.strip() for cell in row):
            yield line, row


def _header_findings(path: Path, line: int, names: list[str], *, columns: tuple[str, ...]) -> list[Finding]:
    if not names:
        return [Finding(path, 1, 1, "", "the file is empty", f"begin with a header row: {','.join(columns)}")]
    findings = []
    for index, name in enumerate(names):
        if name not in columns:
            message = "is not a known column" if name else "a column without a name"
            findings.append(Finding(path, line, index + 1, name, message, did_you_mean(name, columns)))
        elif name in names[:index]:
            findings.append(Finding(path, line, index + 1, name, "is there twice", "delete one of the columns"))
    return findings
