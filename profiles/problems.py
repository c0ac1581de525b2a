"""What a model finds wrong with itself, handed through pydantic to the findings."""

from collections.abc import Iterable
from dataclasses import dataclass

from pydantic_core import PydanticCustomError

PROBLEMS = "problems"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong at `at`, the path below the model or field that refuses."""

    at: tuple[str | int, ...]
    message: str
    hint: str = ""


def refuse(message: str, hint: str = "") -> PydanticCustomError:
    """Return the error by which a validator of one value refuses it."""
    return _error((Problem((), message, hint),))


def refuse_if_any(problems: Iterable[Problem]) -> None:
    """Raise one error that carries all the problems; do nothing when there are none."""
    found = tuple(problems)
    if found:
        raise _error(found)


def _error(problems: tuple[Problem, ...]) -> PydanticCustomError:
    # The text goes through a placeholder, as braces in it would be taken for placeholders.
    text = "; ".join(problem.message for problem in problems)
    return PydanticCustomError("refused", "{text}", {"text": text, PROBLEMS: problems})
