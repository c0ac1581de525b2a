"""The small image, built once, and a place to build it again."""

from pathlib import Path

import pytest

from tests.images.built import SlimImage, build_slim_image
from tests.images.slim import NAME, link_copies


@pytest.fixture(scope="session")
def slim() -> SlimImage:
    return build_slim_image(NAME)


@pytest.fixture
def data_dir(slim: SlimImage, tmp_path: Path) -> Path:
    """A data directory of its own, with packages and results of stages as after a build, and no image."""
    place = tmp_path / "data"
    link_copies(slim.data_dir / "packages", place / "packages")
    link_copies(slim.data_dir / "builds" / "kept", place / "builds" / "kept")
    return place
