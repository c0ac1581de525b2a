"""Debian's control format (deb822): paragraphs of fields, as in Release and .sources files."""

from collections.abc import Iterator


def read_paragraphs(text: str) -> Iterator[dict[str, str]]:
    """Yield the fields of each paragraph, names in lower case; continued lines keep their line ends, comments go."""
    fields: dict[str, str] = {}
    name = ""
    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            continue
        if not line.strip():
            if fields:
                yield fields
            fields, name = {}, ""
        elif line[0] in " \t" and name:
            fields[name] += "\n" + line.strip()
        elif ":" in line:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value.strip()
