"""What runs where now: pools with their drivers, as a person writes them down to ask about the future."""

from datetime import date
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from profiles.compat.asked import UnknownWordsError, understand
from profiles.compat.facts import CompatibilityFacts
from profiles.compat.kinds import MemoryMode, ModuleFlavour, Use
from profiles.compat.setup import Component, Setup
from profiles.fields import Name, Profile, Text
from profiles.findings import Finding, ProfileError
from profiles.problems import Problem, refuse_if_any
from profiles.validation import validate
from profiles.yaml_source import read_yaml


class Pool(Profile):
    """Nodes with one driver."""

    name: Name
    driver: Annotated[Text, Field(description="the whole version: 580.95.05")]
    gpus: Annotated[tuple[Text, ...], Field(min_length=1)]
    cuda: Annotated[tuple[Text, ...], Field(description="toolkits of its programs: 12.9")] = ()
    forward_package: Annotated[Text | None, Field(description="13.0 for cuda-compat-13-0")] = None
    modules: ModuleFlavour | None = None
    platform: Text | None = None
    components: Annotated[dict[Text, Text], Field(description="name: version")] = Field(default_factory=dict)
    memory_mode: MemoryMode | None = None
    kernel: Text | None = None
    uses: tuple[Use, ...] = ()

    def setup(self) -> Setup:
        """The question about this pool."""
        return Setup(
            driver=self.driver,
            gpus=self.gpus,
            cuda=self.cuda,
            forward_package=self.forward_package,
            modules=self.modules,
            platform=self.platform,
            components=tuple(Component(name, version) for name, version in self.components.items()),
            memory_mode=self.memory_mode,
            kernel=self.kernel,
            uses=frozenset(self.uses),
        )


class Fleet(Profile):
    """All pools."""

    pools: Annotated[tuple[Pool, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _pools_are_distinct(self) -> Self:
        names = [pool.name for pool in self.pools]
        refuse_if_any(
            Problem(("pools", index, "name"), f'"{name}" is already pools[{names.index(name)}]', "keep one of them")
            for index, name in enumerate(names)
            if names.index(name) < index
        )
        return self


def load_fleet(path: Path, facts: CompatibilityFacts) -> dict[str, Setup]:
    """Return the pools by name; raise ProfileError with every line that is wrong or names something unknown."""
    located = read_yaml(path)
    fleet = validate(Fleet, located)
    findings: list[Finding] = []
    for index, pool in enumerate(fleet.pools):
        try:
            understand(pool.setup(), facts, date.max)
        except UnknownWordsError as error:
            findings += [located.finding(("pools", index, *one.at), one.message, one.hint) for one in error.problems]
    if findings:
        raise ProfileError(findings)
    return {pool.name: pool.setup() for pool in fleet.pools}
