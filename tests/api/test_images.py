"""Images and the graph of releases over HTTP."""

import json
from dataclasses import replace

from images.manifest import Artefact, Bootable, ImageManifest
from images.oci.published import publish_image
from provisioner.models.identifiers import ReleaseDigest
from tests.api.promoting import made, post
from tests.api.site import N1, Site

BOOT = Bootable(
    kernel_abi="6.1.0-40-amd64",
    command_line=("ro", "iommu=pt"),
    verity_root_hash="0" * 64,
    verity_offset_bytes=4096,
    overlay_mib=512,
    method="ipxe",
    secure_boot=False,
)


def built(site: Site, versions: dict[str, str], boot: Bootable = BOOT) -> ImageManifest:
    """An image of these packages."""
    components = [{"name": name, "version": version} for name, version in versions.items()]
    contents = {"root": repr(versions).encode(), "kernel": b"k", "initrd": b"i"}
    contents["sbom"] = json.dumps({"bomFormat": "CycloneDX", "components": components}).encode()
    store = site.files.store
    files = tuple(Artefact(role, store.put_bytes(one), len(one)) for role, one in contents.items())
    manifest = ImageManifest(name="debian", arch="x86_64", artefacts=files, bootable=boot)
    publish_image(store, manifest)
    return manifest


def test_an_image_tells_its_files_and_what_it_is_made_of(site: Site) -> None:
    image = built(site, {"bash": "5.2"})
    answer = site.get(f"/v1/images/{image.digest}")
    assert answer.headers["Cache-Control"].endswith("immutable")
    assert answer.json()["kernel_abi"] == "6.1.0-40-amd64"
    assert {one["role"] for one in answer.json()["files"]} == {"root", "kernel", "initrd", "sbom"}
    sbom = site.get(f"/v1/images/{image.digest}/sbom")
    assert sbom.headers["Content-Type"] == "application/vnd.cyclonedx+json"
    assert sbom.json()["components"] == [{"name": "bash", "version": "5.2"}]
    assert site.get(f"/v1/images/{image.digest}/statements").json() == {"keys": False, "statements": [], "refused": []}


def test_two_images_tell_what_differs(site: Site) -> None:
    before = built(site, {"bash": "5.2", "old": "1"})
    boot = replace(BOOT, kernel_abi="6.1.0-41-amd64", command_line=("ro", "iommu=on"))
    after = built(site, {"bash": "5.3", "new": "2"}, boot)
    found = site.get(f"/v1/images/{before.digest}/diff/{after.digest}").json()["differences"]
    told = {(one["kind"], one["name"]): (one["before"], one["after"]) for one in found if one["kind"] != "file"}
    assert told == {
        ("package", "bash"): ("5.2", "5.3"),
        ("package", "old"): ("1", None),
        ("package", "new"): (None, "2"),
        ("kernel", "abi"): ("6.1.0-40-amd64", "6.1.0-41-amd64"),
        ("command line", "iommu"): ("pt", "on"),
    }
    assert site.get(f"/v1/images/{before.digest}/diff/{before.digest}").json()["differences"] == []


def test_an_image_that_is_none_and_one_without_an_sbom_are_told_apart(site: Site) -> None:
    nothing = "sha256:" + "0" * 64
    for path in ("", "/sbom", "/statements", f"/diff/{nothing}"):
        assert site.get(f"/v1/images/{nothing}{path}").status_code == 404
    bare = site.get(f"/v1/images/{site.files.image.digest}/sbom")
    assert bare.status_code == 404
    assert "only images that are built of packages have one" in bare.json()["detail"]
    assert site.get("/v1/images/sha256:abc").status_code == 422


def test_the_graph_says_where_a_pool_may_go(site: Site) -> None:
    old, other = made(site), made(site, firmware_downgrade=True)
    only_from_other = made(site, from_releases=[other])
    site.run(site.store.nodes.assign(N1, "hgx-h100-8gpu", ReleaseDigest(old)))
    graph = site.get("/v1/graph?pool=pool").json()
    assert {one["release"]: one["nodes"] for one in graph["releases"]} == {old: 1, other: 0, only_from_other: 0}
    ways = {(way["before"], way["after"]): way["refusals"] for way in graph["ways"]}
    assert ways[old, other] == []
    assert "only, and hgx-h100-2025-1" in ways[old, only_from_other][0]
    assert site.get("/v1/graph?pool=else").status_code == 404
    assert post(site, "/v1/graph?pool=pool").status_code == 405
