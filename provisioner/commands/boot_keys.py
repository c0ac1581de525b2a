"""`firstlight boot keys`: the site's own Secure Boot keys, and what firmware enrols them from."""

from pathlib import Path
from typing import Annotated

import typer

from images.boot_program.ovmf_variables import VariablesError, with_keys
from images.boot_program.secure_boot_keys import KeyMaterial, KeysExistError, make_keys, now, write_keys
from provisioner.errors import BadInput

_OVMF = Path("/usr/share/OVMF/OVMF_VARS_4M.fd")

_NEXT = """\
PK, KEK and db are in {folder}. owner.txt is the GUID that stands beside them in the firmware.

1. Keep PK.key and KEK.key offline, such as on two sticks in two safes, and delete them here. Who has them can enrol
   any key. They are needed again only to change what is enrolled.
2. The host that runs Firstlight signs boot programs: it needs db.key and db.pem. Say so in site.yaml:
     network_boot:
       sign: {{key: {folder}/db.key, certificate: {folder}/db.pem}}
3. Enrol on each server, in this order, db, KEK, PK; with PK the firmware leaves set-up mode and Secure Boot is on.
   Through the BMC: POST the .pem to the SecureBootDatabases of the system, then reset; or
   in the set-up menu: clear the Platform Key (set-up mode), then enrol the .auth, or the .cer where it asks for those.
   Without Microsoft's keys in db, option ROMs that Microsoft signed (network cards, some GPUs) no longer start: where
   the network card boots by its own ROM, append these keys to the vendor's db instead of replacing it.
"""
_NEXT_VM = """\
4. A virtual machine starts with a copy of OVMF_VARS.fd as its variables file: keys enrolled, Secure Boot on.
"""


def boot_keys(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder for the keys.")],
    site: Annotated[str, typer.Option(metavar="NAME", help="Stands in the certificates.")] = "Firstlight",
    ovmf: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="An empty variables file of OVMF.", show_default=f"{_OVMF}, if it is there"),
    ] = None,
) -> None:
    """Make PK, KEK and db for Secure Boot, and the files that firmware enrols. Nothing is ever overwritten."""
    material = make_keys(site, now())
    more = _variables(material, ovmf)
    try:
        write_keys(material, folder.absolute(), more)
    except (KeysExistError, OSError) as error:
        raise BadInput(str(error)) from error
    typer.echo(_NEXT.format(folder=folder.absolute()) + (_NEXT_VM if more else ""), nl=False)


def _variables(material: KeyMaterial, template: Path | None) -> dict[str, bytes]:
    """The variables file of a virtual machine; nothing where no firmware is installed and nobody named a template."""
    if template is None and not _OVMF.is_file():
        return {}
    path = template or _OVMF
    try:
        return {"OVMF_VARS.fd": with_keys(path.read_bytes(), material.lists, material.made_at)}
    except (OSError, VariablesError) as error:
        raise BadInput(f"{path}: {error}; --ovmf names another one") from error
