"""A board's one package, over HTTPS: an emulated GB200 tray gets to its bundle by it; what must not be sent is not."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from emulator.package import board_package
from emulator.persona.load import load_persona
from profiles.firmware.component import Artefact, FirmwareComponent
from provisioner.firmware.package.inspect import Inspection, inspect_file
from provisioner.firmware.phase import Phase
from provisioner.models.lifecycle import State
from tests.firmware.workshop import Case, Workshop, done, workshop
from tests.operations.invariants import assert_told

pytestmark = [pytest.mark.xdist_group("firmware-boards"), pytest.mark.timeout(600)]

TRAY = load_persona("gb200-compute-tray")
NEWEST = {name: TRAY.components[name].newest for name in TRAY.update.boards["hgx"]}
BOARD = ("hgx-erot", "hgx-bmc", "fpga", "gpu-vbios")
FILE = "gb200-compute-tray/hgx-GB200Nvl_25.06_A.fwpkg"


def _spoiled(name: str, content: bytes) -> Callable[[FirmwareComponent], FirmwareComponent]:
    """Every component of the board comes from another file; its digest and size in the catalog are right."""
    artefact = Artefact(
        file=f"gb200-compute-tray/{name}.fwpkg", sha256=sha256(content).hexdigest(), size_bytes=len(content)
    )
    _CONTENTS[artefact.file] = content

    def change(one: FirmwareComponent) -> FirmwareComponent:
        return one.model_copy(update={"artefact": artefact, "releases": ()}) if one.component in BOARD else one

    return change


_CONTENTS: dict[str, bytes] = {}
_WHOLE = board_package(TRAY, NEWEST)
_OTHER = load_persona("hgx-h100")
_FOREIGN = board_package(_OTHER, {name: _OTHER.components[name].newest for name in _OTHER.update.boards["hgx"]})


def _case(name: str, **more: Any) -> Case:
    return Case(name, persona="gb200-compute-tray", newest=True, **more)


HEALTHY = _case("the whole bundle")
FAILS = _case("a component fails", only=BOARD, faults={"component-fails": {"component": "fpga", "times": 1}}, tries=1)
WARNS = _case(
    "a component fails and the task completes",
    only=BOARD,
    faults={"component-fails": {"component": "erot", "state": "Completed", "times": 1}},
)
CUT = _case("cut short", only=BOARD, change=_spoiled("cut", _WHOLE[:-1000]))
FOREIGN = _case("other hardware", only=("bmc", *BOARD), change=_spoiled("foreign", _FOREIGN))
OLD = _case("another version", only=BOARD, change=_spoiled("old", board_package(TRAY, {**NEWEST, "fpga": "1.5F"})))
NO_PACKAGE = _case("no package", only=BOARD, change=_spoiled("html", b"<html>404 not found</html>" * 40))
GETS_ON, HELD = (HEALTHY, FAILS, WARNS), (CUT, FOREIGN, OLD, NO_PACKAGE)
FIELDS = {
    CUT.name: "cut.fwpkg: component 3, image at byte",
    FOREIGN.name: "foreign.fwpkg: fpga: target hardware: the package is not for it",
    OLD.name: "old.fwpkg: fpga: component version string: 1.60 is not in it; it holds 1.5F",
    NO_PACKAGE.name: "html.fwpkg: package header identifier at byte 0",
}


@dataclass(slots=True)
class _Files:
    """Looks into the packages; the rest as in simulated sites."""

    shelf: Any
    packages: dict[str, Path]

    async def inspect(self, artefact: Artefact) -> Inspection:
        return await asyncio.to_thread(inspect_file, self.packages[artefact.sha256], name=artefact.file)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.shelf, name)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    """All trays at once, until none moves any more."""
    folder = tmp_path_factory.mktemp("boards")
    with asyncio.Runner() as runner:
        opening = workshop((*GETS_ON, *HELD), folder)
        made = runner.run(opening.__aenter__())
        bench: Any = made.world.artefacts
        bench.shelf = _Files(bench.shelf, bench.packages)
        for file, content in _CONTENTS.items():
            (folder / "packages" / file).write_bytes(content)
        runner.run(made.settle())
        yield made
        runner.run(opening.__aexit__(None, None, None))


def pushes(ended: Workshop, case: Case) -> int:
    asked: dict[str, int] = ended.truth(case)["requests"]
    return sum(
        count for path, count in asked.items() if "update-multipart" in path or path.endswith("UpdateService/update")
    )


@pytest.mark.parametrize("case", GETS_ON, ids=lambda case: case.name)
def test_a_tray_gets_to_its_bundle_by_the_package_of_its_board(ended: Workshop, case: Case) -> None:
    """Each device is flashed once, also where one component failed and the package was sent again for it alone."""
    assert ended.node(case).state is State.CONFIGURING_BIOS, ended.story(case)
    assert done(ended.entries(case)), ended.story(case)
    running = {key: one["active"] for key, one in ended.truth(case)["firmware"].items()}
    for key, slot in TRAY.slots.items():
        if key.startswith("HGX_FW_") and slot.component in NEWEST:
            assert running[key] == NEWEST[slot.component], key
    assert ended.most_flashes(case) == 1, ended.truth(case)["flashes"]


def test_the_board_is_one_order(ended: Workshop) -> None:
    """BMC, its ERoT, CPLD, BIOS, NICs, and one for the four classes of the board."""
    tasks = {one.task for one in ended.entries(HEALTHY) if one.what.component in BOARD}
    assert len(tasks) == 1
    assert pushes(ended, HEALTHY) == 6


@pytest.mark.parametrize(("case", "failing"), [(FAILS, "fpga"), (WARNS, "hgx-erot")], ids=["exception", "completed"])
def test_what_failed_is_told_and_tried_again(ended: Workshop, case: Case, failing: str) -> None:
    """The journal has the failure and the try that brought it."""
    tries = [one for one in ended.entries(case) if one.what.component == failing]
    assert [one.phase for one in tries] == [Phase.FAILED, Phase.DONE], ended.story(case)
    assert pushes(ended, case) == 2


@pytest.mark.parametrize("case", HELD, ids=lambda case: case.name)
def test_a_package_that_must_not_be_sent_is_told_before_anything_is(ended: Workshop, case: Case) -> None:
    """File, field and remedy; the journal says it too, and the BMC was asked for nothing that writes."""
    node = ended.node(case)
    assert node.hold is not None, ended.story(case)
    assert FIELDS[case.name] in node.hold.reason, node.hold.reason
    assert_told(node.hold.instruction)
    assert pushes(ended, case) == 0
    assert ended.truth(case)["flashes"] == {}
    failed = [one for one in ended.entries(case) if one.phase is Phase.FAILED]
    assert {one.what.component for one in failed} == set(BOARD), ended.story(case)
    assert all(FIELDS[case.name] in one.reason for one in failed)


def test_no_engine_error(ended: Workshop) -> None:
    assert ended.engine.errors() == {}
