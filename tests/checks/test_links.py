"""A relative link in a text leads to a file that is there."""

import re

from tests.checks.tree import ROOT, checked_in_files

LINK = re.compile(r"\]\(([^)\s]+)\)")


def test_relative_links_lead_somewhere() -> None:
    broken = []
    for name in checked_in_files("*.md"):
        targets = [link.split("#")[0] for link in LINK.findall((ROOT / name).read_text())]
        relative = [target for target in targets if target and ":" not in target]
        broken += [f"{name}: {target}" for target in relative if not (ROOT / name.parent / target).exists()]
    assert not broken
