"""What is said of an image or a release: in-toto statements (https://in-toto.io/Statement/v1). Pure."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from images.digest import Digest, parse_digest

STATEMENT_TYPE: Literal["https://in-toto.io/Statement/v1"] = "https://in-toto.io/Statement/v1"

_Sha256 = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
_Hex = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
_Word = Annotated[str, Field(min_length=1, max_length=500)]
_Count = Annotated[int, Field(ge=0)]


class StatementError(Exception):
    """It says nothing that counts here."""


class _Part(BaseModel):
    """Unknown fields are refused: what nobody reads must not look signed for."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True, allow_inf_nan=False
    )


class Provenance(_Part):
    """How an image was made: enough to make it again."""

    profile: _Word
    lock: _Sha256
    toolbox: _Sha256
    """Digest of the builder's tools and their versions."""
    builder: _Word
    """Id of the builder, a URI."""
    started_on: datetime
    finished_on: datetime


class SbomReference(_Part):
    """Where the bill of materials is, by digest."""

    format: Literal["CycloneDX"]
    sbom: _Sha256
    components: _Count


class TestResults(_Part):
    """Tests of exactly the subject. `result` is PASSED only when nothing failed and something passed."""

    __test__ = False  # pytest: no tests in here

    suite: _Word
    result: Literal["PASSED", "FAILED"]
    passed: tuple[_Word, ...]
    failed: tuple[_Word, ...]
    finished_on: datetime

    def model_post_init(self, _context: Any) -> None:
        """A result that its own lists contradict is none."""
        if (self.result == "PASSED") != (bool(self.passed) and not self.failed):
            raise ValueError(f"{self.suite}: {self.result}, with {len(self.failed)} failed, {len(self.passed)} passed")


class BurnInSummary(_Part):
    """What nodes of one hardware class showed while they ran the subject."""

    hardware_class: _Word
    plan: _Sha256
    nodes: _Count
    domains: _Count
    node_hours: Annotated[float, Field(ge=0)]
    failed: tuple[_Word, ...]
    """Nodes that did not pass."""
    since: datetime
    until: datetime


class PromotionDecision(_Part):
    """Who let the subject into a channel, and on what it stands."""

    promotion: _Word
    channel: _Word
    hardware_class: _Word
    outcome: Literal["APPLIED", "REJECTED"]
    requester: _Word
    approvers: tuple[_Word, ...]
    evidence: tuple[_Sha256, ...]
    """Digests of the envelopes that the gates read."""
    decided_on: datetime


Predicate = Provenance | SbomReference | TestResults | BurnInSummary | PromotionDecision

PREDICATES: Mapping[str, type[Predicate]] = {
    "urn:firstlight:predicate:provenance:v1": Provenance,
    "urn:firstlight:predicate:sbom-reference:v1": SbomReference,
    "urn:firstlight:predicate:test-results:v1": TestResults,
    "urn:firstlight:predicate:burn-in-summary:v1": BurnInSummary,
    "urn:firstlight:predicate:promotion-decision:v1": PromotionDecision,
}


class Statement(_Part):
    """A predicate about subjects: name -> digest."""

    subjects: Annotated[Mapping[str, _Sha256], Field(min_length=1)]
    predicate: Predicate

    def is_about(self, digest: Digest) -> bool:
        """The digest is a subject; names do not matter."""
        return digest in self.subjects.values()


class _Digests(_Part):
    sha256: _Hex


class _Subject(_Part):
    name: _Word
    digest: _Digests


class _Document(BaseModel):
    """As in-toto writes it."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    type_: Annotated[Literal["https://in-toto.io/Statement/v1"], Field(alias="_type")]
    subject: Annotated[tuple[_Subject, ...], Field(min_length=1)]
    predicate_type: Annotated[str, Field(alias="predicateType")]
    predicate: dict[str, Any]


def encode(statement: Statement) -> bytes:
    """The payload to be signed. Equal statements give equal bytes."""
    kind = next(name for name, model in PREDICATES.items() if type(statement.predicate) is model)
    document = _Document(
        type_=STATEMENT_TYPE,
        subject=tuple(
            _Subject(name=name, digest=_Digests(sha256=digest.removeprefix("sha256:")))
            for name, digest in sorted(statement.subjects.items())
        ),
        predicate_type=kind,
        predicate=statement.predicate.model_dump(mode="json", by_alias=True),
    )
    return document.model_dump_json(by_alias=True).encode()


def decode(payload: bytes) -> Statement:
    """The statement in a payload whose signatures were verified. Raises `StatementError`."""
    try:
        document = _Document.model_validate_json(payload)
        model = PREDICATES.get(document.predicate_type)
        if model is None:
            raise StatementError(
                f"predicate type {document.predicate_type[:100]!r}: not one of {', '.join(PREDICATES)}"
            )
        subjects = {one.name: parse_digest(f"sha256:{one.digest.sha256}") for one in document.subject}
        if len(subjects) != len(document.subject):
            raise StatementError("two subjects have one name")
        return Statement(subjects=subjects, predicate=model.model_validate(document.predicate))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "statement"
        raise StatementError(f"{where}: {first['msg']}") from error
