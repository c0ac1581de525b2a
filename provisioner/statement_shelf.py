"""Signed statements of the site's store, believed by the keys of its release managers."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from images.digest import Digest, digest_of, parse_digest
from images.manifest import ManifestError
from images.oci.index import read_index
from images.oci.published import (
    STATEMENT_TYPE,
    StatementManifest,
    image_entry,
    parse_statement_manifest,
    publish_statement,
)
from images.statements.envelope import sign, verify
from images.statements.statement import PromotionDecision, Statement, StatementError
from images.store import ArtefactError, ArtefactStore
from images.trust.errors import TrustError
from images.trust.keys import PUBLIC, Keyholders, Role, Signer, read_keyring, read_signer
from provisioner.errors import BadInput
from provisioner.promotion.facts import Evidence, Signed

_SNAPSHOT_KEY = Path("snapshot") / "snapshot-1.key"


class Keys(NamedTuple):
    """`managers` sign statements; `own`: the service, what it decided. `signer`: the private half of that, if any."""

    managers: Keyholders
    own: Keyholders
    signer: Signer | None


def read_keys(folder: Path, decisions: Path | None) -> Keys:
    """From the folder of `firstlight keys init`. Raises `BadInput` with the file and what to do."""
    try:
        keyring = read_keyring(folder / PUBLIC)
        private = decisions or (folder / _SNAPSHOT_KEY if (folder / _SNAPSHOT_KEY).exists() else None)
        signer = None if private is None else read_signer(private)
        own = keyring[Role.SNAPSHOT] if signer is None else Keyholders(1, (signer.public_key,))
    except TrustError as error:
        raise BadInput(f"trust: {error}; `firstlight keys init DIR` makes keys, and trust.keys names DIR") from error
    return Keys(keyring[Role.TARGETS], own, signer)


class StatementShelf:
    """`Statements`."""

    def __init__(self, store: ArtefactStore, keys: Keys | None) -> None:
        """`keys`: None: this site believes nobody, and signs nothing."""
        self._store, self._keys = store, keys
        self._manifests: dict[Digest, StatementManifest] = {}
        self._read: dict[Digest, Signed | str] = {}

    async def about(self, digest: str) -> Evidence:
        """As the protocol says. What an envelope says never changes, so it is read and verified once."""
        if self._keys is None:
            return Evidence(keys=False)
        return await asyncio.to_thread(self._about, parse_digest(digest), self._keys)

    async def sign(self, statement: Statement) -> str | None:
        """As the protocol says; None as well where the image is not in the store."""
        if self._keys is None or self._keys.signer is None:
            return None
        return await asyncio.to_thread(self._publish, statement, self._keys.signer)

    @property
    def can_sign(self) -> bool:
        """As the protocol says."""
        return self._keys is not None and self._keys.signer is not None

    def _about(self, digest: Digest, keys: Keys) -> Evidence:
        signed: list[Signed] = []
        refused: list[str] = []
        for one in self._of(digest):
            if one.envelope not in self._read:
                self._read[one.envelope] = self._verified(one, keys)
            found = self._read[one.envelope]
            if isinstance(found, Signed):
                signed.append(found)
            else:
                refused.append(found)
        return Evidence(keys=True, signed=tuple(signed), refused=tuple(refused))

    def _of(self, digest: Digest) -> list[StatementManifest]:
        try:
            entries = [one for one in read_index(self._store) if one.artifact_type == STATEMENT_TYPE]
            for one in entries:
                if one.digest not in self._manifests:
                    content = self._store.path(one.digest).read_bytes()
                    self._manifests[one.digest] = parse_statement_manifest(content)
        except (ArtefactError, ManifestError, OSError) as error:
            raise BadInput(
                f"the store of statements cannot be read: {error}; `firstlight doctor` looks at it"
            ) from error
        return [found for one in entries if (found := self._manifests[one.digest]).subject == digest]

    def _verified(self, one: StatementManifest, keys: Keys) -> Signed | str:
        """By the release managers; what this service has decided itself, by its own key."""
        try:
            content = self._store.path(one.envelope).read_bytes()
        except (ArtefactError, OSError) as error:
            return f"statement {one.envelope[:19]}: {error}"
        try:
            return Signed(one.envelope, verify(content, keys.managers, one.subject))
        except StatementError as error:
            own = self._own(content, one, keys)
            return f"statement {one.envelope[:19]}: {error}" if own is None else own

    def _own(self, content: bytes, one: StatementManifest, keys: Keys) -> Signed | None:
        try:
            statement = verify(content, keys.own, one.subject)
        except StatementError:
            return None
        return Signed(one.envelope, statement) if isinstance(statement.predicate, PromotionDecision) else None

    def _publish(self, statement: Statement, signer: Signer) -> str | None:
        subjects: Mapping[str, Digest] = {name: parse_digest(one) for name, one in statement.subjects.items()}
        try:
            image = image_entry(self._store, subjects["image"])
        except ArtefactError:
            return None
        envelope = sign(statement, [signer])
        publish_statement(self._store, image, envelope)
        return digest_of(envelope)
