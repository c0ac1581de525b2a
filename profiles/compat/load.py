"""The facts that come with the product, read once."""

from functools import cache
from pathlib import Path

from profiles.compat.facts import CompatibilityFacts
from profiles.validation import validate
from profiles.yaml_source import read_yaml

SHIPPED = Path(__file__).parent / "nvidia.yaml"


@cache
def load_facts(path: Path = SHIPPED) -> CompatibilityFacts:
    """Read the facts; raise ProfileError with everything that is wrong."""
    return validate(CompatibilityFacts, read_yaml(path))
