"""Faults between the override and the root: the BMC's HttpBootUri, firmware that boots over the network, the initrd."""

from emulator.faults.fault import Fault

FAULTS: tuple[Fault, ...] = (
    Fault(
        "http-boot-uri-refused",
        "an HttpBootUri that ends in `ending` is refused with `status`: the BMC takes ISOs only, or fails to fetch it",
        "openstack/sushy-tools, system_resource in sushy_tools/emulator/main.py",
        {"status": 400, "ending": ".efi"},
    ),
    Fault(
        "http-boot-uri-reads-none",
        "an HttpBootUri that is not set reads as the text None",
        "openstack/sushy-tools, http_boot_uri in sushy_tools/emulator/templates/system.json",
    ),
    Fault(
        "boot-always-continuous",
        "BootSourceOverrideEnabled is Continuous whatever was asked for, and the override holds for every boot",
        "openstack/sushy-tools, BootSourceOverrideEnabled in sushy_tools/emulator/templates/system.json",
    ),
    Fault(
        "http-boot-uri-ignored",
        "UEFI HTTP boot takes the address that DHCP offers, whatever HttpBootUri says",
        "bmc-toolbox/bmclib#463",
    ),
    Fault(
        "http-boot-delayed",
        "UEFI HTTP boot begins `seconds` emulated seconds late: other protocols and ports are tried before",
        "metal-stack/mini-lab#196",
        {"seconds": 70.0},
    ),
    Fault(
        "http-boot-needs-head",
        "UEFI HTTP boot gives up when HEAD is not answered with 200 and a Content-Length",
        "tianocore/edk2#9920",
    ),
    Fault(
        "http-boot-head-refused",
        "something between host and service refuses HEAD: firmware asks for the file without knowing its size",
        "tianocore/edk2, HttpBootLoadFile in NetworkPkg/HttpBootDxe/HttpBootImpl.c",
    ),
    Fault(
        "secure-boot-stays-on",
        "Secure Boot is on in every boot; turning it off is accepted and needs somebody at the machine",
        "lenovo/python-redfish-lenovo#129",
    ),
    Fault(
        "secure-boot-key-unknown",
        "with Secure Boot on, firmware refuses what is signed with any other key than the factory's",
        "kairos-io/AuroraBoot#269",
    ),
    Fault(
        "boot-server-unreachable",
        "boot requests get no answer for `seconds` seconds of the wall clock after POST (0: for ever)",
        "danderson/netboot#50",
        {"seconds": 0.0},
    ),
    Fault(
        "initrd-without-network",
        "no port of the host gets an address in the initrd: nothing can be reported, the host powers off",
        "harvester/harvester#1363",
    ),
    Fault(
        "power-lost-in-initrd",
        "the host loses power in its initrd, with the words of its boot and before its root, and stays off",
        "operate-first/operations#356",
        {"times": 1},
    ),
    Fault(
        "wrong-artefact",
        "a bit of the root changes on its way to the node (`address`: only from addresses that hold this text)",
        "netbootxyz/docker-netbootxyz#100, nwjs/nw.js#7857",
        {"address": ""},
    ),
    Fault(
        "root-transfer-breaks",
        "the connection breaks when `bytes` bytes of the root have come; the initrd asks for the rest",
        "netbootxyz/docker-netbootxyz#100",
        {"times": 1, "bytes": 65536},
    ),
    Fault(
        "root-does-not-fit",
        "the memory of the node holds no root of more than `mebibytes` MiB",
        "netbootxyz/netboot.xyz#918",
        {"mebibytes": 0},
    ),
)
