"""Rollouts: a pool on its way to a release, wave by wave, and back by itself where the evidence says so."""

from collections.abc import Coroutine
from datetime import timedelta
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from api.auth import Reader, RequestId, RolloutOperator, Site, Stopper
from api.cursors import not_ours, read_cursor, read_number, write_cursor
from api.fields import NODE_NAME, Body, Line, Word
from api.once import Once, OnceRequired, Try
from api.problems import documented
from api.views.rollout_plan import PlanView
from api.views.rollouts import (
    RejectedList,
    RejectedView,
    RolloutDetail,
    RolloutPage,
    RolloutView,
    UnitPage,
    UnitView,
    in_plan_order,
)
from provisioner.capabilities.service import Service
from provisioner.errors import NotFound
from provisioner.models.identifiers import ReleaseDigest
from provisioner.pool_settings import FloorText
from provisioner.rollout.intent import Action
from provisioner.rollout.kept import Kept
from provisioner.rollout.spec import Metric, ReturnScope, Soak
from provisioner.rollout.state import RolloutState, Verdict
from provisioner.rollout.unit import DomainKind
from provisioner.services.rollout_orders import Order
from provisioner.services.rollouts import RolloutDesk

router = APIRouter(prefix="/v1/rollouts", tags=["rollouts"])

_Name = Annotated[str, Field(min_length=1, max_length=100, pattern=NODE_NAME)]
_NameInPath = Annotated[str, Path(max_length=100, pattern=NODE_NAME)]
_Seconds = Annotated[float, Field(ge=0, le=10**8)]


class RolloutRequest(Body):
    """Which pool, to which release. What is left out is as the pool says."""

    name: Annotated[_Name, Field(description="its own for ever; the same order under it again is the same rollout")]
    pool: Word
    release: Annotated[Word, Field(description="the name of a release profile, or a digest")]
    floor: Annotated[FloorText | None, Field(description="what stays in service: `90%`, or a number of nodes")] = None
    soak_seconds: _Seconds | None = None
    soak_node_hours: Annotated[float, Field(ge=0, le=10**7)] | None = None
    canaries: Annotated[int, Field(ge=1, le=1000)] | None = None
    caps: dict[DomainKind, Annotated[int, Field(ge=1, le=10_000)]] | None = None
    drain_seconds: _Seconds | None = None
    deadline_seconds: Annotated[dict[Action, _Seconds], Field(default_factory=dict)]
    tries: Annotated[int, Field(ge=1, le=10)] = 3
    may_run_short: Annotated[int, Field(ge=0, le=1000)] = 0
    auto_return: bool = True
    return_scope: ReturnScope = ReturnScope.WAVE
    retention_seconds: _Seconds = 7 * 86400.0
    silence_seconds: Annotated[float, Field(ge=1, le=10**7)] = 600.0
    metrics: Annotated[tuple[Metric, ...], Field(max_length=10)] = ()
    control_required: bool = True
    ignore_windows: Annotated[bool, Field(description="the emergency lane: every other rule holds")] = False
    supersedes: _Name | None = None
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0

    def order(self) -> Order:
        """For the service."""
        return Order(
            name=self.name,
            pool=self.pool,
            release=self.release,
            floor=self.floor,
            soak=None if self.soak_seconds is None else Soak(_time(self.soak_seconds), self.soak_node_hours or 0.0),
            canaries=self.canaries,
            caps=self.caps,
            drain_deadline=None if self.drain_seconds is None else _time(self.drain_seconds),
            deadlines={action: _time(seconds) for action, seconds in self.deadline_seconds.items()},
            tries=self.tries,
            may_run_short=self.may_run_short,
            auto_return=self.auto_return,
            return_scope=self.return_scope,
            retention=_time(self.retention_seconds),
            silence=_time(self.silence_seconds),
            metrics=self.metrics,
            control_required=self.control_required,
            ignore_windows=self.ignore_windows,
            supersedes=self.supersedes,
            seed=self.seed,
        )


def _time(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)


class ApprovalRequest(Body):
    """`irreversible`: for firmware that cannot go back; another person than who approved the rollout."""

    irreversible: bool = False


class ReturnRequest(Body):
    """How much goes back: the open wave, or all."""

    scope: ReturnScope = ReturnScope.WAVE


class DecisionRequest(Body):
    """What a person decides about an inconclusive gate: used once."""

    wave: Annotated[int, Field(ge=0, le=100)]
    verdict: Annotated[Verdict, Field(description="pass or fail")]
    why: Line


class PardonRequest(Body):
    """A release, by its digest, and the hardware class that it came back from."""

    release: Word
    hardware_class: Word


class RolloutQuery(Body):
    """Which rollouts, and which page of them."""

    state: RolloutState | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    cursor: Annotated[str | None, Field(max_length=1000, description="`next` of the page before")] = None


