"""What is said of an image, and whether it counts."""

from collections.abc import Mapping
from dataclasses import dataclass

from images.digest import Digest
from images.oci.published import statements_in
from images.statements.envelope import claimed, signers_of, verify
from images.statements.statement import Statement, StatementError
from images.store import ArtefactStore
from images.trust.keys import Keyholders


@dataclass(frozen=True, slots=True)
class Verified:
    """A statement that counts. `envelope`: the digest of its bytes; `signers`: ids of the keys that have signed it."""

    envelope: Digest
    statement: Statement
    signers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refused:
    """One that does not, and why. `claims`: what it would say; None where nobody can read it."""

    envelope: Digest
    why: str
    claims: Statement | None
    signers: tuple[str, ...]


def judged(
    envelopes: Mapping[Digest, bytes], holders: Keyholders, about: Digest
) -> tuple[tuple[Verified, ...], tuple[Refused, ...]]:
    """Which of these envelopes count for a digest, by the keys of `holders`. Pure."""
    verified: list[Verified] = []
    refused: list[Refused] = []
    for digest, content in envelopes.items():
        try:
            statement = verify(content, holders, about)
            verified.append(Verified(digest, statement, signers_of(content, holders)))
        except StatementError as error:
            refused.append(_refused(digest, content, holders, str(error)))
    return tuple(verified), tuple(refused)


def statements_of(
    store: ArtefactStore, holders: Keyholders, about: Digest
) -> tuple[tuple[Verified, ...], tuple[Refused, ...]]:
    """What the store has about an image: what counts, and what does not. A gate asks this, and believes the first.

    Raises ArtefactError and ManifestError when the store cannot be read.
    """
    return judged(envelopes_about(store, about), holders, about)


def envelopes_about(store: ArtefactStore, image: Digest) -> Mapping[Digest, bytes]:
    """Every envelope about an image, valid or not: digest -> bytes. Raises ArtefactError and ManifestError."""
    said = [one.envelope for one in statements_in(store) if one.subject == image]
    return {digest: store.path(digest).read_bytes() for digest in said}


def _refused(digest: Digest, content: bytes, holders: Keyholders, why: str) -> Refused:
    try:
        return Refused(digest, why, claimed(content), signers_of(content, holders))
    except StatementError:
        return Refused(digest, why, None, ())
