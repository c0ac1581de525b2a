"""What who builds an image says of it: how it was made, what is in it, what its tests at the build said."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from images.digest import parse_digest
from images.manifest import ImageManifest, ManifestError
from images.oci.published import image_entry, publish_statement
from images.statements.envelope import claimed, sign, signers_of
from images.statements.of_image import envelopes_about
from images.statements.statement import (
    Predicate,
    Provenance,
    SbomReference,
    Statement,
    StatementError,
    TestResults,
)
from images.store import ArtefactStore
from images.trust.keys import Keyholders, Signer

SUITE = "build"


@dataclass(frozen=True, slots=True)
class Made:
    """Who made an image, and when. `builder`: a URI."""

    builder: str
    started_on: datetime
    finished_on: datetime


def statements_of_build(image: ImageManifest, made: Made, sbom: bytes, tests: bytes) -> tuple[Statement, ...]:
    """All that is to be said. `sbom`, `tests`: the files of these roles. Pure. Raises ManifestError."""
    try:
        made_from = image.made_from
        said: list[Predicate] = [
            Provenance(
                profile=image.name,
                lock=parse_digest(made_from["lock"]),
                toolbox=parse_digest(made_from["builder"]),
                builder=made.builder,
                started_on=made.started_on,
                finished_on=made.finished_on,
            ),
            SbomReference(
                format="CycloneDX", sbom=image.artefact("sbom").digest, components=len(json.loads(sbom)["components"])
            ),
        ]
        results = {str(one["id"]): bool(one["passed"]) for one in json.loads(tests)["tests"]}
    except (KeyError, ValueError, TypeError) as error:
        raise ManifestError(f"image {image.name} does not tell how it was made ({error}); build it again") from error
    if results:
        said.append(_test_results(results, made.finished_on))
    return tuple(Statement(subjects={"image": image.digest}, predicate=one) for one in said)


def publish_statements(store: ArtefactStore, statements: Sequence[Statement], signers: Sequence[Signer]) -> int:
    """Sign what these signers have not said of the image yet, and put it into the store; how many that were."""
    (image,) = {parse_digest(one.subjects["image"]) for one in statements}
    entry, count = image_entry(store, image), 0
    known = _said_by(store, entry.digest, signers)
    for one in statements:
        if type(one.predicate) not in known:
            publish_statement(store, entry, sign(one, signers))
            count += 1
    return count


def _said_by(store: ArtefactStore, image: str, signers: Sequence[Signer]) -> set[type[Predicate]]:
    holders = Keyholders(len(signers), tuple(one.public_key for one in signers))
    found: set[type[Predicate]] = set()
    for content in envelopes_about(store, parse_digest(image)).values():
        try:
            statement = claimed(content)
            if statement.is_about(parse_digest(image)) and len(signers_of(content, holders)) == len(signers):
                found.add(type(statement.predicate))
        except StatementError:
            continue  # somebody else's, and no word of ours
    return found


def _test_results(results: dict[str, bool], at: datetime) -> TestResults:
    passed = tuple(name for name, good in results.items() if good)
    failed = tuple(name for name, good in results.items() if not good)
    word: Literal["PASSED", "FAILED"] = "FAILED" if failed else "PASSED"
    return TestResults(suite=SUITE, result=word, passed=passed, failed=failed, finished_on=at)