class UnitQuery(Body):
    """Which page of the units."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    cursor: Annotated[str | None, Field(max_length=1000, description="`next` of the page before")] = None


_CHANGE = documented(400, 401, 403, 404, 409, 413, 422)
_VERB = documented(400, 401, 403, 404, 409, 422)


@router.post(":plan", responses=_CHANGE)
async def plan(service: Site, _: Reader, body: RolloutRequest) -> PlanView:
    """What would happen: waves, floor, what a canary of this size can see. Nothing is kept."""
    return PlanView.of(await desk(service).plan(body.order()))


@router.post("", status_code=201, responses={200: {"model": RolloutDetail}, **_CHANGE})
async def create(
    service: Site,
    holder: RolloutOperator,
    _: OnceRequired,
    request: RequestId,
    response: Response,
    body: RolloutRequest,
) -> RolloutDetail:
    """Plan one and keep the plan. The same order under the same name again is the same rollout: 200."""
    kept, new = await desk(service).create(body.order(), holder.name, request=request)
    response.status_code = 201 if new else 200
    response.headers["Location"] = f"/v1/rollouts/{kept.name}"
    return await _detail(service, kept)


@router.get("", responses=documented(401, 403, 422))
async def list_rollouts(service: Site, _: Reader, query: Annotated[RolloutQuery, Query()]) -> RolloutPage:
    """Newest first, page by page."""
    after = None if query.cursor is None else read_cursor(query.cursor)
    try:
        found = await service.rollouts.page(query.state, after, query.limit + 1)
    except NotFound as error:
        raise not_ours() from error
    page = found[: query.limit]
    more = write_cursor(page[-1].name) if len(found) > query.limit else None
    return RolloutPage(rollouts=[RolloutView.of(one) for one in page], next=more)


@router.get(":rejected", responses=documented(401, 403))
async def rejected(service: Site, _: Reader) -> RejectedList:
    """Releases that came back: automation does not offer them to that hardware class again."""
    return RejectedList(rejected=[RejectedView.of(one) for one in await service.rollouts.rejected()])


@router.post(":pardon", responses=_CHANGE)
async def pardon(
    service: Site, holder: RolloutOperator, _: OnceRequired, request: RequestId, body: PardonRequest
) -> RejectedList:
    """A person has found that the release was not at fault: it may be offered to that hardware class again."""
    await desk(service).pardon(ReleaseDigest(body.release), body.hardware_class, holder.name, request=request)
    return await rejected(service, holder)


@router.get("/{name}", responses=documented(401, 403, 404, 422))
async def show(service: Site, _: Reader, name: _NameInPath) -> RolloutDetail:
    """Everything about one, and what a person does next."""
    return await _detail(service, await service.rollouts.get(name))


@router.get("/{name}/units", responses=documented(401, 403, 404, 422))
async def units(service: Site, _: Reader, name: _NameInPath, query: Annotated[UnitQuery, Query()]) -> UnitPage:
    """Its units, in the order of the plan."""
    rollout = (await service.rollouts.get(name)).rollout
    start = read_number(query.cursor)
    found = list(islice(in_plan_order(rollout), start, start + query.limit + 1))
    more = write_cursor(str(start + query.limit)) if len(found) > query.limit else None
    return UnitPage(units=[UnitView.of(rollout.plan, one) for one in found[: query.limit]], next=more)


@router.post("/{name}:approve", responses=_CHANGE)
async def approve(
    service: Site,
    holder: RolloutOperator,
    once: OnceRequired,
    request: RequestId,
    name: _NameInPath,
    body: ApprovalRequest,
) -> RolloutDetail:
    """A person answers for it."""
    at = desk(service)
    asked = at.approve_irreversible if body.irreversible else at.approve
    return await _changed(service, once, asked(name, holder.name, request=request))


@router.post("/{name}:start", responses=_VERB)
async def start(
    service: Site, holder: RolloutOperator, once: OnceRequired, request: RequestId, name: _NameInPath
) -> RolloutDetail:
    """Go."""
    return await _changed(service, once, desk(service).start(name, holder.name, request=request))


@router.post("/{name}:pause", responses=_VERB)
async def pause(service: Site, holder: Stopper, once: Once, request: RequestId, name: _NameInPath) -> RolloutDetail:
    """Take no further unit; what is in hand goes on."""
    return await _changed(service, once, desk(service).pause(name, holder.name, request=request))


@router.post("/{name}:resume", responses=_VERB)
async def resume(
    service: Site, holder: RolloutOperator, once: OnceRequired, request: RequestId, name: _NameInPath
) -> RolloutDetail:
    """End a person's pause."""
    return await _changed(service, once, desk(service).resume(name, holder.name, request=request))


@router.post("/{name}:abort", responses=_VERB)
async def abort(service: Site, holder: Stopper, once: Once, request: RequestId, name: _NameInPath) -> RolloutDetail:
    """Freeze: units in hand finish, none is taken, nothing moves back."""
    return await _changed(service, once, desk(service).abort(name, holder.name, request=request))


@router.post("/{name}:return", responses=_CHANGE)
async def send_back(
    service: Site,
    holder: RolloutOperator,
    once: OnceRequired,
    request: RequestId,
    name: _NameInPath,
    body: ReturnRequest,
) -> RolloutDetail:
    """Bring units back to the old release, without soak or statistics."""
    return await _changed(service, once, desk(service).send_back(name, holder.name, body.scope, request=request))


@router.post("/{name}:decide", responses=_CHANGE)
async def decide(
    service: Site,
    holder: RolloutOperator,
    once: OnceRequired,
    request: RequestId,
    name: _NameInPath,
    body: DecisionRequest,
) -> RolloutDetail:
    """Answer an inconclusive gate: recorded once, used once."""
    asked = desk(service).decide(name, body.wave, body.verdict, holder.name, body.why, request=request)
    return await _changed(service, once, asked)


def desk(service: Service) -> RolloutDesk:
    """Where people change rollouts."""
    return RolloutDesk(service.world, service.rollouts, service.pools)


async def _changed(service: Service, once: Try, asked: Coroutine[Any, Any, Kept]) -> RolloutDetail:
    if once.done:
        asked.close()
        return await _detail(service, await service.rollouts.get(once.done))
    return await _detail(service, await asked)


async def _detail(service: Service, kept: Kept) -> RolloutDetail:
    return RolloutDetail.assemble(kept, await service.rollouts.history(kept.name))
