"""What must move off its driver branch, by when and whereto. End dates: NVIDIA data-centre drivers, edition 620."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from profiles.compat.answers import Outcome
from profiles.compat.kinds import MemoryMode, ModuleFlavour
from profiles.compat.setup import Setup
from profiles.compatibility import check
from profiles.findings import ProfileError
from profiles.fleet import load_fleet
from profiles.horizon import Move, Urgency, horizon
from tests.profiles.setups import DAY, FACTS, days, setup, setups

FLEET = """\
# yaml-language-server: $schema=fleet.schema.json
pools:
  - name: old-volta
    driver: "580.95.05"
    gpus: [V100]
    cuda: ["12.9"]
    modules: proprietary
  - name: train
    driver: "570.211.01"
    gpus: [H100]
    platform: hgx-h100
    components: {nvidia-fabricmanager: "570.211.01"}
  - name: racks
    driver: "595.58.03"
    gpus: [GB200]
    platform: gb200-nvl72
    memory_mode: driver
"""


def one(driver: str, gpus: str = "H100", on: date = DAY, **more: Any) -> Move:
    (move,) = horizon({"x": setup(driver, gpus, **more)}, FACTS, on)
    return move


def drivers(move: Move) -> list[str]:
    return [target.driver for target in move.targets]


def test_volta_ends_with_r580() -> None:
    move = one("580.95.05", "V100")
    assert (move.urgency, move.by, move.targets) == (Urgency.DATED, date(2028, 6, 30), ())
    (obstacle,) = move.obstacles
    assert obstacle.branch == 620
    assert {reason.name for reason in obstacle.reasons} == {"driver-dropped-architecture", "branch-has-open-only"}


def test_a_branch_that_has_ended_is_overdue_and_shows_what_lasts_longest_first() -> None:
    move = one("570.211.01")
    assert (move.urgency, move.by) == (Urgency.OVERDUE, date(2026, 2, 28))
    assert drivers(move) == ["620.70.06", "580.178.04", "595.99.02"]
    assert one("550.163.01").urgency is Urgency.OVERDUE
    assert one("550.163.01").by is None


def test_r620_takes_open_modules_with_it() -> None:
    move = one("580.95.05", modules=ModuleFlavour.PROPRIETARY)
    assert drivers(move) == ["620.70.06"]
    assert move.targets[0].changes == ("open kernel modules instead of proprietary",)
    assert one("580.95.05", modules=ModuleFlavour.OPEN).targets[0].changes == ()


def test_a_mixed_pool_goes_where_all_of_it_can() -> None:
    assert drivers(one("535.309.01", "V100,A100")) == ["580.178.04"]
    assert drivers(one("535.309.01", "A100")) == ["620.70.06", "580.178.04", "595.99.02"]


def test_a_memory_mode_that_nobody_wrote_down_is_written_down_with_the_move() -> None:
    """The bare driver's default flips at R615, HPC SDK 26.9."""
    move = one("595.58.03", "GB200", platform="gb200-nvl72")
    assert [reason.name for reason in move.refused_now] == ["memory-mode-unset"]
    assert move.targets[0].changes == ("write NVreg_CoherentGPUMemoryMode=numa down",)
    assert one("595.58.03", "GB200", platform="gb200-nvl72", memory_mode=MemoryMode.DRIVER).targets[0].changes == ()


def test_a_forward_package_stays_behind() -> None:
    move = one("570.211.01", cuda="13.0", forward_package="13.0")
    assert move.targets[0].changes == ("leave cuda-compat 13.0 out",)
    assert move.targets[0].driver == "620.70.06"


def test_fabric_software_moves_with_the_driver() -> None:
    move = one("570.211.01", platform="hgx-h100", components="nvidia-fabricmanager=570.211.01")
    assert move.refused_now == ()
    assert drivers(move) == ["620.70.06", "580.178.04", "595.99.02"]


def test_a_branch_of_unknown_end_is_unknown() -> None:
    assert (one("615.71.09").urgency, one("615.71.09").by) == (Urgency.UNKNOWN, None)


def test_the_day_decides_what_is_still_a_way_out() -> None:
    assert drivers(one("570.211.01", on=date(2027, 4, 1))) == ["620.70.06", "580.178.04"]
    assert drivers(one("570.211.01", on=date(2029, 10, 1))) == []


@given(setups, days)
def test_every_target_outlives_the_branch_and_is_let_through(asked: Setup, on: date) -> None:
    (move,) = horizon({"x": asked}, FACTS, on)
    for target in move.targets:
        assert target.until >= on
        assert move.by is None or target.until > move.by
        assert target.driver.partition(".")[0] != asked.driver.partition(".")[0]
        bare = Setup(driver=target.driver, gpus=asked.gpus, memory_mode=MemoryMode.NUMA)
        assert check(bare, FACTS, on).outcome is not Outcome.REFUSED
    assert all(obstacle.reasons for obstacle in move.obstacles)


def test_a_fleet_is_told_the_most_urgent_first(tmp_path: Path) -> None:
    path = tmp_path / "fleet.yaml"
    path.write_text(FLEET)
    moves = horizon(load_fleet(path, FACTS), FACTS, DAY)
    assert [move.pool for move in moves] == ["train", "racks", "old-volta"]
    assert all(move.refused_now == () for move in moves)


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("gpus: [V100]", "gpus: [V101]", 5, 'pools[0].gpus[0]: GPU "V101" is not known; did you mean "V100"?'),
        ('"570.211.01"\n', '"57.1"\n', 9, 'pools[1].driver: driver "57.1" is of no known branch; known: R418'),
        ('"595.58.03"', "595.58", 14, "pools[2].driver: 595.58 is read by YAML as a number, not as text"),
        ("nvidia-fabricmanager:", "fabricmanager:", 12, 'pools[1].components.fabricmanager: component "fabricmanager"'),
        ("gb200-nvl72", "gb200", 16, 'pools[2].platform: platform "gb200" is not known; did you mean "gb200-nvl72"?'),
        ("name: racks", "name: train", 13, 'pools[2].name: "train" is already pools[1]'),
        ("memory_mode: driver", "memory: driver", 17, "pools[2].memory: is not a known key"),
    ],
)
def test_a_mistake_in_the_fleet_is_told_with_its_line(tmp_path: Path, old: str, new: str, line: int, told: str) -> None:
    path = tmp_path / "fleet.yaml"
    assert old in FLEET
    path.write_text(FLEET.replace(old, new, 1))
    with pytest.raises(ProfileError) as caught:
        load_fleet(path, FACTS)
    assert str(caught.value).startswith(f"{path}:{line}: {told}")
