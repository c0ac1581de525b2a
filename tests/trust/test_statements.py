"""Statements count when enough of the right keys have signed exactly this."""

import base64
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from securesystemslib.dsse import Envelope
from securesystemslib.signer import CryptoSigner, SSlibKey

from images.digest import digest_of
from images.statements.envelope import PAYLOAD_TYPE, countersign, sign, verify
from images.statements.statement import (
    BurnInSummary,
    PromotionDecision,
    Provenance,
    SbomReference,
    Statement,
    StatementError,
    TestResults,
    decode,
    encode,
)
from images.trust.errors import TrustError
from images.trust.keys import Keyholders

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
IMAGE, OTHER = digest_of(b"image"), digest_of(b"other")
SIGNERS = [CryptoSigner.generate_ed25519() for _ in range(4)]
STRANGER = CryptoSigner.generate_ed25519()
HOLDERS = Keyholders(2, tuple(one.public_key for one in SIGNERS))

PREDICATES = (
    Provenance(
        profile="gpu-r580", lock=OTHER, toolbox=OTHER, builder="urn:builder:1", started_on=NOON, finished_on=NOON
    ),
    SbomReference(format="CycloneDX", sbom=OTHER, components=412),
    TestResults(suite="boot", result="PASSED", passed=("verity", "agent"), failed=(), finished_on=NOON),
    BurnInSummary(
        hardware_class="hgx-h100-8gpu",
        plan=OTHER,
        nodes=16,
        domains=4,
        node_hours=96.5,
        failed=("r01-u07",),
        since=NOON,
        until=NOON,
    ),
    PromotionDecision(
        promotion="p-7",
        channel="production",
        hardware_class="hgx-h100-8gpu",
        outcome="APPLIED",
        requester="anna",
        approvers=("ben",),
        evidence=(OTHER,),
        decided_on=NOON,
    ),
)
SBOM = Statement(subjects={"image": IMAGE}, predicate=PREDICATES[1])


def payload(**fields: Any) -> dict[str, Any]:
    return {**json.loads(encode(SBOM)), **fields}


def signed(document: object, payload_type: str = PAYLOAD_TYPE) -> bytes:
    """Anything at all, with two good signatures."""
    envelope = Envelope(json.dumps(document).encode(), payload_type, {})
    for signer in SIGNERS[:2]:
        envelope.sign(signer)
    return json.dumps(envelope.to_dict()).encode()


@pytest.mark.parametrize("predicate", PREDICATES, ids=lambda one: type(one).__name__)
def test_each_kind_comes_back_as_it_was_said(predicate: Any) -> None:
    statement = Statement(subjects={"image": IMAGE, "root": OTHER}, predicate=predicate)
    assert decode(encode(statement)) == statement
    assert verify(sign(statement, SIGNERS[:2]), HOLDERS, IMAGE) == statement
    assert json.loads(encode(statement))["_type"] == "https://in-toto.io/Statement/v1"


@given(st.sets(st.sampled_from(range(4))), st.integers(1, 4), st.booleans())
def test_k_of_n_keys_and_no_others(who: set[int], threshold: int, stranger: bool) -> None:
    holders = Keyholders(threshold, HOLDERS.keys)
    content = sign(SBOM, [STRANGER])
    for number in who:
        content = countersign(content, SIGNERS[number])
    if not stranger and who:
        content = sign(SBOM, [SIGNERS[number] for number in who])
    if len(who) >= threshold:
        assert verify(content, holders, IMAGE) == SBOM
        return
    with pytest.raises(StatementError, match=f"{len(who)} of the {threshold} signatures"):
        verify(content, holders, IMAGE)


@given(st.data())
def test_a_changed_payload_or_signature_is_refused(data: st.DataObject) -> None:
    document = json.loads(sign(SBOM, SIGNERS[:2]))
    holder, name = data.draw(st.sampled_from([(document, "payload"), (document["signatures"][0], "sig")]))
    raw = bytearray(base64.b64decode(holder[name]))
    raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
    holder[name] = base64.b64encode(raw).decode()
    with pytest.raises(StatementError, match="does not fit"):
        verify(json.dumps(document).encode(), HOLDERS, IMAGE)


