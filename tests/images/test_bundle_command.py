"""`firstlight bundle sign|export|import` as people see them: from the site that builds to an isolated one."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from images.build import build_image
from images.bundle.contents import IMAGE
from images.bundle.export import export
from images.digest import digest_of
from images.oci.published import image_entry, publish_release
from images.store import ArtefactStore
from images.trust.folder import signers_in
from images.trust.keys import Role
from images.trust.repository import Target, publish, published, renew_timestamp
from profiles.loader import SHIPPED, load_catalog
from provisioner.commands.bundle import bundle_app
from provisioner.commands.image import image_app
from provisioner.commands.keys import keys_app
from provisioner.errors import BadInput, FirstlightError
from tests.images.bundles import GOOD, Isolated, Origin, make_keys
from tests.images.oci_samples import is_whole

NAME = "agent-x86-64"


def run(*words: object, app: object = bundle_app) -> str:
    """What it prints. Raises what it raises."""
    result = CliRunner().invoke(app, [str(one) for one in words])  # type: ignore[arg-type]  # one of our groups
    if result.exception is not None:
        raise result.exception
    return result.stdout


@pytest.fixture(autouse=True)
def keys(tmp_path: Path) -> Path:
    run("init", tmp_path / "keys", "--root", "1-of-1", "--targets", "2-of-2", app=keys_app)
    return tmp_path / "keys"


def test_from_the_build_to_an_isolated_site(tmp_path: Path, keys: Path) -> None:
    here, there = ("--data-dir", tmp_path / "here"), ("--data-dir", tmp_path / "there")
    image = build_image(NAME, "x86_64", ArtefactStore(tmp_path / "here" / "artefacts"))
    signed = run("sign", "--image", NAME, "--keys", keys, *here)
    assert f"{IMAGE}{NAME} {image.digest}\nsigned, version 1; good until" in signed
    bundle = tmp_path / "site.bundle"
    assert f"{bundle}: image/{NAME}; 3 files" in run("export", bundle, "--image", NAME, *here)
    with pytest.raises(BadInput, match="is there already"):
        run("export", bundle, "--image", NAME, *here)
    shipped = tmp_path / "shipped"
    (shipped / "timestamp").mkdir(parents=True)
    for name in ("1.root.json", "public-keys.json", "timestamp/timestamp-1.key"):
        (shipped / name).write_bytes((keys / name).read_bytes())
    taken = run("import", bundle, "--keys", shipped, *there)
    assert f"{IMAGE}{NAME} {image.digest}\nthis site says, with its own key, that it holds until" in taken
    assert is_whole(ArtefactStore(tmp_path / "there" / "artefacts"), image)
    assert f"release image/{NAME}" in run("list", "--stored", *there, app=image_app)
    assert "0 images" in run("gc", "--grace", "0", *there, app=image_app), "what is signed is held"
    assert "version 2" in run("sign", "--image", f"{NAME}={image.digest}", "--keys", keys, *here), "a return"


def test_the_site_names_its_keys(tmp_path: Path) -> None:
    build_image(NAME, "x86_64", ArtefactStore(tmp_path / "data" / "artefacts"))
    config = tmp_path / "site.yaml"
    config.write_text("name: lab\ndata_dir: data\ntrust: {keys: keys}\n")
    assert "signed, version 1" in run("sign", "--image", NAME, "--config", config)
    with pytest.raises(BadInput, match=r"no --keys, and site\.yaml has no trust\.keys"):
        run("sign", "--image", NAME, "--data-dir", tmp_path / "data")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("sign", "--image", "agent-x86"), "no image in .* has this name or digest.*agent-x86-64"),
        (("sign",), "no --image and no --release: name what is to be signed"),
        (("sign", "--release", "hgx-h100-2025-1"), "firmware package .*\n.*firmware_dir"),
        (("sign", "--release", "hgx"), "there is no release hgx"),
        (("export", "x.bundle", "--image", NAME), f"image/{NAME}: nobody has signed it; signed are: none"),
    ],
)
def test_what_cannot_be_is_told(tmp_path: Path, keys: Path, words: tuple[str, ...], told: str) -> None:
    build_image(NAME, "x86_64", ArtefactStore(tmp_path / "data" / "artefacts"))
    more = () if words[0] == "export" else ("--keys", keys)
    with pytest.raises(BadInput, match=f"(?s){told}"):
        run(*words, *more, "--data-dir", tmp_path / "data")


def test_too_few_keys_sign_nothing_and_one_from_elsewhere_helps(tmp_path: Path, keys: Path) -> None:
    build_image(NAME, "x86_64", ArtefactStore(tmp_path / "data" / "artefacts"))
    elsewhere = (keys / "targets" / "targets-2.key").rename(tmp_path / "stick.key")
    words = ("sign", "--image", NAME, "--keys", keys, "--data-dir", tmp_path / "data")
    with pytest.raises(FirstlightError, match="targets version 1: 1 of the 2 signatures"):
        run(*words)
    assert "signed, version 1" in run(*words, "--key", elsewhere)


def test_a_foreign_bundle_is_refused_by_member_and_remedy(tmp_path: Path, keys: Path) -> None:
    origin = Origin(tmp_path / "origin", make_keys(tmp_path / "other"))
    origin.sign(origin.image("a"))
    bundle = origin.export(tmp_path / "bundle")
    with pytest.raises(FirstlightError, match=r"bundle: tuf/.*\.json: is not signed by .*; nothing was taken in"):
        run("import", bundle, "--keys", keys, "--data-dir", tmp_path / "there")


def test_a_release_brings_its_image_and_its_firmware(tmp_path: Path) -> None:
    origin = Origin(tmp_path / "origin", make_keys(tmp_path / "all"))
    image, package = origin.image("a"), origin.store.put_bytes(b"firmware" * 1000)
    document = b'{"schema":"firstlight.release/1"}'
    digest = publish_release(origin.store, document, image_entry(origin.store, image.digest), {package: 8000})
    origin.sign(image)
    targets = {"release/spring": Target(digest, origin.store.path(digest).stat().st_size, {"release": "x"})}
    publish(origin.trust.metadata, targets, signers_in(origin.keys, *Role), GOOD)
    export(origin.store, origin.trust, targets, tmp_path / "bundle")
    site = Isolated(tmp_path / "site", origin.keys)
    site.take(tmp_path / "bundle")
    assert is_whole(site.site.store, image)
    assert site.site.store.verify(package).read_bytes() == b"firmware" * 1000
    assert site.site.store.verify(digest_of(document)).read_bytes() == document
    assert published(site.site.trust.metadata) == targets


def test_a_shipped_release_is_signed_by_name_and_exported_only_when_it_is_sound(tmp_path: Path, keys: Path) -> None:
    """Nobody here has the vendor's packages; files of their names stand for them, and the export sees that."""
    data_dir, release = tmp_path / "data", load_catalog(SHIPPED).resolve_release("hgx-h100-2025-1", "sha256:x")
    store = ArtefactStore(data_dir / "artefacts")
    build_image(NAME, "x86_64", store)
    for component in release.firmware.components:
        (store.blobs / component.artefact.sha256).write_bytes(b"no package")
    assert "release/hgx-h100-2025-1 sha256:" in run(
        "sign", "--release", release.name, "--keys", keys, "--data-dir", data_dir
    )
    with pytest.raises(FirstlightError, match="content is sha256:"):
        run("export", tmp_path / "bundle", "--release", release.name, "--data-dir", data_dir)
    assert not [path for path in tmp_path.iterdir() if "bundle" in path.name]


def test_an_export_says_anew_that_it_holds_where_the_key_is(tmp_path: Path, keys: Path) -> None:
    """Between signing and export may lie more than the month that a timestamp is good for."""
    data_dir = tmp_path / "data"
    build_image(NAME, "x86_64", ArtefactStore(data_dir / "artefacts"))
    run("sign", "--image", NAME, "--keys", keys, "--data-dir", data_dir)
    metadata = data_dir / "trust" / "metadata"
    past = datetime.now(UTC).replace(microsecond=0) - timedelta(days=1)
    renew_timestamp(metadata, past, signers_in(keys, Role.TIMESTAMP))
    there = ("--keys", keys, "--data-dir", tmp_path / "there")
    run("export", tmp_path / "old", "--image", NAME, "--data-dir", data_dir)
    with pytest.raises(FirstlightError, match=r"tuf/timestamp\.json: its signatures have expired"):
        run("import", tmp_path / "old", *there)
    run("export", tmp_path / "new", "--image", NAME, "--keys", keys, "--data-dir", data_dir)
    assert f"image/{NAME} sha256:" in run("import", tmp_path / "new", *there)
