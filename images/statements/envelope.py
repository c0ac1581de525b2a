"""Statements, signed: DSSE envelopes (https://github.com/secure-systems-lab/dsse). No file is touched here."""

import json
from collections.abc import Sequence

from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import UnverifiedSignatureError, VerificationError
from securesystemslib.signer import Signer

from images.digest import Digest
from images.statements.statement import Statement, StatementError, decode, encode
from images.trust.keys import Keyholders

PAYLOAD_TYPE = "application/vnd.in-toto+json"


def sign(statement: Statement, signers: Sequence[Signer]) -> bytes:
    """An envelope with one signature per signer. Raises `ValueError` without any."""
    if not signers:
        raise ValueError("nobody signs")
    envelope = Envelope(encode(statement), PAYLOAD_TYPE, {})
    for signer in signers:
        envelope.sign(signer)
    return _write(envelope)


def countersign(content: bytes, signer: Signer) -> bytes:
    """Add the signature of another key, at another place and time. Raises `StatementError`."""
    envelope = _read(content)
    decode(envelope.payload)
    envelope.sign(signer)
    return _write(envelope)


def verify(content: bytes, holders: Keyholders, about: Digest) -> Statement:
    """The statement, if enough of the `holders` have signed it and it is about this digest. Raises `StatementError`.

    A signature of a key that is not theirs counts for nothing; a wrong one of theirs spoils the envelope.
    """
    envelope = _read(content)
    known = {key.keyid: key for key in holders.keys}
    unknown = [keyid[:16] for keyid in envelope.signatures if keyid not in known]
    good = set()
    for keyid, signature in envelope.signatures.items():
        if keyid not in known:
            continue
        try:
            known[keyid].verify_signature(signature, envelope.pae())
        except (UnverifiedSignatureError, VerificationError) as error:
            raise StatementError(
                f"the signature of key {keyid[:16]} does not fit: what it signed was changed"
            ) from error
        good.add(known[keyid].keyval["public"])
    if len(good) < holders.threshold:
        strangers = f"; unknown keys: {', '.join(unknown)}" if unknown else ""
        raise StatementError(f"{len(good)} of the {holders.threshold} signatures that it needs{strangers}")
    statement = decode(envelope.payload)
    if not statement.is_about(about):
        raise StatementError(f"it is about {', '.join(statement.subjects.values())}, and not about {about}")
    return statement


def signers_of(content: bytes, holders: Keyholders) -> tuple[str, ...]:
    """Ids of those of the `holders` who have signed it, and whose signatures fit. Raises `StatementError`."""
    envelope = _read(content)
    found = []
    for key in holders.keys:
        if key.keyid in envelope.signatures:
            try:
                key.verify_signature(envelope.signatures[key.keyid], envelope.pae())
            except (UnverifiedSignatureError, VerificationError):
                continue
            found.append(key.keyid)
    return tuple(found)


def claimed(content: bytes) -> Statement:
    """What it says, whoever has signed it: for people, and for who is about to sign. Raises `StatementError`."""
    return decode(_read(content).payload)


def _read(content: bytes) -> Envelope:
    try:
        document = json.loads(content)
        if set(document) != {"payload", "payloadType", "signatures"}:
            raise StatementError("an envelope has payload, payloadType and signatures, and nothing else")
        envelope = Envelope.from_dict(document)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StatementError(f"it is no DSSE envelope: {error}") from error
    if envelope.payload_type != PAYLOAD_TYPE:
        raise StatementError(f"payload type {str(envelope.payload_type)[:100]!r}: a statement has {PAYLOAD_TYPE}")
    return envelope


def _write(envelope: Envelope) -> bytes:
    return json.dumps(envelope.to_dict(), sort_keys=True, separators=(",", ":")).encode()
