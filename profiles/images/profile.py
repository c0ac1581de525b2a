"""The kinds of image profiles; the field `root` says which one a file is."""

from pydantic import BaseModel

from profiles.images.debian import DebianImage
from profiles.models import AgentImage

ImageProfile = AgentImage | DebianImage

ROOTS: dict[str, type[BaseModel]] = {"agent": AgentImage, "debian": DebianImage}
"""`agent`: a zip archive with the burn-in agent, which runs from memory. `debian`: a file system with a kernel."""
