"""A person who is asked when a gate cannot tell. Pure."""

from provisioner.rollout.people import decide
from provisioner.rollout.state import GateKey, PausedBy, Rollout, UnitState, Verdict
from provisioner.simulator.scenario import Inconclusive

THINKS_SECONDS = 1800.0


def is_asked(rollout: Rollout) -> bool:
    """Whether it waits for a decision that nobody has taken yet."""
    wave = rollout.open_wave
    if rollout.paused_by is not PausedBy.GATE or wave is None or wave.verdict is not Verdict.INCONCLUSIVE:
        return False
    return GateKey(rollout.generation, wave.number) not in rollout.decisions


def answered(rollout: Rollout, policy: Inconclusive) -> Rollout:
    """The rollout with the answer; as it was where it no longer asks."""
    wave = rollout.open_wave
    if wave is None or not is_asked(rollout):
        return rollout
    tasks = (rollout.tasks.get(name) for name in rollout.plan.waves[wave.number])
    runs = any(task is not None and task.state is UnitState.ON_NEW for task in tasks)
    go_on = policy is Inconclusive.GO_ON and runs
    verdict, why = (Verdict.PASS, "the next wave tells more") if go_on else (Verdict.FAIL, "better safe than sorry")
    return decide(rollout, GateKey(rollout.generation, wave.number), verdict, "the operator", why)
