"""The gates that read signed statements: provenance, tests, bill of materials. Pure."""

from collections.abc import Iterator
from datetime import datetime
from typing import TypeVar

from images.statements.statement import Predicate, Provenance, SbomReference, TestResults
from profiles.images.debian import DebianImage
from profiles.release import Release
from provisioner.models.promotion import Gate, GateName, GateState, Promotion
from provisioner.promotion.facts import Facts
from provisioner.promotion.policy import Policy

P = TypeVar("P", bound=Predicate)

_NO_KEYS = (
    "this site has no keys that statements could be signed with",
    "keys of release managers, and statements signed with them",
    "run `firstlight keys init DIR`, write `trust: {keys: DIR}` into site.yaml and start the service again; or write "
    "`channels: {CHANNEL: {signatures: false, tests: false, sbom: false}}` there",
)


def signatures(promotion: Promotion, facts: Facts, policy: Policy, _now: datetime) -> Gate:
    """Provenance of exactly this image, for the profile that the release names."""
    name, release = GateName.SIGNATURES, facts.release
    if not policy.signatures:
        return _unasked(name)
    if not facts.evidence.keys:
        return _no_keys(name, promotion)
    known = list(_of(facts, Provenance))
    good = [(envelope, one) for envelope, one in known if one.profile == release.image.name]
    if good:
        envelope, one = good[-1]
        return Gate(name, GateState.PASSED, f"built by {one.builder}", evidence=(envelope,))
    other = f"its provenance is of profile {known[-1][1].profile}" if known else ""
    refused = "; ".join(facts.evidence.refused)
    spoken = "; ".join(filter(None, (other, refused)))
    return Gate(
        name,
        GateState.FAILED if spoken else GateState.WAITING,
        spoken or "nobody has signed for the build of its image",
        f"provenance of image {_image(release)}, built from profile {release.image.name}",
        _sign(release),
    )


def tests(promotion: Promotion, facts: Facts, policy: Policy, _now: datetime) -> Gate:
    """Every blocking test of the image has passed on this image; of several runs of one test the last one counts."""
    name, release = GateName.TESTS, facts.release
    if not policy.tests:
        return _unasked(name)
    needed = _blocking(release)
    if not needed:
        return Gate(name, GateState.PASSED, f"image profile {release.image.name} names no blocking test")
    if not facts.evidence.keys:
        return _no_keys(name, promotion)
    passed, failed, evidence = _results(facts)
    lacking = [one for one in needed if one not in passed]
    if not lacking:
        return Gate(name, GateState.PASSED, f"{len(needed)} blocking tests passed", evidence=evidence)
    bad = [one for one in lacking if one in failed]
    seen = f"{len(needed) - len(lacking)} of {len(needed)} blocking tests passed"
    return Gate(
        name,
        GateState.FAILED if bad else GateState.WAITING,
        seen + (f"; failed: {', '.join(bad)}" if bad else ""),
        f"signed results of {', '.join(lacking)} for image {_image(release)}",
        _sign(release),
        evidence,
    )


def sbom(promotion: Promotion, facts: Facts, policy: Policy, _now: datetime) -> Gate:
    """A bill of materials of exactly this image."""
    name, release = GateName.SBOM, facts.release
    if not policy.sbom:
        return _unasked(name)
    if not facts.evidence.keys:
        return _no_keys(name, promotion)
    known = list(_of(facts, SbomReference))
    if known:
        envelope, one = known[-1]
        return Gate(name, GateState.PASSED, f"{one.format}, {one.components} components", evidence=(envelope,))
    missing = f"a bill of materials of image {_image(release)}"
    return Gate(name, GateState.WAITING, "there is none", missing, _sign(release))


def _results(facts: Facts) -> tuple[frozenset[str], frozenset[str], tuple[str, ...]]:
    """The last word about each test: passed, failed; and the envelopes."""
    found = sorted(_of(facts, TestResults), key=lambda pair: pair[1].finished_on)
    last: dict[str, bool] = {}
    for _, one in found:
        last |= dict.fromkeys(one.passed, True) | dict.fromkeys(one.failed, False)
    passed = frozenset(name for name, good in last.items() if good)
    return passed, frozenset(last) - passed, tuple(envelope for envelope, _ in found)


def _blocking(release: Release) -> tuple[str, ...]:
    image = release.image
    return tuple(one.id for one in image.tests if one.blocking) if isinstance(image, DebianImage) else ()


def _of(facts: Facts, kind: type[P]) -> Iterator[tuple[str, P]]:
    for one in facts.evidence.signed:
        if isinstance(one.statement.predicate, kind):
            yield one.envelope, one.statement.predicate


def _unasked(name: GateName) -> Gate:
    return Gate(name, GateState.NOT_NEEDED, "this channel asks for none")


def _no_keys(name: GateName, promotion: Promotion) -> Gate:
    seen, missing, remedy = _NO_KEYS
    return Gate(name, GateState.WAITING, seen, missing, remedy.replace("CHANNEL", promotion.channel))


def _image(release: Release) -> str:
    return release.image_digest[:19]


def _sign(release: Release) -> str:
    digest = release.image_digest
    return (
        f"see what is said: `firstlight image statements {digest}`; where keys lie, `firstlight image build` signs "
        f"what it makes, and a second release manager runs `firstlight image countersign {digest} --key FILE`"
    )
