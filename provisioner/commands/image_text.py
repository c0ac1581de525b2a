"""Image profiles as people read them in a terminal."""

from collections.abc import Iterable, Mapping

from rich.console import Group, RenderableType
from rich.text import Text

from profiles.compat.answers import Severity
from profiles.findings import Finding
from profiles.images.driver_check import ImageReason
from profiles.images.explain import Explained
from profiles.images.load import LoadedImage
from profiles.images.lock import Lock
from provisioner.commands.console import bare_table, fields, plain

_COLOURS = {Severity.REFUSAL: "red", Severity.UNKNOWN: "magenta", Severity.FINDING: "yellow"}


def list_text(images: Mapping[str, LoadedImage]) -> RenderableType:
    """One profile a line."""
    table = bare_table("name", "root", "arch", "inherits from", breaks=3)
    for name, image in images.items():
        said = image.document.value
        arch = "abstract" if image.profile is None else said["arch"]
        table.add_row(name, said["root"], arch, plain(" -> ".join(reversed(image.chain[:-1]))))
    return table


def explanation_text(explained: Iterable[Explained]) -> RenderableType:
    """One value a line."""
    table = bare_table("field", "value", "from", "instead of", breaks=1)
    for one in explained:
        lost = "; ".join(f"{other.value} {other.where}" for other in reversed(one.overrode))
        table.add_row(plain(one.field), plain(one.value), plain(one.where), plain(lost))
    return table


def reasons_text(reasons: Iterable[tuple[Finding, ImageReason]]) -> RenderableType:
    """Each reason where it is written, with the documents behind it."""
    lines = []
    for finding, reason in reasons:
        severity = Text(reason.severity, style=_COLOURS.get(reason.severity, ""))
        lines.append(Text.assemble(plain(str(finding)), " (", severity, plain(f" {reason.name})")))
        lines += [plain(f"    {source}") for source in reason.sources]
    return Group(*lines)


def lock_text(lock: Lock) -> RenderableType:
    """What would be installed, and the digest of all of it."""
    driver = lock.driver
    components = ", ".join(f"{name} {version}" for name, version in driver.components.items()) if driver else ""
    built = lock.modules
    head = fields(
        (
            ("image", f"{lock.image}, {lock.arch}"),
            ("kernel", f"{lock.kernel.abi}, {lock.kernel.version}"),
            ("driver", f"{driver.version} {components}".rstrip() if driver else None),
            ("modules", f"{built.package}, from {built.source.name} {built.version}" if built else None),
            ("packages", f"{len(lock.packages)}, {sum(one.size_bytes for one in lock.packages) // 2**20} MiB"),
        )
    )
    table = bare_table("package", "version", "sha256")
    for package in lock.packages:
        table.add_row(package.name, package.version, package.sha256)
    return Group(head, Text(), table, Text(), plain(lock.digest))
