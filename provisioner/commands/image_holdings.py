"""All that holds files of a data directory: pins, names, boot programs, profiles, and pointers of the database."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from images.digest import Digest, DigestError, parse_digest
from images.oci.holdings import Holdings, Pins, holdings_in, merged
from images.oci.pins import Pin, PinKind
from images.oci.published import images_in
from images.references import read_reference
from images.store import ArtefactStore
from profiles.catalog import Catalog
from profiles.findings import ProfileError, did_you_mean
from profiles.loader import SHIPPED, load_catalog
from provisioner.commands.image_supplies import data_dir_of, site_here
from provisioner.errors import BadInput
from provisioner.settings import Environment, Site

_ADMIN_TOKEN = "admin-token"
_DATABASE = "firstlight.db"


@dataclass(frozen=True, slots=True)
class Shelf:
    """The store of a site, and who says what has to stay in it. `site`: None where no site.yaml says so."""

    data_dir: Path
    site: Site | None

    @property
    def store(self) -> ArtefactStore:
        """Files by digest."""
        return ArtefactStore(self.data_dir / "artefacts")

    def holdings(self) -> Holdings:
        """All that there are. Raises `BadInput` and `FirstlightError` where one of them cannot be seen."""
        # Here, because a build does without the half second that SQL and TUF take.
        from provisioner.commands.signed_names import signed_pins
        from provisioner.store.image_pins import database_pins

        files = holdings_in(self.data_dir, self.store)
        catalog = catalog_of(self.site)
        held = (
            files.pins,
            signed_pins(self.data_dir),
            _firmware_of(catalog),
            database_pins(self._database(), datetime.now(UTC)),
        )
        return Holdings(merged(held), files.programs)

    def refuse_blind(self) -> None:
        """Raises `BadInput` where it is not certain that everything that holds files can be seen."""
        if self.site is None and (self.data_dir / _ADMIN_TOKEN).exists():
            raise BadInput(
                f"{self.data_dir}: a service has run here; name its site.yaml with --config, so that its database and "
                "its profiles say what must be kept"
            )
        if self.site is not None and self.site.data_dir.resolve() != self.data_dir.resolve():
            raise BadInput(f"--data-dir {self.data_dir}: site.yaml is of {self.site.data_dir}; leave --data-dir out")

    def digest(self, text: str) -> Digest:
        """An image by its digest, by the first digits of it, or by name: the newest one. Raises `BadInput`."""
        images = images_in(self.store)
        digits = text.removeprefix("sha256:")
        found = {one.digest for one in images if len(digits) >= 8 and one.digest.startswith(f"sha256:{digits}")}
        if len(found) > 1:
            raise BadInput(f"{text}: {len(found)} images begin so; write more of the digest")
        if not found and text in {one.name for one in images}:
            reference = read_reference(self.data_dir, text)
            found = {reference.image} if reference else {one.digest for one in images if one.name == text}
        if len(found) == 1:
            return found.pop()
        try:
            return parse_digest(text)
        except DigestError as error:
            known = [one.name for one in images]
            hint = f"; {did_you_mean(text, known)}" if known else ""
            raise BadInput(f"{text}: no image in {self.store.root} has this name or digest{hint}") from error

    def _database(self) -> str:
        if self.site is not None:
            return self.site.database
        return Environment().database_url or f"sqlite:///{self.data_dir / _DATABASE}"


def shelf_of(config: Path | None, data_dir: Path | None) -> Shelf:
    """The store of the site that was named, or of this folder's, or below `data_dir`."""
    site = site_here(config)
    return Shelf(data_dir or data_dir_of(site), site)


def keys_folder(keys: Path | None, shelf: Shelf) -> Path:
    """The folder of keys that was named, or the site's. Raises `BadInput`."""
    if keys is not None:
        return keys
    if shelf.site is None or shelf.site.trust is None:
        raise BadInput("no --keys, and site.yaml has no trust.keys: name the folder of `firstlight keys init`")
    return shelf.site.trust.keys


def catalog_of(site: Site | None) -> Catalog:
    """The profiles of the site, or the shipped ones. Raises `BadInput`."""
    try:
        return load_catalog((site and site.profiles) or SHIPPED)
    except ProfileError as error:
        raise BadInput(str(error)) from error


def _firmware_of(catalog: Catalog) -> Pins:
    found: list[Pins] = []
    for bundle in catalog.firmware_bundles.values():
        held = Pin(PinKind.FIRMWARE, bundle.name, "the profiles name it")
        for component in bundle.components:
            files = (component.artefact, *(release.artefact for release in component.releases))
            found += [{parse_digest(f"sha256:{one.sha256}"): (held,)} for one in files]
    return merged(found)
