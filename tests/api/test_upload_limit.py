"""Firmware packages that BMCs pull keep to the site's limit; other files do not wait."""

from dataclasses import replace

from tests.api.site import Site
from tests.counted_uploads import CountedUploads

CONTENT = bytes(range(256)) * 2048
OTHER = CONTENT[::-1]


def test_packages_are_paced_and_nothing_else(site: Site) -> None:
    """Every byte of a package, also of a range of it; an image passes by."""
    package, image = (site.files.store.put_bytes(content) for content in (CONTENT, OTHER))
    uploads = CountedUploads()
    site.app.state.service = replace(site.app.state.service, uploads=uploads, packages=frozenset({package}))
    assert site.get(f"/v1/artefacts/{image}", role=None).content == OTHER
    assert uploads.taken == 0
    assert site.get(f"/v1/artefacts/{package}", role=None).content == CONTENT
    assert uploads.taken == len(CONTENT)
    part = site.get(f"/v1/artefacts/{package}", role=None, headers={"Range": "bytes=10-19"})
    assert (part.content, uploads.taken) == (CONTENT[10:20], len(CONTENT) + 10)
