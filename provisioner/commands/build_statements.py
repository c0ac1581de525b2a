"""What a build says of its image, signed with the keys that lie on the build host."""

import platform
from datetime import datetime, timedelta
from pathlib import Path

from images.building.request import Built
from images.references import read_reference
from images.statements.of_build import Made, publish_statements, statements_of_build
from images.store import ArtefactStore
from images.trust.errors import TrustError
from images.trust.folder import signers_in
from images.trust.keys import Role
from provisioner.errors import BadInput


def say_of_build(built: Built, data_dir: Path, keys: Path) -> int | None:
    """Sign and store what has not been said yet; how many statements that were. None: no private keys are here.

    When it began is told from the stages that ran; an image that was there already began when it was finished.
    Raises `BadInput`, ArtefactError and ManifestError.
    """
    try:
        signers = signers_in(keys, Role.TARGETS)[Role.TARGETS]
    except TrustError as error:
        raise BadInput(f"{error}; the image was built all the same") from error
    if not signers:
        return None
    store, image = ArtefactStore(data_dir / "artefacts"), built.manifest
    reference = read_reference(data_dir, image.name)
    if reference is None or reference.image != image.digest:
        return 0  # another build of the name has finished meanwhile, and says so itself
    finished = datetime.fromisoformat(reference.built_at)
    made = Made(f"urn:firstlight:builder:{platform.node()}", finished - _took(built), finished)
    sbom, tests = (store.verify(image.artefact(role).digest).read_bytes() for role in ("sbom", "tests"))
    return publish_statements(store, statements_of_build(image, made, sbom, tests), signers)


def _took(built: Built) -> timedelta:
    return timedelta(seconds=round(sum(built.seconds.values())))
