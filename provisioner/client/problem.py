"""What the API says when it refuses (RFC 9457), as an exception."""

from http import HTTPStatus

from pydantic import BaseModel, Field

from provisioner.errors import FirstlightError, NotFound

STILL_RUNNING = "urn:firstlight:problem:request-still-running"


class Wrong(BaseModel):
    """One thing that is wrong with the request: in the part `part`, at `pointer` (RFC 6901)."""

    detail: str
    part: str = Field("body", alias="in")
    pointer: str = "#"


class ToDo(BaseModel):
    """What one person does first."""

    owner: str
    where: str
    what: str


class Problem(BaseModel):
    """A problem document. A newer service may say more."""

    type: str = "about:blank"
    detail: str
    instance: str = ""
    errors: list[Wrong] = []
    instruction: ToDo | None = None


class ProblemError(FirstlightError):
    """The service said no; the text is one line for a person."""

    def __init__(self, status: int, problem: Problem) -> None:
        """`status` is the HTTP status."""
        super().__init__(_told(status, problem))
        self.status = status
        self.problem = problem

    @property
    def pointers(self) -> tuple[str, ...]:
        """Where the request is wrong, in the order of the document."""
        return tuple(one.pointer for one in self.problem.errors)


class NothingThereError(ProblemError, NotFound):
    """404."""


def problem_error(status: int, content: bytes) -> ProblemError:
    """The exception for an answer of 400 or more. Raises `ValidationError` where it is no problem document."""
    problem = Problem.model_validate_json(content)
    kind = NothingThereError if status == HTTPStatus.NOT_FOUND else ProblemError
    return kind(status, problem)


def _told(status: int, problem: Problem) -> str:
    """One line, with what a person would have to do first."""
    text = problem.detail
    if status == HTTPStatus.UNAUTHORIZED:
        text = "the token is not accepted: set FIRSTLIGHT_TOKEN, or name the service's --data-dir"
    others = [f"{one.pointer}: {one.detail}" for one in problem.errors[1:]]
    text = "; ".join((text, *others))
    if problem.instruction is not None:
        text += f"; {problem.instruction.owner}, {problem.instruction.where}: {problem.instruction.what}"
    return f"{text} ({problem.instance})" if status >= HTTPStatus.INTERNAL_SERVER_ERROR else text
