"""Releases to promote."""

from functools import cache
from pathlib import Path

from profiles.catalog import Catalog
from profiles.loader import load_catalog
from profiles.release import Release

PROFILES = Path(__file__).parents[2] / "profiles"
H100 = "hgx-h100-8gpu"


@cache
def shipped() -> Catalog:
    """The profiles that come with the product."""
    return load_catalog(PROFILES)


def a_release(image: str = "a", name: str = "hgx-h100-2026-1") -> Release:
    """A shipped release whose image has a digest of this one hex digit."""
    return shipped().resolve_release(name, "sha256:" + image * 64)
