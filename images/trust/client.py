"""Which digests does a repository name? Only what its keys have signed, and never an older answer than before."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from tuf.api.exceptions import DownloadError, DownloadHTTPError, ExpiredMetadataError, RepositoryError
from tuf.api.metadata import Metadata, Targets
from tuf.ngclient import FetcherInterface, Updater, UpdaterConfig

from images.trust.errors import MetadataExpiredError, TrustError
from images.trust.repository import Target, targets_of


class FolderFetcher(FetcherInterface):
    """Metadata from a folder: the site's own, or one that came on a stick."""

    def _fetch(self, url: str) -> Iterator[bytes]:
        path = Path(unquote(urlsplit(url).path))
        try:
            return iter([path.read_bytes()])
        except FileNotFoundError as error:
            raise DownloadHTTPError(f"{path} is not there", 404) from error


def trusted_targets(source: Path, cache: Path, shipped_root: bytes) -> Mapping[str, Target]:
    """What each name stands for now. Blocks; one process at a time on a `cache`.

    Everything starts from `shipped_root`. What `cache` holds from the last time says which versions are too old, even
    when it has expired itself; it is never an answer. By the clock of this machine. Raises `MetadataExpiredError` for
    metadata that is only too old, and `TrustError`.
    """
    cache.mkdir(parents=True, exist_ok=True)
    try:
        updater = Updater(
            str(cache),
            source.absolute().as_uri(),
            fetcher=FolderFetcher(),
            config=UpdaterConfig(),
            bootstrap=shipped_root,
        )
        updater.refresh()
        verified = Metadata[Targets].from_file(str(cache / "targets.json")).signed
    except ExpiredMetadataError as error:
        raise MetadataExpiredError(f"{source}: {error}: sign a new one with the keys of that role") from error
    except (RepositoryError, DownloadError, OSError) as error:
        raise TrustError(f"{source}: is not trusted: {error}") from error
    return targets_of(verified)
