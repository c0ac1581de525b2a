"""The repository of releases, with key files as `firstlight keys init` makes them."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from securesystemslib.signer import CryptoSigner
from tuf.api.metadata import Metadata, MetaFile, Snapshot, Targets, Timestamp
from typer.testing import CliRunner

from images.digest import digest_of
from images.trust.client import trusted_targets
from images.trust.errors import MetadataExpiredError, TrustError
from images.trust.keys import DEFAULT_PLAN, Role, keyring_of, make_signers, read_keyring, read_signer
from images.trust.repository import Expiries, Target, add_root, first_root, next_root, publish, renew_timestamp
from provisioner.commands.keys import keys_app
from provisioner.errors import BadInput

NOW = datetime.now(UTC).replace(microsecond=0)
LATER, PAST = NOW + timedelta(days=30), NOW - timedelta(days=1)
GOOD = Expiries(LATER, LATER, LATER)
BLUE = Target(digest_of(b"blue"), 10, {"hardware_class": "hgx-h100-8gpu"})
GREEN = Target(digest_of(b"green"), 12, {"hardware_class": "hgx-h100-8gpu"})
NAME = "hgx-h100-8gpu/production"


@dataclass(frozen=True)
class Place:
    """Keys, a repository and one client."""

    keys: Path
    source: Path
    cache: Path
    root: bytes

    def signers(self, *, targets: int = 2) -> dict[Role, list[CryptoSigner]]:
        counts = {Role.ROOT: 5, Role.TARGETS: targets, Role.SNAPSHOT: 1, Role.TIMESTAMP: 1}
        return {
            role: [read_signer(self.keys / role / f"{role}-{number}.key") for number in range(1, count + 1)]
            for role, count in counts.items()
        }

    def publish(self, target: Target, expiries: Expiries = GOOD) -> int:
        return publish(self.source, {NAME: target}, self.signers(), expiries)

    def seen(self) -> Mapping[str, Target]:
        return trusted_targets(self.source, self.cache, self.root)

    def back_up(self, tmp_path: Path) -> Path:
        return Path(shutil.copytree(self.source, tmp_path / "backup"))


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("keys") / "site"
    assert CliRunner().invoke(keys_app, ["init", str(folder)]).exit_code == 0
    return folder


@pytest.fixture
def place(keys: Path, tmp_path: Path) -> Place:
    root = (keys / "1.root.json").read_bytes()
    add_root(tmp_path / "source", root)
    return Place(keys, tmp_path / "source", tmp_path / "cache", root)


def test_key_files_are_private_and_never_overwritten(keys: Path) -> None:
    private = sorted(path.relative_to(keys).as_posix() for path in keys.rglob("*.key"))
    assert private == [
        *(f"root/root-{number}.key" for number in range(1, 6)),
        "snapshot/snapshot-1.key",
        *(f"targets/targets-{number}.key" for number in range(1, 4)),
        "timestamp/timestamp-1.key",
    ]
    assert {path.stat().st_mode & 0o777 for path in keys.rglob("*.key")} == {0o600}
    assert keys.stat().st_mode & 0o777 == 0o700
    before = {path: path.read_bytes() for path in keys.rglob("*") if path.is_file()}
    result = CliRunner().invoke(keys_app, ["init", str(keys)])
    assert isinstance(result.exception, BadInput)
    assert "never overwritten" in str(result.exception)
    assert {path: path.read_bytes() for path in keys.rglob("*") if path.is_file()} == before
    public = (keys / "public-keys.json").read_text() + (keys / "1.root.json").read_text()
    assert "PRIVATE" not in public
    assert {role: (one.threshold, len(one.keys)) for role, one in read_keyring(keys / "public-keys.json").items()} == {
        role: (plan.threshold, plan.count) for role, plan in DEFAULT_PLAN.items()
    }


def test_keys_init_says_what_to_keep_where_and_no_key(tmp_path: Path) -> None:
    folder = tmp_path / "k"
    result = CliRunner().invoke(keys_app, ["init", str(folder), "--root", "1-of-1", "--targets", "1-of-2"])
    assert result.exit_code == 0
    for words in ("offline", "1 of 1", "1 of 2", f"{folder}/timestamp", "1.root.json"):
        assert words in result.output
    assert "PRIVATE" not in result.output
    for wrong in ("3-of-2", "0-of-1", "x", "1-of-100"):
        refused = CliRunner().invoke(keys_app, ["init", str(tmp_path / "other"), "--root", wrong])
        assert isinstance(refused.exception, BadInput), refused.output
        assert wrong in str(refused.exception)
    assert not (tmp_path / "other").exists()


def test_a_client_sees_what_was_published(place: Place) -> None:
    assert place.publish(BLUE) == 1
    assert place.seen() == {NAME: BLUE}
    assert place.publish(GREEN) == 2
    assert place.seen() == {NAME: GREEN}


def test_a_return_is_a_new_version_that_names_an_old_digest(place: Place) -> None:
    for target in (BLUE, GREEN):
        place.publish(target)
        place.seen()
    assert place.publish(BLUE) == 3
    assert place.seen() == {NAME: BLUE}


def test_older_metadata_is_refused(place: Place, tmp_path: Path) -> None:
    place.publish(BLUE)
    old = place.back_up(tmp_path)
    place.publish(GREEN)
    place.seen()
    with pytest.raises(TrustError, match="must be >= 2"):
        trusted_targets(old, place.cache, place.root)
    assert place.seen() == {NAME: GREEN}


def test_too_few_signatures_publish_nothing(place: Place) -> None:
    place.publish(BLUE)
    before = sorted(place.source.iterdir())
    with pytest.raises(TrustError, match="targets version 2: 1 of the 2 signatures"):
        publish(place.source, {NAME: GREEN}, place.signers(targets=1), GOOD)
    with pytest.raises(TrustError, match="targets version 2: 1 of the 2 signatures"):
        publish(
            place.source, {NAME: GREEN}, {**place.signers(), Role.TARGETS: place.signers()[Role.TARGETS][:1] * 2}, GOOD
        )
    assert sorted(place.source.iterdir()) == before
    assert place.seen() == {NAME: BLUE}


def test_a_client_counts_for_itself(place: Place) -> None:
    """Who has the online keys alone can put them over targets that too few have signed."""
    place.publish(BLUE)
    targets = Metadata[Targets].from_file(str(place.source / "1.targets.json"))
    targets.signatures.popitem()
    content = targets.to_bytes()
    (place.source / "1.targets.json").write_bytes(content)
    snapshot = Snapshot(1, expires=LATER, meta={"targets.json": MetaFile.from_data(1, content, ["sha256"])})
    content = online(snapshot, place.signers()[Role.SNAPSHOT])
    (place.source / "1.snapshot.json").write_bytes(content)
    timestamp = Timestamp(1, expires=LATER, snapshot_meta=MetaFile.from_data(1, content, ["sha256"]))
    (place.source / "timestamp.json").write_bytes(online(timestamp, place.signers()[Role.TIMESTAMP]))
    with pytest.raises(TrustError, match="targets was signed by 1/2 keys"):
        place.seen()


T = TypeVar("T", Snapshot, Timestamp)


def online(signed: T, signers: Sequence[CryptoSigner]) -> bytes:
    metadata = Metadata(signed)
    metadata.sign(signers[0])
    return metadata.to_bytes()


def test_a_publish_that_was_cut_off_is_seen_by_nobody_and_stands_in_no_way(place: Place) -> None:
    place.publish(BLUE)
    timestamp = (place.source / "timestamp.json").read_bytes()
    place.publish(GREEN)
    (place.source / "timestamp.json").write_bytes(timestamp)
    (place.source / "2.snapshot.json").unlink()
    assert place.seen() == {NAME: BLUE}
    assert place.publish(GREEN) == 3
    assert place.seen() == {NAME: GREEN}


def test_metadata_of_other_keys_is_refused(place: Place, tmp_path: Path) -> None:
    signers = make_signers(DEFAULT_PLAN)
    root = first_root(keyring_of(signers, DEFAULT_PLAN), LATER, signers[Role.ROOT])
    add_root(tmp_path / "strange", root)
    publish(tmp_path / "strange", {NAME: GREEN}, signers, GOOD)
    assert trusted_targets(tmp_path / "strange", tmp_path / "other cache", root) == {NAME: GREEN}
    with pytest.raises(TrustError, match="is not trusted"):
        trusted_targets(tmp_path / "strange", place.cache, place.root)


def test_an_expired_timestamp_is_refused_until_it_is_renewed(place: Place) -> None:
    place.publish(BLUE, Expiries(LATER, LATER, PAST))
    with pytest.raises(MetadataExpiredError, match=r"timestamp\.json is expired"):
        place.seen()
    renew_timestamp(place.source, LATER, place.signers())
    assert place.seen() == {NAME: BLUE}


def test_expired_local_metadata_still_tells_what_is_too_old(place: Place, tmp_path: Path) -> None:
    """theupdateframework/python-tuf#1498, #1563: for that check, and for nothing else."""
    place.publish(BLUE)
    old = place.back_up(tmp_path)
    place.publish(GREEN)
    renew_timestamp(place.source, PAST, place.signers())
    with pytest.raises(MetadataExpiredError):
        place.seen()
    place.cache.mkdir(exist_ok=True)
    shutil.copy(place.source / "timestamp.json", place.cache)
    with pytest.raises(TrustError, match="must be >= 3"):
        trusted_targets(old, place.cache, place.root)
    with pytest.raises(MetadataExpiredError):
        place.seen()
    renew_timestamp(place.source, LATER, place.signers())
    assert place.seen() == {NAME: GREEN}


