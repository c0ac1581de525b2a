"""What firmware is told, as an iPXE script."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from images.boot_program.build import BootProgram
from images.manifest import ImageManifest
from provisioner.boot.answer import Answer, BootImage, Discover, LeaveNetworkBoot
from provisioner.boot.words import image_words, node_words
from provisioner.capabilities.world import World

_COMMENT_CHARACTERS, _WORD_CHARACTERS = 200, 60

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    auto_reload=False,
    autoescape=False,  # noqa: S701 - a script, not a page; every value is checked or made into one line of ASCII
)


async def boot_script(answer: Answer, world: World) -> str:
    """Holds the boot's one-time token: for the node itself, and for nobody's log.

    Raises `NotFound` for an image that is not there, `BadInput` when its program for Secure Boot cannot be made.
    """
    if isinstance(answer, Discover):
        return discover_script(answer, world.public_url)
    if not isinstance(answer, BootImage):
        return leave_script(answer)
    manifest = world.artefacts.manifest(answer.ticket.image)
    secure = manifest.bootable is not None and manifest.bootable.secure_boot
    program = await world.artefacts.uki(manifest.digest) if secure else None
    return image_script(answer, manifest, program, server=world.public_url, mirrors=world.artefacts.mirrors)


def image_script(
    answer: BootImage, manifest: ImageManifest, program: BootProgram | None, *, server: str, mirrors: tuple[str, ...]
) -> str:
    """`program`: start this one instead of kernel and initrd, as Secure Boot lets firmware start nothing unsigned."""
    ticket = answer.ticket
    common = {"comment": _one_line(f"{ticket.node} boots {ticket.image}"), "base": server, "name": manifest.name}
    if program is not None:
        return _TEMPLATES.get_template("program.ipxe.j2").render(common, program=program.digest)
    words = " ".join((*image_words(manifest, server, mirrors), *node_words(ticket)))
    if manifest.bootable is None:
        return _TEMPLATES.get_template("boot.ipxe.j2").render(common, words=words, root=ticket.root)
    kernel, initrd = manifest.artefact("kernel").digest, manifest.artefact("initrd").digest
    return _TEMPLATES.get_template("kernel.ipxe.j2").render(common, words=words, kernel=kernel, initrd=initrd)


def leave_script(answer: LeaveNetworkBoot) -> str:
    """Try the next boot device."""
    return _TEMPLATES.get_template("leave.ipxe.j2").render(comment=_one_line(answer.reason))


def discover_script(answer: Discover, server: str) -> str:
    """Tell whoever stands there what the server is and how it is added."""
    caller = answer.caller
    return _TEMPLATES.get_template("discover.ipxe.j2").render(
        comment=_one_line("this server is not on the expected list"),
        base=server,
        **{
            name: _word(value)
            for name, value in (("serial", caller.serial), ("uuid", caller.uuid), ("mac", caller.mac))
        },
    )


def _word(text: str) -> str:
    """What a stranger says of itself never becomes a command or a setting of iPXE."""
    plain = "".join(one for one in text if one.isascii() and (one.isalnum() or one in "-:._ "))
    return " ".join(plain.split())[:_WORD_CHARACTERS] or "(not said)"


def _one_line(text: str) -> str:
    """Whatever a person or a BMC wrote stays inside one comment."""
    if not (text.isascii() and text.isprintable()):
        text = "".join(one if one.isascii() and one.isprintable() else " " for one in text)
    return " ".join(text.split())[:_COMMENT_CHARACTERS]
