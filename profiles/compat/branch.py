"""The driver's branch: what it is for, until when it is supported, and which kernels it builds on."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date

from profiles.compat.answers import Answer, finding, fine, refusal, unknown
from profiles.compat.asked import Asked
from profiles.compat.facts import DriverBranch
from profiles.compat.kinds import Standing
from profiles.compat.versions import parse_version


def branch_type(asked: Asked) -> Iterator[Answer]:
    """LTS and PB are for pools; NFB is for early access; DEV is never deployed."""
    branch, types = asked.branch, asked.facts.branch_types
    kind = types.types[branch.type]
    text = f"R{branch.branch} is {branch.type}: {kind.use}"
    sources = (*branch.sources, *types.sources)
    if kind.pools is Standing.NEVER:
        yield refusal("branch-never-deployed", text, sources)
    elif kind.pools is Standing.EARLY_ACCESS:
        yield finding("branch-for-early-access", text, sources)
    else:
        yield fine("branch-for-pools", text, sources)


def end_of_life(asked: Asked) -> Iterator[Answer]:
    """A branch without fixes is a finding; one whose end is not published is unknown."""
    branch = asked.branch
    note = f" ({branch.end_of_life_note})" if branch.end_of_life_note else ""
    last = last_day(branch)
    if branch.end_of_life is None:
        text = f"the end of life of R{branch.branch} is not published"
        yield unknown("end-of-life-unknown", text, branch.sources)
    elif last is None:
        text = f"R{branch.branch} has ended; no source says in which month"
        yield finding("past-end-of-life", text, branch.sources)
    elif last < asked.on:
        text = f"R{branch.branch} had its end of life in {branch.end_of_life}{note}: it gets no fixes"
        yield finding("past-end-of-life", text, branch.sources)
    else:
        text = f"R{branch.branch} is supported until the end of {branch.end_of_life}{note}"
        yield fine("supported", text, branch.sources)


def last_day(branch: DriverBranch) -> date | None:
    """The last day of support; None where no month is known."""
    if branch.end_of_life is None or branch.end_of_life == "ended":
        return None
    year, month = map(int, branch.end_of_life.split("-"))
    return date(year, month, monthrange(year, month)[1])


def driver_version(asked: Asked) -> Iterator[Answer]:
    """A driver from before the first public one of its branch is a slip of the pen or a beta."""
    branch, name = asked.branch, asked.setup.driver
    newest = branch.last_seen or branch.first_seen
    if branch.first_seen and asked.driver < parse_version(branch.first_seen.version):
        text = f"{name} is older than {branch.first_seen.version}, the first public driver of R{branch.branch}"
        yield finding("older-than-first-public", text, branch.sources)
    elif newest and asked.driver > parse_version(newest.version):
        text = f"{name} is newer than {newest.version}, the newest that was known on {asked.facts.compiled}"
        yield fine("newer-than-known", text, branch.sources)
    elif newest:
        text = f"the newest driver of R{branch.branch} known on {asked.facts.compiled} is {newest.version}"
        yield fine("newest-of-branch", text, branch.sources)


def kernel(asked: Asked) -> Iterator[Answer]:
    """The kernel that the modules of the branch need at least."""
    branch, named = asked.branch, asked.setup.kernel
    if named is None:
        return
    if branch.min_kernel is None:
        text = f"the oldest kernel of R{branch.branch} is not established"
        yield unknown("oldest-kernel-unknown", text, branch.sources)
    elif parse_version(named) < parse_version(branch.min_kernel):
        text = f"R{branch.branch} needs kernel {branch.min_kernel} or newer, not {named}"
        yield refusal("kernel-too-old", text, branch.sources)
    else:
        text = f"R{branch.branch} builds on kernel {branch.min_kernel} and newer"
        yield fine("kernel-new-enough", text, branch.sources)
