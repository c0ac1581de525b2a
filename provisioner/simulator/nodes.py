"""All nodes as they are, what of it is still to be reported, and how many of them serve."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from provisioner.models.identifiers import NodeName
from provisioner.rollout.observation import Facts
from provisioner.rollout.spec import Spec
from provisioner.rollout.unit import Unit

Change = Callable[[Facts], Facts]


class Nodes:
    """Nodes that are alike share one `Facts`: a domain of them changes at the price of one."""

    def __init__(self, spec: Spec, units: Iterable[Unit]) -> None:
        """All serve on the old release, and run jobs."""
        old = spec.from_release
        first = Facts(old, old, "b0", "unchanged", label=old, jobs=1, checked="b0")
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
        self._alike: dict[Facts, Facts] = {}

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
        self.alter(nodes, lambda facts: replace(facts, **values))  # type: ignore[arg-type]  # mypy does not look into the keywords of replace

    def alter(self, nodes: Iterable[NodeName], change: Change) -> None:
        """Change nodes, and count again what serves. `change` sees nothing but the facts: nodes alike stay alike."""
        done: dict[int, tuple[Facts, Facts, int, int, bool]] = {}
        for node in nodes:
            old = self.facts[node]
            found = done.get(id(old))
            if found is None:
                new = change(old)
                new = self._alike.setdefault(new, new)
                done[id(old)] = found = (old, new, *self._counts(old, new))
            _, new, serving, serving_new, ours_changes = found
            if new is old:
                continue
            self.facts[node] = new
            self._changed[node] = None
            self.serving += serving
            self.serving_new += serving_new
            if ours_changes:
                self._count_ours(node, new)

    def _counts(self, old: Facts, new: Facts) -> tuple[int, int, bool]:
        was, now = old.available, new.available
        was_new, now_new = was and old.digest == self.new, now and new.digest == self.new
        return now - was, now_new - was_new, (self.owner in old.cordons) != (self.owner in new.cordons)

    def _count_ours(self, node: NodeName, facts: Facts) -> None:
        cordoned = self.owner in facts.cordons
        if node not in self.excused:
            self.ours += 1 if cordoned else -1
        elif not cordoned:
            self.excused.discard(node)
