"""Faults of parts, sensors and what is printed on them."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault("duplicate-serial", "the serial number reads `serial`", "xcat2/xcat-core#5428", {"serial": "0123456789"}),
    Fault(
        "placeholder-serial",
        "the serial number reads as the maker of the board left it",
        "lf-edge/eve#6381",
        {"serial": "To be filled by O.E.M."},
    ),
    Fault(
        "slow-gpu",
        "the GPU at `index` (from zero) has only `share` of its speed, as a stand-in measures it",
        "arXiv:2402.15627, section 5.1",
        {"index": 0, "share": 0.9},
    ),
    Fault("gpu-missing", "the GPU at `index` (from zero) is not seen", "NVIDIA/NVSentinel#684", {"index": 0}),
)
