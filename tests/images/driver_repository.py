"""Stand-ins for a vendor's driver packages: real .deb files with small kernel modules, and sources of such modules."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.images.kernel_modules import ABI

KERNEL = f"linux-image-{ABI}"
_MODULE = """\
#include <linux/module.h>

int %(name)s_answer(void);
int %(name)s_answer(void) { pr_info("%%s says %(version)s\\n", __FILE__); return 42; }
EXPORT_SYMBOL(%(name)s_answer);
static int __init %(name)s_begin(void) { return %(begin)s; }
static void __exit %(name)s_end(void) { }
module_init(%(name)s_begin);
module_exit(%(name)s_end);
MODULE_LICENSE("GPL");
MODULE_VERSION("%(version)s");
"""
_MAKEFILE = "obj-m := nvidia.o nvidia-uvm.o\n"
_DKMS_CONF = """\
PACKAGE_NAME="standin"
PACKAGE_VERSION="%(version)s"
MAKE[0]="make -C $kernel_source_dir M=$dkms_tree/$PACKAGE_NAME/$PACKAGE_VERSION/build modules"
BUILT_MODULE_NAME[0]="nvidia"
DEST_MODULE_NAME[0]="nvidia-current"
DEST_MODULE_LOCATION[0]="/updates/dkms"
BUILT_MODULE_NAME[1]="nvidia-uvm"
DEST_MODULE_NAME[1]="nvidia-current-uvm"
DEST_MODULE_LOCATION[1]="/updates/dkms"
AUTOINSTALL="yes"
"""


def build_package(folder: Path, control: Mapping[str, str], files: Mapping[str, bytes] | None = None) -> Path:
    """Build a .deb of the architecture amd64 with these fields and files, by their paths in the image."""
    folder.mkdir(parents=True, exist_ok=True)
    name, version = control["Package"], control["Version"]
    tree = folder / f".tree-{name}-{version}"
    whole = {"Architecture": "amd64", "Maintainer": "nobody <nobody@example.test>", "Description": "a stand-in"}
    text = "".join(f"{field}: {value}\n" for field, value in {**whole, **control}.items())
    for path, content in {"DEBIAN/control": text.encode(), **(files or {})}.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(content)
        (tree / path).chmod(0o755 if path == "DEBIAN/postinst" else 0o644)
    package = folder / f"{name}_{version.rpartition(':')[2]}_amd64.deb"
    command = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(tree), str(package)]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    subprocess.run(["rm", "-r", str(tree)], check=True)
    return package


def module_source(folder: Path, version: str, begin: str = "0", needs: str = "") -> Path:
    """Build the package of source of two modules; `begin` is what their C returns: any expression, or an error."""
    at = f"usr/src/standin-{version}"
    files = {
        f"{at}/dkms.conf": (_DKMS_CONF % {"version": version}).encode(),
        f"{at}/Makefile": _MAKEFILE.encode(),
        f"{at}/nvidia.c": (_MODULE % {"name": "nvidia", "version": version, "begin": begin}).encode(),
        f"{at}/nvidia-uvm.c": (_MODULE % {"name": "nvidia_uvm", "version": version, "begin": "0"}).encode(),
    }
    depends = ", ".join(one for one in ("dkms (>= 3.0.3)", needs) if one)
    control = {"Package": "standin-dkms", "Version": f"{version}-1", "Depends": depends}
    return build_package(folder, {**control, "Provides": f"nvidia-kernel-{version}"}, files)


def driver_packages(
    folder: Path,
    version: str,
    modules: Mapping[str, bytes],
    *,
    fabric_manager: str | None = None,
    abi: str = ABI,
) -> Path:
    """Build what the shipped profiles of R580 and newer name, and return the folder; `modules` by their file names."""
    files = {f"lib/modules/{abi}/updates/{name}": content for name, content in modules.items()}
    files["DEBIAN/postinst"] = f"#!/bin/sh\nset -e\ndepmod {abi}\n".encode()
    needs = {"Depends": f"linux-image-{abi}, kmod"}
    build_package(folder, _control("nvidia-kernel-open-modules", version, **needs), files)
    build_package(folder, _control("nvidia-driver-cuda", version), {"usr/lib/libcuda.so.1": b"\x7fELF"})
    persistence = {"lib/systemd/system/nvidia-persistenced.service": _unit("nvidia-persistenced")}
    build_package(folder, _control("nvidia-persistenced", version), persistence)
    manager = {"lib/systemd/system/nvidia-fabricmanager.service": _unit("nv-fabricmanager")}
    build_package(folder, _control("nvidia-fabricmanager", fabric_manager or version), manager)
    build_package(folder, _control("nvidia-imex", version))
    build_package(folder, _control("nvlsm", "2025.10.1"))
    return folder


def _control(name: str, version: str, **fields: str) -> dict[str, str]:
    return {"Package": name, "Version": f"{version}-1", **fields}


def _unit(program: str) -> bytes:
    return f"[Service]\nExecStart=/usr/bin/{program}\n[Install]\nWantedBy=multi-user.target\n".encode()
