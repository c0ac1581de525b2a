"""What may go wrong with a simulated GPU server."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Faults:
    """What goes wrong. Times are simulated seconds since the start, unless said otherwise."""

    lost: tuple[tuple[int, bool], ...] = ()
    """(number of a write, acted on): its answer is lost."""
    away: tuple[tuple[int, int], ...] = ()
    """(from, for): the BMC does not answer."""
    bmc_resets: tuple[int, ...] = ()
    power_losses: tuple[int, ...] = ()
    """Since the node began to boot; only while it boots or burns in."""
    vanishing_poll: int | None = None
    """At this look at a task the BMC has forgotten it."""
    failing_task: int | None = None
    stays_old: frozenset[str] = frozenset()
    """Inventory ids that report success and keep their version."""
    agent: str = "well"
    """well, refused (firmware does not start it), never (the image does not come up), silent (registers, then nothing),
    wrong (another image)."""
    asks: bool = True
    """The firmware asks for something to boot."""
    rejects_bios: frozenset[str] = frozenset()
    failing_item: str | None = None
    refuses_boot: frozenset[str] = frozenset()
    """Boot targets that the BMC refuses when they are set."""
    boots_from: str | None = None
    """What is set in place of HTTP boot."""
    secure_boot: bool | None = None
    initrd: tuple[str, str] | None = None
    """(kind, detail): what the initrd reports before it powers the host off, each time."""
    boots_ill: int = 99
    """So many boots end with that report."""
    hides_tasks: bool = False
    """Tasks do not say what they are for."""
    copies_seconds: float = 0.0
    """So long after it runs something new, its first part writes its second slot."""