def test_root_keys_are_rotated_and_the_shipped_root_stays_good(place: Place) -> None:
    place.publish(BLUE)
    place.seen()
    signers = make_signers(DEFAULT_PLAN)
    keyring = keyring_of(signers, DEFAULT_PLAN)
    old = place.signers()[Role.ROOT]
    with pytest.raises(TrustError, match="0 of the 3 signatures that it needs by the old root keys"):
        next_root(place.root, keyring, LATER, signers[Role.ROOT])
    with pytest.raises(TrustError, match="2 of the 3 signatures that it needs by the new root keys"):
        next_root(place.root, keyring, LATER, [*old, *signers[Role.ROOT][:2]])
    second = next_root(place.root, keyring, LATER, [*old[:3], *signers[Role.ROOT][:3]])
    add_root(place.source, second)
    publish(place.source, {NAME: GREEN}, signers, GOOD)
    assert place.seen() == {NAME: GREEN}
    assert trusted_targets(place.source, place.cache.with_name("new client"), place.root) == {NAME: GREEN}
    with pytest.raises(TrustError, match="by keys of root version 2"):
        place.publish(BLUE)
    with pytest.raises(TrustError, match="root version 3 comes next, and not 2"):
        add_root(place.source, second)


def test_key_files_that_are_none_are_named(tmp_path: Path) -> None:
    path = tmp_path / "some.key"
    for content in (None, b"secret words", b"{}"):
        if content is not None:
            path.write_bytes(content)
        for read in (read_signer, read_keyring):
            with pytest.raises(TrustError, match=r"some\.key") as refused:
                read(path)
            assert "secret" not in str(refused.value)
