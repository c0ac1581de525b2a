"""What every part of a persona is: a small frozen model that refuses unknown fields."""

from pydantic import BaseModel, ConfigDict


class Part(BaseModel):
    """One part of a persona's file."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def numbered(pattern: str, count: int, first: int) -> tuple[str, ...]:
    """`pattern` once for each number from `first`, with `{n}` replaced by it."""
    return tuple(pattern.replace("{n}", str(number)) for number in range(first, first + count))
