"""A site that promotes: its keys, signed statements about its image, and requests with keys of their own."""

import uuid
from dataclasses import replace
from datetime import timedelta
from typing import Any

import requests

from images.build import build_image
from images.digest import parse_digest
from images.manifest import ImageManifest
from images.oci.published import image_entry, publish_image, publish_statement
from images.statements.envelope import sign
from images.statements.statement import Predicate, Provenance, SbomReference, Statement
from images.trust.keys import KeyPlan, Role, keyring_of, make_signers
from provisioner.models.identifiers import ReleaseDigest
from provisioner.models.lifecycle import State
from provisioner.models.role import Role as Caller
from provisioner.promotion.soak import Sighting
from provisioner.statement_shelf import Keys, StatementShelf
from tests.api.site import N1, Site
from tests.promotion.samples import H100, NOW

ONE = KeyPlan(1, 1)
PLAN = {Role.ROOT: ONE, Role.TARGETS: KeyPlan(2, 3), Role.SNAPSHOT: ONE, Role.TIMESTAMP: ONE}
SIGNERS = make_signers(PLAN)
KEYRING = keyring_of(SIGNERS, PLAN)
KEYS = Keys(KEYRING[Role.TARGETS], KEYRING[Role.SNAPSHOT], SIGNERS[Role.SNAPSHOT][0])
DIGEST = "sha256:" + "d" * 64


def post(site: Site, path: str, body: Any = None, role: Caller = Caller.IMAGE_OWNER, **more: Any) -> requests.Response:
    """With an Idempotency-Key of its own, unless one is given."""
    headers = {"Idempotency-Key": str(uuid.uuid4()), **more.pop("headers", {})}
    return site.request("POST", path, role, json=body, headers=headers, **more)


def made(site: Site, role: Caller = Caller.IMAGE_OWNER, **constraints: Any) -> str:
    """The digest of a release of the site's own image; another one for other constraints."""
    body = {"profile": "hgx-h100-2025-1", **({"constraints": constraints} if constraints else {})}
    response = post(site, "/v1/releases", body, role)
    assert response.status_code in {200, 201}, response.text
    digest: str = response.json()["digest"]
    return digest


def requested(site: Site, digest: str, channel: str = "dev", role: Caller = Caller.OPERATOR) -> dict[str, Any]:
    """A promotion."""
    body = {"channel": channel, "release": digest, "reason": "the new driver"}
    response = post(site, "/v1/promotions", body, role)
    assert response.status_code in {200, 201}, response.text
    answer: dict[str, Any] = response.json()
    return answer


def gates(promotion: dict[str, Any]) -> dict[str, str]:
    """The state of each gate."""
    return {one["name"]: one["state"] for one in promotion["gates"]}


def give_keys(site: Site) -> None:
    """The site has keys from now on."""
    shelf = StatementShelf(site.files.store, KEYS)
    change(site, statements=shelf)


def change(site: Site, **fields: Any) -> None:
    """The same site with other things behind its promotions."""
    service = site.app.state.service
    site.app.state.service = replace(service, promotion=replace(service.promotion, **fields))


def the_image(site: Site) -> ImageManifest:
    """Of the releases of `made`."""
    return build_image("agent-x86-64", "x86_64", site.files.store)


def say(site: Site, predicate: Predicate, signers: int = 2) -> None:
    """A statement about the site's image, signed by so many release managers."""
    image = the_image(site)
    publish_image(site.files.store, image)
    statement = Statement(subjects={"image": parse_digest(image.digest)}, predicate=predicate)
    envelope = sign(statement, SIGNERS[Role.TARGETS][:signers])
    publish_statement(site.files.store, image_entry(site.files.store, image.digest), envelope)


def provenance(builder: str = "https://builds.example/ci") -> Provenance:
    """Of the image of the releases of `made`."""
    given = {"profile": "agent-x86-64", "lock": DIGEST, "toolbox": DIGEST}
    return Provenance(**given, builder=builder, started_on=NOW, finished_on=NOW)


def whole_evidence(site: Site) -> None:
    """Everything that canary asks for about the image."""
    give_keys(site)
    say(site, provenance())
    say(site, SbomReference(format="CycloneDX", sbom=DIGEST, components=3))


def soaked(site: Site, digest: str, hours: float = 30) -> None:
    """N1 has run it for so long."""
    soaks, release = site.store.soaks, ReleaseDigest(digest)
    turn, now = site.run(soaks.turn()), site.service.world.clock.now()
    seen = [Sighting(release, N1, "r01")]
    assert site.run(soaks.grow(turn, now, seen, timedelta(hours=hours)))


def runs(site: Site, digest: str) -> None:
    """N1 is of the class, ready with this release, and has reported its image."""
    release, image = ReleaseDigest(digest), the_image(site).digest
    site.run(site.store.nodes.assign(N1, H100, release))
    site.run(site.store.nodes.observe_image(N1, image, NOW))
    site.move(State.READY)
