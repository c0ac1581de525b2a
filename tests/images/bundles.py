"""Where bundles come from, and a site that takes them in."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from images.bundle.admit import Admitted, Site, admit
from images.bundle.contents import IMAGE
from images.bundle.export import export
from images.digest import Digest
from images.manifest import ImageManifest
from images.oci.published import image_entry, images_in, publish_image, publish_statement
from images.references import read_reference
from images.store import ArtefactStore
from images.trust.folder import TrustFolder, shipped_root, signers_in
from images.trust.keys import DEFAULT_PLAN, KeyPlan, Role, keyring_of, make_signers, write_keys
from images.trust.repository import Expiries, Target, add_root, first_root, publish, published
from tests.images.oci_samples import small_image

NOW = datetime.now(UTC).replace(microsecond=0)
LATER = NOW + timedelta(days=30)
GOOD = Expiries(LATER, LATER, LATER)
PLAN = {role: KeyPlan(1, 1) for role in DEFAULT_PLAN}


def make_keys(folder: Path) -> Path:
    """As `firstlight keys init` makes them."""
    signers = make_signers(PLAN)
    keyring = keyring_of(signers, PLAN)
    write_keys(folder, signers, keyring, {"1.root.json": first_root(keyring, LATER, signers[Role.ROOT])})
    return folder


@dataclass(frozen=True)
class Origin:
    """Builds, signs and exports."""

    data_dir: Path
    keys: Path

    @property
    def store(self) -> ArtefactStore:
        return ArtefactStore(self.data_dir / "artefacts")

    @property
    def trust(self) -> TrustFolder:
        return TrustFolder(self.data_dir / "trust")

    def image(self, mark: str, name: str = "small") -> ImageManifest:
        """Built, with a statement about it."""
        made_from = {"profile": "sha256:p", "lock": "sha256:l", "builder": "sha256:b"}
        image = replace(small_image(self.store, mark), name=name, made_from=made_from)
        publish_image(self.store, image)
        publish_statement(self.store, image_entry(self.store, image.digest), b'{"of":"%s"}' % mark.encode())
        return image

    def sign(self, *images: ImageManifest, expiries: Expiries = GOOD) -> int:
        if not (self.trust.metadata / "1.root.json").exists():
            add_root(self.trust.metadata, shipped_root(self.keys))
        sizes = {one.digest: len(one.canonical_json()) for one in images}
        new = {f"{IMAGE}{one.name}": Target(one.digest, sizes[one.digest], {}) for one in images}
        targets = {**published(self.trust.metadata), **new}
        return publish(self.trust.metadata, targets, signers_in(self.keys, *Role), expiries)

    def export(self, path: Path, *names: str, files: bool = True) -> Path:
        known = published(self.trust.metadata)
        chosen = {f"{IMAGE}{name}": known[f"{IMAGE}{name}"] for name in names or ("small",)}
        export(self.store, self.trust, chosen, path, files=files)
        return path


def small_bundle(origin: Origin, path: Path, mark: str = "a") -> Path:
    """One image, signed and exported."""
    origin.sign(origin.image(mark))
    return origin.export(path)


@dataclass(frozen=True)
class Isolated:
    """A site that no network reaches."""

    data_dir: Path
    keys: Path
    own_key: bool = True

    @property
    def site(self) -> Site:
        signers = signers_in(self.keys, Role.TIMESTAMP) if self.own_key else {}
        return Site(self.data_dir, shipped_root(self.keys), signers)

    def take(self, bundle: Path) -> Admitted:
        return admit(bundle, self.site, NOW, LATER)

    def visible(self) -> tuple[set[Digest], Mapping[str, Target], Digest | None]:
        """Images, signed names, and what the name of the image stands for."""
        reference = read_reference(self.data_dir, "small")
        images = {one.digest for one in images_in(self.site.store)}
        return images, published(self.site.trust.metadata), reference.image if reference else None
