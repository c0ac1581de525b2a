"""One step, tried as often as its budget allows, its end as plain JSON that any later replay can read."""

import asyncio
from collections.abc import Awaitable, Callable

from tenacity import AsyncRetrying, retry_if_exception_type, wait_exponential_jitter

from provisioner import errors
from provisioner.capabilities.clock import Clock
from provisioner.capabilities.durable import PATIENT, Recorded, Retry
from provisioner.models.instruction import Instruction, Owner


async def attempt(action: Callable[[], Awaitable[Recorded]], clock: Clock, retry: Retry = PATIENT) -> list[Recorded]:
    """["ok", result], or ["error", class, fields...] for errors of ours; others are raised."""
    time = asyncio.get_running_loop().time
    last = time() + clock.limit(retry.last_try_within)
    try:
        async for trial in AsyncRetrying(
            retry=retry_if_exception_type((errors.BmcUnreachable, errors.AnswerLost)),
            stop=lambda state: state.attempt_number >= retry.attempts or time() >= last,
            wait=wait_exponential_jitter(
                multiplier=clock.wall(retry.first_wait), exp_base=retry.growth, jitter=clock.wall(retry.first_wait)
            ),
            sleep=asyncio.sleep,
            reraise=True,
        ):
            with trial:
                return ["ok", await action()]
    except errors.FirstlightError as error:
        return ["error", *_fields(error)]
    raise AssertionError("tenacity returns or raises")


def result_of(recorded: list[Recorded]) -> Recorded:
    """What a step returned; raises again what it raised."""
    if recorded[0] == "ok":
        return recorded[1]
    raise _error(*(None if field is None else str(field) for field in recorded[1:]))


def _fields(error: errors.FirstlightError) -> list[str | None]:
    if isinstance(error, errors.NeedsPerson):
        told = error.instruction
        return ["NeedsPerson", error.reason, told.owner, told.where, told.what, told.done_when, told.part]
    if isinstance(error, errors.BmcRefused):
        return ["BmcRefused", error.bmc, error.message, str(error.status)]
    if isinstance(error, errors.BmcError):
        return [type(error).__name__, error.bmc, error.message]
    return [type(error).__name__, str(error)]


def _error(kind: str | None, *fields: str | None) -> errors.FirstlightError:
    texts = [field or "" for field in fields]
    if kind == "NeedsPerson":
        reason, owner, where, what, done_when, _ = texts
        return errors.NeedsPerson(reason, Instruction(Owner(owner), where, what, done_when, fields[-1]))
    if kind == "BmcRefused":
        return errors.BmcRefused(texts[0], texts[1], int(texts[2]))
    found: type[errors.FirstlightError] = getattr(errors, kind or "", errors.FirstlightError)
    return found(*texts)
