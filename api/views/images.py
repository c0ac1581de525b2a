"""Images as the API shows them."""

from collections.abc import Iterable
from typing import Self

from pydantic import BaseModel, Field

from images.manifest import ImageManifest
from provisioner.promotion.facts import Evidence
from provisioner.services.images import Difference


class FileView(BaseModel):
    """One file of an image, at `/v1/artefacts/{digest}`."""

    role: str
    digest: str
    size_bytes: int


class ImageView(BaseModel):
    """One image. `made_from`: digests of profile, lock and builder."""

    digest: str
    name: str
    arch: str
    kernel_abi: str | None
    command_line: list[str]
    secure_boot: bool
    files: list[FileView]
    made_from: dict[str, str]

    @classmethod
    def of(cls, one: ImageManifest) -> Self:
        """The view."""
        boot = one.bootable
        return cls(
            digest=one.digest,
            name=one.name,
            arch=one.arch,
            kernel_abi=boot.kernel_abi if boot else None,
            command_line=list(boot.command_line) if boot else [],
            secure_boot=boot.secure_boot if boot else False,
            files=[FileView(role=file.role, digest=file.digest, size_bytes=file.size_bytes) for file in one.artefacts],
            made_from=dict(one.made_from),
        )


class StatementView(BaseModel):
    """One statement whose signatures were verified. `envelope`: the digest of its bytes."""

    envelope: str
    predicate: str


class StatementList(BaseModel):
    """What is said of an image, and what is not believed."""

    keys: bool = Field(description="the site knows whose signatures count")
    statements: list[StatementView]
    refused: list[str] = Field(description="why each that is not believed is not")

    @classmethod
    def of(cls, evidence: Evidence) -> Self:
        """The view."""
        return cls(
            keys=evidence.keys,
            statements=[
                StatementView(envelope=one.envelope, predicate=type(one.statement.predicate).__name__)
                for one in evidence.signed
            ],
            refused=list(evidence.refused),
        )


class DifferenceView(BaseModel):
    """One thing that two images do not share; null: the image has no such thing."""

    kind: str
    name: str
    before: str | None
    after: str | None


class ImageDiff(BaseModel):
    """From the first image to the second."""

    before: str
    after: str
    differences: list[DifferenceView]

    @classmethod
    def of(cls, before: str, after: str, found: Iterable[Difference]) -> Self:
        """The view."""
        views = [DifferenceView(kind=one.kind, name=one.name, before=one.before, after=one.after) for one in found]
        return cls(before=before, after=after, differences=views)
