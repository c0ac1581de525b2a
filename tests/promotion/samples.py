"""Releases, statements and promotions, small."""

from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from images.digest import digest_of, parse_digest
from images.statements.statement import Predicate, Provenance, SbomReference, Statement, TestResults
from profiles.catalog import Catalog
from profiles.firmware.component import FirmwareComponent
from profiles.images.debian import DebianImage, ImageTest
from profiles.images.kinds import TestStage
from profiles.loader import load_catalog
from profiles.release import Release
from provisioner.models.channel import Channel
from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.promotion import Promotion
from provisioner.promotion.facts import Evidence, Facts, Signed
from provisioner.promotion.soak import Soak

PROFILES = Path(__file__).parents[2] / "profiles"
BERLIN = ZoneInfo("Europe/Berlin")
H100 = "hgx-h100-8gpu"
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
PLENTY = Soak(hours=1000, node_hours=10_000, domains=9, nodes=18)


@cache
def shipped() -> Catalog:
    """The profiles that come with the product."""
    return load_catalog(PROFILES)


def a_release(image: str = "a", name: str = "hgx-h100-2026-1") -> Release:
    """A shipped release whose image has a digest of this one hex digit."""
    return shipped().resolve_release(name, "sha256:" + image * 64)


def with_bios(release: Release, version: str, *, one_way: bool = False) -> Release:
    """The same with another BIOS of its catalog; `one_way`: devices do not go back from the newest one."""

    def changed(component: FirmwareComponent) -> FirmwareComponent:
        if component.component != "bios":
            return component
        last = component.releases[-1].model_copy(update={"irreversible": one_way})
        return component.model_copy(update={"version": version, "releases": (*component.releases[:-1], last)})

    components = tuple(map(changed, release.firmware.components))
    return release.model_copy(update={"firmware": release.firmware.model_copy(update={"components": components})})


@cache
def gpu_release(image: str = "a") -> Release:
    """One with a Debian image that has two blocking tests, and one that is none."""
    profile = shipped().images["gpu-r580"]
    assert isinstance(profile, DebianImage)
    tests = (
        ImageTest(id="reaches-ready", stage=TestStage.BOOT, kind="boot"),
        ImageTest(id="no-host-keys", stage=TestStage.BUILD, kind="files"),
        ImageTest(id="pretty", stage=TestStage.BUILD, kind="files", blocking=False),
    )
    return a_release(image).model_copy(update={"image": profile.model_copy(update={"tests": tests})})


def signed(release: Release, predicate: Predicate, number: int = 0) -> Signed:
    """A statement about its image, as if it had been verified."""
    statement = Statement(subjects={"image": parse_digest(release.image_digest)}, predicate=predicate)
    return Signed(digest_of(f"{number}".encode()), statement)


def provenance(release: Release, **fields: Any) -> Provenance:
    """How its image was built."""
    given = {"profile": release.image.name, "builder": "https://builds.example/ann", **fields}
    digest = "sha256:" + "d" * 64
    return Provenance(lock=digest, toolbox=digest, started_on=NOW, finished_on=NOW, **given)


def results(passed: tuple[str, ...], failed: tuple[str, ...] = (), hours: float = 0) -> TestResults:
    """What tests said; `hours` after NOW."""
    word: Literal["PASSED", "FAILED"] = "FAILED" if failed else "PASSED"
    at = NOW + timedelta(hours=hours)
    return TestResults(suite="vm", result=word, passed=passed, failed=failed, finished_on=at)


def whole_evidence(release: Release) -> Evidence:
    """Everything that a channel can ask for."""
    sbom = SbomReference(format="CycloneDX", sbom="sha256:" + "e" * 64, components=300)
    said: tuple[Predicate, ...] = (provenance(release), results(("reaches-ready", "no-host-keys")), sbom)
    return Evidence(keys=True, signed=tuple(signed(release, one, number) for number, one in enumerate(said)))


def good_facts(release: Release, **fields: Any) -> Facts:
    """Nothing is missing but people."""
    return Facts(**{"release": release, "evidence": whole_evidence(release), "soak": PLENTY, **fields})


def a_promotion(release: Release, channel: Channel = Channel.CANARY, **fields: Any) -> Promotion:
    """One that ann has requested now."""
    given: dict[str, Any] = {
        "id": "p1",
        "channel": channel,
        "hardware_class": release.hardware_class.name,
        "release": ReleaseDigest(release.digest),
        "release_name": release.name,
        "reason": "the new driver",
        "requester": "ann",
        "requested_at": NOW,
        "expires_at": NOW + timedelta(days=14),
        **fields,
    }
    return Promotion(**given)
