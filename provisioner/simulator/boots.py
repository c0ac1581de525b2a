"""Nodes that are reset, come up or do not, and lose their power."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

from provisioner.models.identifiers import NodeName
from provisioner.rollout.intent import Intent
from provisioner.rollout.observation import Facts
from provisioner.rollout.unit import UnitName
from provisioner.simulator.agenda import Agenda
from provisioner.simulator.luck import Luck
from provisioner.simulator.nodes import Nodes
from provisioner.simulator.promises import Promises

STALE_SECONDS = 600.0


@dataclass(eq=False, slots=True)
class Boot:
    """Nodes of one unit that were reset together. One boot is another one than any other."""

    unit: UnitName


class Boots:
    """Who boots, who is broken, who has no power."""

    def __init__(self, agenda: Agenda, nodes: Nodes, luck: Mapping[UnitName, Luck], promises: Promises) -> None:
        """All are up."""
        self._agenda, self._nodes, self._luck, self._promises = agenda, nodes, luck, promises
        self.booting: dict[NodeName, Boot] = {}
        """Down until they come up; those that do not, until the next reset."""
        self.off: set[NodeName] = set()
        self.broken: set[NodeName] = set()
        self.ran_new: set[NodeName] = set()
        """Ever."""
        self.resets: dict[NodeName, int] = {}
        self._by_effect: dict[str, Counter[NodeName]] = {}
        self._numbers: dict[NodeName, int] = {}

    def reset(self, intent: Intent) -> None:
        """Reset nodes that still run what they ran when it was decided. One that is at it is left."""
        boot, effect = Boot(intent.unit), intent.effect
        done = self._by_effect.setdefault(effect, Counter())
        begun = []
        for node, boot_id in zip(intent.nodes, intent.boot_ids, strict=True):
            running = self.booting.get(node)
            up_again = running is None and self._nodes.facts[node].boot_id != boot_id
            at_it = running is not None and node in done
            if node in self.off or up_again or at_it:
                continue
            self.resets[node] = self.resets.get(node, 0) + 1
            if node in done:
                self._promises.one_reset(effect, node, done[node] + 1)
            begun.append(node)
        done.update(begun)
        self._begin(boot, begun)

    def power(self, unit: UnitName, nodes: Iterable[NodeName], *, on: bool) -> None:
        """Take the power of a unit's nodes away, or give it back: then they boot what their active slot names."""
        nodes = tuple(nodes)
        if on:
            self.off.difference_update(nodes)
            self._nodes.set(nodes, managed=True)
            self._begin(Boot(unit), nodes, certain=True)
            return
        self.off.update(nodes)
        for node in nodes:
            self.booting.pop(node, None)
        self._nodes.set(nodes, managed=False, healthy=False)

    def is_up(self, node: NodeName) -> bool:
        """Whether it runs anything."""
        return node not in self.off and node not in self.booting

    def _begin(self, boot: Boot, nodes: Iterable[NodeName], *, certain: bool = False) -> None:
        luck = self._luck[boot.unit]
        groups: dict[float, list[NodeName]] = defaultdict(list)
        for node in nodes:
            self.booting[node] = boot
            seconds = luck.boot()
            while seconds is None and certain:
                seconds = luck.boot()
            if seconds is not None:
                groups[seconds].append(node)
        for seconds, group in groups.items():
            self._agenda.after(seconds, partial(self._come_up, boot, group))

    def _come_up(self, boot: Boot, nodes: Iterable[NodeName]) -> None:
        luck = self._luck[boot.unit]
        groups: dict[tuple[int, bool], list[NodeName]] = defaultdict(list)
        for node in nodes:
            if self.booting.get(node) is not boot:
                continue
            del self.booting[node]
            number = self._numbers[node] = self._numbers.get(node, 0) + 1
            if luck.breaks():
                self.broken.add(node)
            groups[number, luck.is_stale()].append(node)
        for (number, stale), group in groups.items():
            boot_id = f"b{number}"
            self._nodes.alter(group, ("booted", boot_id, stale), partial(_booted, boot_id, stale))
            if stale:
                self._agenda.after(STALE_SECONDS, partial(self._no_longer_stale, boot_id, group))
            self.ran_new.update(node for node in group if self._nodes.facts[node].active == self._nodes.new)

    def _no_longer_stale(self, boot_id: str, nodes: Iterable[NodeName]) -> None:
        same = [node for node in nodes if self.is_up(node) and self._nodes.facts[node].boot_id == boot_id]
        self._nodes.alter(same, "no longer stale", lambda facts: replace(facts, digest=facts.active))


def _booted(boot_id: str, stale: bool, facts: Facts) -> Facts:  # noqa: FBT001  # one of a kind, in a partial
    digest = facts.digest if stale else facts.active
    return replace(facts, boot_id=boot_id, digest=digest, healthy=True)
