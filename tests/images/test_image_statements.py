"""What a build says of its image; who signs it, and when it counts."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from images.building.request import Built, Stage
from images.digest import digest_of
from images.manifest import Artefact, ImageManifest, ManifestError
from images.oci.published import image_entry, publish_image, publish_statement
from images.references import Reference, write_reference
from images.statements.countersigning import countersign_all
from images.statements.envelope import sign
from images.statements.of_build import Made, publish_statements, statements_of_build
from images.statements.of_image import envelopes_about, judged, statements_of
from images.statements.statement import Provenance, SbomReference, StatementError, TestResults
from images.store import ArtefactStore
from images.trust.folder import managers_in
from images.trust.keys import KeyPlan, Role, Signer, keyring_of, make_signers, read_signer, write_keys
from provisioner.commands.build_statements import say_of_build
from provisioner.commands.image import image_app
from provisioner.errors import BadInput
from tests.images.oci_samples import small_image

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
MADE = Made("urn:firstlight:builder:b1", NOON, NOON)
SBOM = b'{"components":[{"name":"a"},{"name":"b"}]}'
PASSED = b'{"tests":[{"id":"no-gcc","passed":true},{"id":"vermagic","passed":true}]}'
LOCK, BUILDER = digest_of(b"lock"), digest_of(b"builder")


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two of three release managers have to sign."""
    plan = {role: KeyPlan(2, 3) if role is Role.TARGETS else KeyPlan(1, 1) for role in Role}
    signers = make_signers(plan)
    folder = tmp_path_factory.mktemp("keys") / "keys"
    write_keys(folder, signers, keyring_of(signers, plan), {})
    return folder


@pytest.fixture
def managers(keys: Path) -> list[Signer]:
    return [read_signer(path) for path in sorted((keys / "targets").iterdir())]


@pytest.fixture
def store(tmp_path: Path) -> ArtefactStore:
    return ArtefactStore(tmp_path / "artefacts")


def built_image(store: ArtefactStore, tests: bytes = PASSED) -> ImageManifest:
    """As a build leaves it."""
    bare = small_image(store, "a")
    texts = {"sbom": SBOM, "tests": tests}
    files = (*bare.artefacts, *(Artefact(role, store.put_bytes(text), len(text)) for role, text in texts.items()))
    image = replace(bare, artefacts=files, made_from={"profile": digest_of(b"p"), "lock": LOCK, "builder": BUILDER})
    publish_image(store, image)
    return image


def said(store: ArtefactStore, image: ImageManifest, signers: Sequence[Signer], tests: bytes = PASSED) -> int:
    return publish_statements(store, statements_of_build(image, MADE, SBOM, tests), signers)


def test_a_build_says_how_what_and_whether_it_passed(store: ArtefactStore, keys: Path, managers: list[Signer]) -> None:
    image = built_image(store)
    assert said(store, image, managers[:2]) == 3
    verified, refused = statements_of(store, managers_in(keys), image.digest)
    assert refused == ()
    predicates = {type(one.statement.predicate): one.statement.predicate for one in verified}
    provenance = predicates[Provenance]
    assert isinstance(provenance, Provenance)
    assert (provenance.profile, provenance.lock, provenance.toolbox) == ("small", LOCK, BUILDER)
    assert predicates[SbomReference] == SbomReference(
        format="CycloneDX", sbom=image.artefact("sbom").digest, components=2
    )
    results = predicates[TestResults]
    assert isinstance(results, TestResults)
    assert (results.result, results.passed, results.failed) == ("PASSED", ("no-gcc", "vermagic"), ())
    signed_by = {one.public_key.keyid for one in managers[:2]}
    assert all(set(one.signers) == signed_by for one in verified)
    assert said(store, image, managers[:2]) == 0, "once is enough"


def test_a_test_that_failed_is_said_and_none_is_no_pass(store: ArtefactStore) -> None:
    failed = b'{"tests":[{"id":"no-gcc","passed":true},{"id":"pretty","passed":false}]}'
    image = built_image(store, failed)
    results = statements_of_build(image, MADE, SBOM, failed)[-1].predicate
    assert isinstance(results, TestResults)
    assert (results.result, results.failed) == ("FAILED", ("pretty",))
    assert len(statements_of_build(image, MADE, SBOM, b'{"tests":[]}')) == 2


def test_an_image_that_does_not_tell_how_it_was_made_is_refused(store: ArtefactStore) -> None:
    with pytest.raises(ManifestError, match="does not tell how it was made"):
        statements_of_build(replace(built_image(store), made_from={}), MADE, SBOM, PASSED)


