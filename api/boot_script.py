"""What firmware is told, as an iPXE script."""

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from provisioner.boot.answer import BootImage, LeaveNetworkBoot

_COMMENT_CHARACTERS = 200

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=StrictUndefined,
    keep_trailing_newline=True,
    autoescape=False,  # noqa: S701 - a script, not a page; every value is checked or made into one line of ASCII
)


def boot_script(answer: BootImage | LeaveNetworkBoot, public_url: str) -> str:
    """Holds the boot's one-time token: for the node itself, and for nobody's log."""
    if isinstance(answer, LeaveNetworkBoot):
        return _TEMPLATES.get_template("leave.ipxe.j2").render(comment=_one_line(answer.reason))
    ticket = answer.ticket
    return _TEMPLATES.get_template("boot.ipxe.j2").render(
        comment=_one_line(f"{ticket.node} boots {ticket.image}"),
        base=public_url,
        node=ticket.node,
        token=ticket.token.reveal(),
        image=ticket.image,
        root=ticket.root,
    )


def _one_line(text: str) -> str:
    """Whatever a person or a BMC wrote stays inside one comment."""
    plain = "".join(one if one.isascii() and one.isprintable() else " " for one in text)
    return " ".join(plain.split())[:_COMMENT_CHARACTERS]
