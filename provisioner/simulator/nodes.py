"""All nodes as they are, what of it is still to be reported, and how many of them serve."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from provisioner.models.identifiers import NodeName
from provisioner.rollout.observation import Facts
from provisioner.rollout.spec import Spec
from provisioner.rollout.unit import Unit

Change = Callable[[Facts], Facts]


@dataclass(frozen=True, slots=True)
class _Made:
    """What a change makes of facts, and of the counts for each node that has them."""

    facts: Facts
    serving: int
    serving_new: int
    ours: int


class Nodes:
    """Nodes that are alike share one `Facts`: a domain of them changes at the price of one."""

    def __init__(self, spec: Spec, units: Iterable[Unit]) -> None:
        """All serve on the old release, and run jobs."""
        old = spec.from_release
        self._alike: dict[Facts, Facts] = {}
        """Every `Facts` that there was: kept, so that its `id` stays its own."""
        self._made: dict[tuple[int, Hashable], _Made] = {}
        first = Facts(old, old, "b0", "unchanged", label=old, jobs=1, checked="b0")
        self._alike[first] = first
        self.owner = spec.name
        self.new = spec.to_release
        self.facts: dict[NodeName, Facts] = {node: first for unit in units for node in unit.nodes}
        self.serving = len(self.facts)
        """Nodes that take jobs."""
        self.serving_new = 0
        self.ours = 0
        """Nodes that are out because of the rollout."""
        self.excused: set[NodeName] = set()
        """Out because of the rollout, and not counted as such: they were out when their unit was taken."""
        self.silent: set[NodeName] = set()
        """Nothing is heard of them."""
        self._changed: dict[NodeName, None] = dict.fromkeys(self.facts)

    @property
    def has_news(self) -> bool:
        """Whether something is to be reported, or would be if it were heard."""
        return bool(self._changed)

    def report(self, *, whole: bool = False) -> Mapping[NodeName, Facts]:
        """What has changed since the last report; `whole`: everything. What is silent is kept for later."""
        nodes = self.facts if whole else self._changed
        if not self.silent:
            changed = {node: self.facts[node] for node in nodes}
            self._changed = {}
            return changed
        changed = {node: self.facts[node] for node in nodes if node not in self.silent}
        self._changed = {node: None for node in self._changed if node in self.silent}
        return changed

    def silence(self, nodes: Iterable[NodeName], *, silent: bool) -> None:
        """Whether they are heard."""
        (self.silent.update if silent else self.silent.difference_update)(nodes)

    def set(self, nodes: Iterable[NodeName], **values: object) -> None:
        """Put values in the facts of nodes."""
        key = tuple(values.items())
        self.alter(nodes, key, lambda facts: replace(facts, **values))  # type: ignore[arg-type]  # mypy does not look into the keywords of replace

    def alter(self, nodes: Iterable[NodeName], key: Hashable, change: Change) -> None:
        """Change nodes, and count again what serves. The same `key` is the same change: made once of the same facts."""
        groups: dict[int, list[NodeName]] = {}
        for node in nodes:
            groups.setdefault(id(self.facts[node]), []).append(node)
        for old, group in groups.items():
            made = self._made.get((old, key))
            if made is None:
                made = self._made[old, key] = self._make(self.facts[group[0]], change)
            if id(made.facts) != old:
                self._put(group, made)

    def _make(self, old: Facts, change: Change) -> "_Made":
        new = change(old)
        new = self._alike.setdefault(new, new)
        was, now = old.available, new.available
        return _Made(
            facts=new,
            serving=now - was,
            serving_new=(now and new.digest == self.new) - (was and old.digest == self.new),
            ours=(self.owner in new.cordons) - (self.owner in old.cordons),
        )

    def _put(self, nodes: Sequence[NodeName], made: "_Made") -> None:
        self.facts.update(dict.fromkeys(nodes, made.facts))
        self._changed.update(dict.fromkeys(nodes))
        self.serving += made.serving * len(nodes)
        self.serving_new += made.serving_new * len(nodes)
        if not made.ours:
            return
        self.ours += made.ours * (len(nodes) - sum(node in self.excused for node in nodes))
        if made.ours < 0:
            self.excused.difference_update(nodes)
