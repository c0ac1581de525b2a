"""A rack of emulated servers whose agents are stand-ins, with two releases that differ in their image."""

import time
import urllib.error
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from emulator.testing import Bmc
from provisioner.bench.firmware_campaign import HARDWARE, RELEASE, choose_bare
from tests.line.site import Site, site

GREEN = "green"
POOL = {"hardware_class": HARDWARE, "floor": "70%", "soak": "1s"}
_ROOM = 600.0


def _as_it_is(_expected: dict[str, Any]) -> None:
    pass


@contextmanager
def rack(
    folder: Path,
    nodes: int,
    *,
    database_url: str | None = None,
    pool: dict[str, Any] | None = None,
    site_more: dict[str, Any] | None = None,
    change: Callable[[dict[str, Any]], None] = _as_it_is,
) -> Iterator[Site]:
    """Every server is ready with the old release, called `blue` here; the daemon runs.

    `site_more`: more of site.yaml; `change` may edit the expected list.
    """
    bmcs = [Bmc("hgx-h100")] * nodes
    with site(folder, bmcs, database_url=database_url, agent="stand-in", change=change) as running:
        blue = choose_bare(folder, folder / "profiles", RELEASE, HARDWARE)
        add_green(folder / "profiles", blue)
        config = yaml.safe_load((folder / "site.yaml").read_text())
        config |= site_more or {}
        config["pools"] = {"pool": {**POOL, **(pool or {})}}
        (folder / "site.yaml").write_text(yaml.safe_dump(config))
        running.start()
        running.until(lambda seen: all(one["state"] == "ready" for one in seen.values()))
        yield running


def add_green(profiles: Path, blue: str) -> None:
    """A release like `blue` with an image of its own."""
    like = yaml.safe_load((profiles / "releases" / f"{blue}.yaml").read_text())
    image = yaml.safe_load((profiles / "images" / f"{like['image']}.yaml").read_text())
    (profiles / "images" / "green.yaml").write_text(yaml.safe_dump({**image, "name": "green"}))
    (profiles / "releases" / f"{GREEN}.yaml").write_text(yaml.safe_dump({**like, "name": GREEN, "image": "green"}))


def until(running: Site, name: str, done: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """Wait until the rollout is so; it, as the API shows it. The daemon may be away for a while."""
    deadline = time.monotonic() + _ROOM
    seen: dict[str, Any] = {}
    while time.monotonic() < deadline:
        try:
            seen = running.ask(f"/v1/rollouts/{name}")
        except (OSError, urllib.error.URLError):
            time.sleep(0.2)
            continue
        if done(seen):
            return seen
        time.sleep(0.2)
    raise AssertionError(f"{seen}\n{(running.folder / 'daemon.log').read_text()[-3000:]}")


def planned(running: Site, name: str, **order: Any) -> list[list[str]]:
    """The units of each wave that it would have; a unit is a node here."""
    plan = running.ask("/v1/rollouts:plan", "POST", {"name": name, "pool": "pool", "release": GREEN, **order})
    return [wave["units"] for wave in plan["waves"]]


def begin(running: Site, name: str, **order: Any) -> dict[str, Any]:
    """Plan it, approve it and start it."""
    body = {"name": name, "pool": "pool", "release": GREEN, **order}
    planned: dict[str, Any] = running.ask("/v1/rollouts", "POST", body)
    running.ask(f"/v1/rollouts/{name}:approve", "POST", {})
    running.ask(f"/v1/rollouts/{name}:start", "POST")
    return planned


def boots(running: Site) -> dict[str, int]:
    """How often each host has been switched on or reset, as the hardware knows."""
    return {bmc.name: running.fleet.truth(bmc.name)["boots"] for bmc in running.fleet.bmcs}
