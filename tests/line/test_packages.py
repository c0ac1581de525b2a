"""Two workers on two hosts: the one without a firmware folder fetches the packages, and goes on alone with them."""

import shutil
import time
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest
import yaml

from emulator.testing import Bmc
from profiles.loader import SHIPPED, load_catalog
from tests.line.site import Site, site

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), pytest.mark.xdist_group("heavy-too")]

PAST = {"configuring_bios", "booting", "burning_in", "ready"}


def other_host(running: Site) -> tuple[str, Path]:
    """The configuration of a worker with a data directory of its own and no firmware folder, and that directory."""
    path = running.folder / running.second_worker()
    config = yaml.safe_load(path.read_text())
    config["data_dir"] = "other-host"
    del config["firmware_dir"]
    path.write_text(yaml.safe_dump(config))
    folder = running.folder / "other-host"
    folder.mkdir()
    shutil.copy2(running.folder / "secret.key", folder)
    return path.name, folder


def hold(running: Site, name: str) -> None:
    """However far it is; it may just have moved."""
    for _ in range(20):
        try:
            running.ask(f"/v1/nodes/{name}/hold", "POST", {"reason": "the other host is set up"})
        except HTTPError as error:
            if error.code != HTTPStatus.CONFLICT:
                raise
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"{name} cannot be held")


def test_a_worker_without_packages_fetches_them_and_outlives_the_one_that_had_them(
    tmp_path: Path, postgres_database: str
) -> None:
    """GB200 trays take pushes only: the file that is sent is the second host's own."""
    bundle = load_catalog(SHIPPED).resolve_release("gb200-2025-1", "sha256:image").firmware
    wanted = {one.artefact.sha256 for one in bundle.components}
    trays = [Bmc("gb200-compute-tray", power="On") for _ in range(2)]
    with site(tmp_path, trays, database_url=postgres_database, speed=60) as running:
        first = running.start()
        names = list(running.until(bool))
        for name in names:
            hold(running, name)
        second, folder = other_host(running)
        running.start(second)
        blobs = folder / "artefacts" / "blobs" / "sha256"
        running.until(lambda _: blobs.is_dir() and wanted <= {one.name for one in blobs.iterdir()})
        running.kill(first)
        assert not any(part.startswith("HGX_") for name in names for part in running.fleet.truth(name)["flashes"])
        running.port = int(yaml.safe_load((tmp_path / second).read_text())["listen"]["port"])
        for name in names:
            running.ask(f"/v1/nodes/{name}/release", "POST")
        running.until(lambda nodes: all(_is_past_firmware(one) for one in nodes.values()))
        assert running.flashed_twice() == []
        for name in names:
            assert "HGX_FW_GPU_0" in running.fleet.truth(name)["flashes"]
        told = (tmp_path / "daemon.log").read_text()
    assert "packages_missing" in told
    assert "share firmware_dir" in told
    assert "package_fetched" in told


def _is_past_firmware(node: dict[str, Any]) -> bool:
    """Where the host boots from is gone with the first worker: what comes after that does not matter."""
    held = node.get("hold") or {}
    return node["state"] in PAST or held.get("held_from") in PAST
