"""Kinds of values that come in over HTTP, with their limits."""

from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints

_PRINTABLE = r"^[^\x00-\x1f\x7f]*$"
"""Reasons reach terminals and boot consoles: no control characters, so no escape sequences."""


class Body(BaseModel):
    """What all request bodies share: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


NODE_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"
NameInPath = Annotated[str, Path(max_length=253, pattern=NODE_NAME)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=_PRINTABLE)]
Line = Annotated[str, StringConstraints(min_length=1, max_length=500, pattern=_PRINTABLE, strip_whitespace=True)]
Password = Annotated[SecretStr, Field(min_length=1, max_length=256)]
Percent = Annotated[float, Field(ge=0, le=100)]
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
BigCount = Annotated[int, Field(ge=0, le=2**63 - 1)]