def test_one_key_that_signs_twice_counts_once() -> None:
    document = json.loads(sign(SBOM, SIGNERS[:1]))
    document["signatures"] *= 2
    with pytest.raises(StatementError, match="Multiple signatures"):
        verify(json.dumps(document).encode(), HOLDERS, IMAGE)
    renamed = {**document["signatures"][0], "keyid": "0" * 64}
    document["signatures"] = [document["signatures"][0], renamed]
    with pytest.raises(StatementError, match="1 of the 2 signatures that it needs; unknown keys: 0000000000000000"):
        verify(json.dumps(document).encode(), HOLDERS, IMAGE)


def test_one_key_under_two_names_is_no_two_holders() -> None:
    key = SIGNERS[0].public_key
    alias = SSlibKey("1" * 64, key.keytype, key.scheme, dict(key.keyval))
    with pytest.raises(TrustError, match="twice"):
        Keyholders(2, (key, alias))
    with pytest.raises(TrustError, match="under its own id"):
        Keyholders(1, (alias,))
    for threshold in (0, -1, 2):
        with pytest.raises(TrustError, match="of 1 keys"):
            Keyholders(threshold, (key,))


def test_a_statement_about_another_digest_is_no_evidence() -> None:
    with pytest.raises(StatementError, match=f"and not about {OTHER}"):
        verify(sign(SBOM, SIGNERS[:2]), HOLDERS, OTHER)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (signed(payload(), "text/plain"), "payload type 'text/plain'"),
        (signed(payload(predicateType="https://example.com/x")), "predicate type"),
        (signed(payload(_type="https://in-toto.io/Statement/v0.1")), "_type"),
        (signed(payload(subject=[])), "subject"),
        (signed(payload(more=1)), "more"),
        (signed(payload(subject=[{"name": "a", "digest": {"sha256": "0"}}])), "subject.0.digest.sha256"),
        (signed(payload(subject=[payload()["subject"][0]] * 2)), "two subjects"),
        (signed(payload(predicate={"format": "CycloneDX", "sbom": OTHER, "components": -1})), "components"),
        (signed([]), "statement"),
        (b"[]", "DSSE envelope|payload"),
        (b"{", "no DSSE envelope"),
        (b"\xff", "no DSSE envelope"),
        (b"[" * 100_000, "no DSSE envelope"),
        (b'{"payload":1,"payloadType":2,"signatures":3}', "no DSSE envelope"),
        (b'{"payload":"","payloadType":"","signatures":[]}', "payload type"),
    ],
)
def test_what_is_no_statement_of_ours_is_refused_with_its_reason(content: bytes, why: str) -> None:
    with pytest.raises(StatementError, match=why):
        verify(content, HOLDERS, IMAGE)


@given(
    st.binary(max_size=200) | st.recursive(st.none() | st.text(), st.lists).map(lambda one: json.dumps(one).encode())
)
def test_any_bytes_are_refused_in_words(content: bytes) -> None:
    for read in (lambda: verify(content, HOLDERS, IMAGE), lambda: decode(content)):
        refuses(read)


def refuses(read: Callable[[], object]) -> None:
    with pytest.raises(StatementError):
        read()


@pytest.mark.parametrize(
    ("result", "passed", "failed"), [("PASSED", (), ()), ("PASSED", ("a",), ("b",)), ("FAILED", ("a",), ())]
)
def test_a_result_that_its_own_lists_contradict_is_none(result: Any, passed: tuple[str], failed: tuple[str]) -> None:
    with pytest.raises(ValueError, match="boot"):
        TestResults(suite="boot", result=result, passed=passed, failed=failed, finished_on=NOON)


def test_nobody_signs_nothing() -> None:
    with pytest.raises(ValueError, match="nobody"):
        sign(SBOM, [])
