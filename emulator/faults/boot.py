"""Faults of power and boot, and of what runs on the node."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        "power-lost-while-booting",
        "the host loses power while it boots and stays off",
        "operate-first/operations#356",
        {"times": 1},
    ),
    Fault(
        "agent-killed",
        "the process on the node is killed `seconds` seconds of the wall clock after its start",
        "buildkite/elastic-ci-stack-for-aws#882",
        {"times": 1, "seconds": 2.0},
    ),
    Fault(
        "wrong-artefact", "bytes of the root are changed on their way to the node", "netbootxyz/docker-netbootxyz#100"
    ),
    Fault(
        "boot-server-unreachable",
        "boot requests get no answer for `seconds` seconds of the wall clock after POST (0: for ever)",
        "danderson/netboot#50",
        {"seconds": 0.0},
    ),
    Fault(
        "http-boot-refuses-scripts",
        "UEFI HTTP boot starts nothing that is neither application/efi nor ends in .efi, .iso or .img",
        "tianocore/edk2, HttpBootCheckImageType in NetworkPkg/HttpBootDxe/HttpBootSupport.c",
    ),
    Fault(
        "burn-in-check-fails",
        "a stand-in's check fails with a wrong answer (`check`: an item or a kind of check; empty: any)",
        "wilicc/gpu-burn#12",
        {"check": ""},
    ),
)
