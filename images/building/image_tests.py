"""The tests of a profile that run at the build. One that nobody can run counts as failed."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from images.building.bootstrap import packages_not_as_locked
from images.building.failures import Violation
from images.building.tree_path import inside
from images.modules.checks import check_signatures, check_vermagic
from profiles.findings import did_you_mean
from profiles.images.debian import DebianImage, ImageTest
from profiles.images.kinds import TestStage
from profiles.images.lock import Lock


@dataclass(frozen=True, slots=True)
class Subject:
    """What tests look at."""

    tree: Path
    image: DebianImage
    lock: Lock


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out; `detail` is empty for a test that passed."""

    id: str
    kind: str
    blocking: bool
    passed: bool
    detail: str = ""


BuildTest = Callable[[ImageTest, Subject], list[Violation]]


def _absent(test: ImageTest, subject: Subject) -> list[Violation]:
    """`expect` is a pattern of paths: nothing may match it."""
    pattern = (test.expect or "").lstrip("/")
    if not pattern:
        return [Violation(test.id, "has kind absent and no expect", "write the paths: expect: /usr/bin/gcc*")]
    folder, _, last = pattern.rpartition("/")
    place = inside(subject.tree, f"/{folder}/.") if folder else subject.tree
    found = sorted(place.glob(last)) if place.is_dir() else []
    return [Violation(f"/{folder}/{path.name}", f"is there, against test {test.id}", "take it out") for path in found]


def _packages_as_locked(_: ImageTest, subject: Subject) -> list[Violation]:
    return packages_not_as_locked(subject.tree, subject.lock)


def _vermagic(_: ImageTest, subject: Subject) -> list[Violation]:
    return [Violation(one.path, one.what, one.remedy) for one in check_vermagic(subject.tree, subject.lock)]


def _signature(_: ImageTest, subject: Subject) -> list[Violation]:
    found = check_signatures(subject.tree, subject.image, subject.lock)
    return [Violation(one.path, one.what, one.remedy) for one in found]


BY_KIND: Mapping[str, BuildTest] = {"absent": _absent}
"""Tests that say with `expect` what they are about."""

BY_ID: Mapping[str, BuildTest] = {
    "packages-as-locked": _packages_as_locked,
    "module-vermagic": _vermagic,
    "module-signature": _signature,
}
"""Tests of the kinds equals-lock and equals-profile: what is compared follows from the name."""


def run_image_tests(subject: Subject) -> tuple[tuple[Outcome, ...], list[Violation]]:
    """Run the tests of stage build; return all results, and what is wrong by those that block."""
    results: list[Outcome] = []
    against: list[Violation] = []
    for test in subject.image.tests:
        if test.stage is TestStage.BUILD:
            found = _run(test, subject)
            detail = "; ".join(str(one) for one in found)
            results.append(Outcome(test.id, test.kind, test.blocking, not found, detail))
            against += found if test.blocking else []
    return tuple(results), against


def results_json(results: tuple[Outcome, ...]) -> bytes:
    """Return the results as JSON; equal results are equal bytes."""
    document = {"schema": "firstlight.image-tests/1", "tests": [asdict(one) for one in results]}
    return json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _run(test: ImageTest, subject: Subject) -> list[Violation]:
    runner = BY_KIND.get(test.kind) or BY_ID.get(test.id)
    if runner is None:
        hint = did_you_mean(test.id, BY_ID)
        return [Violation(f"tests[{test.id}]", f"no build knows how to run it (kind {test.kind})", hint)]
    return runner(test, subject)
