"""burning_in -> ready: every check of the plan, passed on this boot of this image."""

from datetime import datetime, timedelta

from provisioner.burnin.judge import Judgement, Verdict, judge
from provisioner.burnin.pace import patience
from provisioner.capabilities.durable import Durable
from provisioner.capabilities.world import World
from provisioner.errors import BmcUnreachable, NeedsPerson
from provisioner.models.burn_in import BurnInRun
from provisioner.models.identifiers import NodeName, RunKey
from provisioner.models.instruction import Instruction, Owner
from provisioner.models.lifecycle import State
from provisioner.operations.outcome import Outcome
from provisioner.operations.reach import bmc_of, release_of, tell
from provisioner.operations.ready import BOOTS, observe_ready, too_many_returns

RESULT = "burn-in"
"""The topic that is signalled when a result comes in."""

_LOOK_EVERY = timedelta(minutes=5)


async def burn_in(durable: Durable, world: World, key: RunKey) -> Outcome:
    """Wait for the evidence, judge it, then look at the device once more: ready is what was seen, not what was done."""
    await durable.step("open_run", open_run, world, key)
    while True:
        verdict, *facts = await durable.step("judge_burn_in", judge_burn_in, world, key)
        if verdict == Verdict.PASSED:
            to, reason = await durable.step("observe_ready", observe_ready, world, key)
            return Outcome(State(to), reason)
        if verdict == Verdict.SILENT:
            reason = await durable.step("look_at_silent_node", look_at_silent_node, world, key, facts)
            return Outcome(State.BOOTING, reason)
        await durable.wait_signal(RESULT, _LOOK_EVERY)


async def open_run(world: World, key: RunKey) -> None:
    """The agent finds its plan here as soon as the run is open."""
    release = await release_of(world, key.node)
    run = BurnInRun(key.id, key.node, key.attempt, release.burn_in.name, world.clock.now())
    await world.burn_ins.open(run)


async def judge_burn_in(world: World, key: RunKey) -> list[str]:
    """[verdict, *facts]. Raises `NeedsPerson` when a check failed."""
    release = await release_of(world, key.node)
    judgement = judge(
        release.burn_in,
        await world.burn_ins.results(key.id),
        await _last_sign(world, key),
        world.clock.now(),
        patience(release.burn_in.heartbeat),
    )
    await tell(world, key, "burning in", judgement.percent)
    if judgement.verdict is Verdict.FAILED:
        raise await _failed(world, key.node, judgement)
    return [str(judgement.verdict), *judgement.facts]


async def look_at_silent_node(world: World, key: RunKey, facts: list[str]) -> str:
    """A dead agent is not a dead node: ask the BMC before drawing conclusions, and boot again, but not for ever."""
    power = "its BMC does not answer either"
    try:
        async with bmc_of(world, key.node) as bmc:
            power = f"its BMC says that power is {await bmc.power()}"
    except BmcUnreachable:
        pass  # booting will find out, and hold it if the BMC stays away
    seen = f"{'; '.join(facts)}; {power}"
    if await too_many_returns(world, key):
        raise _keeps_dying(await _place(world, key.node), key.node, seen)
    return seen


async def _last_sign(world: World, key: RunKey) -> datetime:
    run = await world.burn_ins.latest(key.node)
    beat = await world.burn_ins.heartbeat(key.node)
    signs = [run.opened_at if run else world.clock.now(), world.awake.since()]
    return max([*signs, beat.at] if beat else signs)


async def _place(world: World, name: NodeName) -> str:
    return (await world.nodes.get(name)).place


async def _failed(world: World, name: NodeName, judgement: Judgement) -> NeedsPerson:
    return NeedsPerson(
        "; ".join(judgement.facts),
        Instruction(
            owner=Owner.TECHNICIAN,
            where=await _place(world, name),
            what=f"look at the evidence (firstlight node show {name}), replace the part that it names, "
            f"then: firstlight node release {name}",
            part="as the evidence names it: processor, memory module or drive",
            done_when="the whole burn-in passes again, from its start",
        ),
    )


def _keeps_dying(place: str, name: NodeName, seen: str) -> NeedsPerson:
    return NeedsPerson(
        f"its system went away {BOOTS} times during burn-in; last: {seen}",
        Instruction(
            owner=Owner.TECHNICIAN,
            where=place,
            what=f"check both power feeds and the BMC's event log for a fault, then: firstlight node release {name}",
            done_when="it stays up through the whole burn-in",
        ),
    )
