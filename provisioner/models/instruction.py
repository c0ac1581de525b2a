"""What one person does next."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Owner(StrEnum):
    """Who acts next on a node."""

    FIRSTLIGHT = "firstlight"
    TECHNICIAN = "technician"
    OPERATOR = "operator"
    IMAGE_OWNER = "image-owner"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One thing that one person does: who, where, what, with which part, and how we will know that it is done."""

    owner: Owner
    where: str
    what: str
    done_when: str
    part: str | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """Why a node waits, and for what. `retry_at`: when Firstlight looks again by itself, if it does."""

    reason: str
    instruction: Instruction
    since: datetime
    retry_at: datetime | None = None
