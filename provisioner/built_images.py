"""The image of a profile as it lies in the artefact store now."""

from pathlib import Path

from images.build import build_image
from images.digest import Digest
from images.manifest import ImageManifest, ManifestError, parse_manifest
from images.oci.published import keep_image
from images.references import Reference, ReferenceUnreadableError, read_reference
from images.store import ArtefactAbsentError, ArtefactStore
from profiles.images.debian import DebianImage
from profiles.images.lock import profile_digest
from profiles.images.profile import ImageProfile
from provisioner.errors import BadInput, NotFound


def built_image(profile: ImageProfile, data_dir: Path, artefacts: ArtefactStore) -> ImageManifest:
    """The manifest. The agent image is made here and now; a Debian image has to be built before.

    No collection takes it for a day from now on: the caller may point to it meanwhile.
    Raises `BadInput` that says what to run.
    """
    if not isinstance(profile, DebianImage):
        return build_image(profile.name, profile.arch, artefacts)
    reference = reference_of(profile, data_dir)
    try:
        return keep_image(artefacts, reference.image)
    except (ManifestError, ArtefactAbsentError) as error:
        raise BadInput(f"image {profile.name}: files of it are missing ({error}); {_build(profile)}") from error


def reference_of(profile: DebianImage, data_dir: Path) -> Reference:
    """The reference of a Debian image. Raises `BadInput` when there is none, or it is of another profile."""
    try:
        reference = read_reference(data_dir, profile.name)
    except ReferenceUnreadableError as error:
        raise BadInput(str(error)) from error
    if reference is None:
        raise BadInput(f"image {profile.name} has not been built; {_build(profile)}")
    if reference.profile_digest != profile_digest(profile):
        raise BadInput(f"image {profile.name} was built from another version of its profile; {_build(profile)}")
    return reference


def manifest_in(artefacts: ArtefactStore, image: Digest) -> ImageManifest:
    """The manifest by the image's digest. Raises `NotFound`."""
    try:
        return parse_manifest(artefacts.path(image).read_bytes())
    except ArtefactAbsentError as error:
        raise NotFound(f"image {image} is not in the artefact store") from error
    except ManifestError as error:
        raise NotFound(f"{image} in the artefact store is no image: {error}") from error


def _build(profile: DebianImage) -> str:
    return f"run: firstlight image build {profile.name}"