def test_one_manager_is_not_enough_and_another_one_makes_it_count(
    store: ArtefactStore, keys: Path, managers: list[Signer]
) -> None:
    image, holders = built_image(store), managers_in(keys)
    said(store, image, managers[:1])
    verified, refused = statements_of(store, holders, image.digest)
    assert (len(verified), {one.why for one in refused}) == (0, {"1 of the 2 signatures that it needs"})
    assert {one.signers for one in refused} == {(managers[0].public_key.keyid,)}
    assert countersign_all(store, image.digest, holders, managers[0]) == (), "who has signed cannot sign twice"
    assert len(countersign_all(store, image.digest, holders, managers[1])) == 3
    verified, refused = statements_of(store, holders, image.digest)
    assert (len(verified), refused) == (3, ())
    assert countersign_all(store, image.digest, holders, managers[2]) == (), "nothing lacks signatures"


def test_what_strangers_say_does_not_count_and_is_not_signed_over(
    store: ArtefactStore, keys: Path, managers: list[Signer]
) -> None:
    image, holders = built_image(store), managers_in(keys)
    stranger = Signer.generate_ed25519()
    said(store, image, [stranger])
    entry = image_entry(store, image.digest)
    publish_statement(store, entry, b"no envelope")
    other = replace(image, name="other")
    (of_other, *_) = statements_of_build(other, MADE, SBOM, PASSED)
    publish_statement(store, entry, sign(of_other, managers[:2]))
    verified, refused = statements_of(store, holders, image.digest)
    assert verified == ()
    whys = sorted(one.why for one in refused)
    assert len(whys) == 5
    assert sum("unknown keys" in one for one in whys) == 3
    assert sum(f"and not about {image.digest}" in one for one in whys) == 1
    assert sum("no DSSE envelope" in one for one in whys) == 1
    assert countersign_all(store, image.digest, holders, managers[0]) == ()
    with pytest.raises(StatementError, match="not one of those that count here"):
        countersign_all(store, image.digest, holders, stranger)


def test_a_changed_envelope_is_refused(store: ArtefactStore, keys: Path, managers: list[Signer]) -> None:
    image = built_image(store)
    said(store, image, managers[:2])
    changed = {}
    for digest, content in envelopes_about(store, image.digest).items():
        envelope = json.loads(content)
        envelope["payload"] = envelope["payload"][:-8] + "AAAAAAA="
        changed[digest] = json.dumps(envelope).encode()
    verified, refused = judged(changed, managers_in(keys), image.digest)
    assert verified == ()
    assert all("was changed" in one.why for one in refused)


def test_a_build_host_with_keys_says_it_once(store: ArtefactStore, tmp_path: Path, keys: Path) -> None:
    image = built_image(store)
    reference = Reference("small", image.digest, "p", LOCK, "k", "2026-12-01T12:00:00+00:00")
    built = Built(image, "k", LOCK, {Stage.PACK: 3.0, Stage.VERIFY: 2.0})
    assert say_of_build(built, tmp_path, keys) == 0, "it has no name here yet"
    write_reference(tmp_path, reference)
    assert say_of_build(built, tmp_path, keys) == 3
    assert say_of_build(replace(built, seconds={}), tmp_path, keys) == 0
    (provenance,) = [
        one.statement.predicate
        for one in statements_of(store, managers_in(keys), image.digest)[0]
        if isinstance(one.statement.predicate, Provenance)
    ]
    assert (provenance.finished_on - provenance.started_on).total_seconds() == 5
    (tmp_path / "public").mkdir()
    assert say_of_build(built, tmp_path, tmp_path / "public") is None, "a site that has no private keys"


def run(data_dir: Path, *words: object) -> str:
    result = CliRunner().invoke(image_app, [*map(str, words), "--data-dir", str(data_dir)])
    if result.exception is not None:
        raise result.exception
    return result.stdout


def test_people_see_who_said_what(store: ArtefactStore, tmp_path: Path, keys: Path, managers: list[Signer]) -> None:
    image = built_image(store)
    assert "nobody has said anything of it" in run(tmp_path, "statements", image.digest, "--keys", keys)
    said(store, image, managers[:1])
    before = run(tmp_path, "statements", image.digest, "--keys", keys)
    assert before.count("no: 1 of the 2 signatures that it needs") == 3
    key = keys / "targets" / "targets-2.key"
    signed = run(tmp_path, "countersign", image.digest, "--keys", keys, "--key", key)
    assert "TestResults: build: PASSED, 2 passed" in signed
    assert f"{image.digest}: 3 statements signed" in signed
    lines = run(tmp_path, "statements", image.digest, "--keys", keys).splitlines()
    assert sum(line.rstrip().endswith("yes") for line in lines) == 3
    (told,) = [
        one
        for one in json.loads(run(tmp_path, "statements", image.digest, "--keys", keys, "--json"))
        if one["predicate"] == "SbomReference"
    ]
    assert (told["counts"], told["says"]["components"], len(told["signers"])) == (True, 2, 2)
    with pytest.raises(BadInput, match="no private key can be read"):
        run(tmp_path, "countersign", image.digest, "--keys", keys, "--key", keys / "public-keys.json")
