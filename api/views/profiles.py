"""What is said about profiles."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

from pydantic import BaseModel

from profiles.images.explain import Explained


class FindingView(BaseModel):
    """One thing that is wrong, and the remedy. `pointer`: into the document (RFC 6901)."""

    pointer: str
    detail: str


class ValidationView(BaseModel):
    """`valid`: nothing is wrong with it."""

    valid: bool
    findings: list[FindingView]

    @classmethod
    def of(cls, findings: Sequence[tuple[str, str]]) -> Self:
        """The view."""
        shown = [FindingView(pointer=f"#{pointer}", detail=text) for pointer, text in findings]
        return cls(valid=not findings, findings=shown)


class ResolvedImage(BaseModel):
    """An image profile with everything that it inherits. `digest`: of its content; null for one that is no Debian."""

    name: str
    digest: str | None
    content: dict[str, Any]


class OverriddenView(BaseModel):
    """A value that lost, and where it is written."""

    value: str
    where: str


class ExplainedView(BaseModel):
    """One value as JSON. `where`: file and line, or `default`."""

    field: str
    value: str
    where: str
    overrode: list[OverriddenView]


class Explanation(BaseModel):
    """Each value of an image profile, in the order of the profile."""

    values: list[ExplainedView]

    @classmethod
    def of(cls, values: Iterable[Explained]) -> Self:
        """The view."""
        return cls(
            values=[
                ExplainedView(
                    field=one.field,
                    value=one.value,
                    where=one.where,
                    overrode=[OverriddenView(value=lost.value, where=lost.where) for lost in one.overrode],
                )
                for one in values
            ]
        )
