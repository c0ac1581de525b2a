"""UEFI secure boot of one host: what is enabled, and the keys in its databases. UEFI 2.10, 32."""

from typing import Any

from emulator.machine.board import Board
from emulator.tree import places

Entries = dict[str, dict[str, Any]]


class SecureBoot:
    """Whether it is on, and the entries of the databases that differ from the factory's."""

    def __init__(self, board: Board) -> None:
        """As the board remembers it."""
        self._board = board
        self._path = f"{places.host(board.persona)}/SecureBoot"

    @property
    def current(self) -> bool:
        """Whether the host was booted with it."""
        return self._board.state.secure_boot

    @property
    def wanted(self) -> bool:
        """Whether the next boot is to have it."""
        wanted = self._board.state.secure_boot_wanted
        return self.current if wanted is None else wanted

    def enable(self, wanted: bool) -> None:  # noqa: FBT001  (the value of a property)
        """Turn it on or off with the next boot."""
        self._board.state.secure_boot_wanted = wanted
        self._board.save()

    def apply(self) -> None:
        """The host boots. Without a platform key nothing is enforced."""
        enforced = self.has_platform_key
        stays_on = enforced and self._board.faults.take("secure-boot-stays-on") is not None
        self._board.state.secure_boot = stays_on or (enforced and self.wanted)
        self._board.save()

    def trusted(self) -> tuple[str, ...] | None:
        """The certificates of db as PEM, while Secure Boot is enforced; None: it is not."""
        if not self.current:
            return None
        path = f"{self._path}/SecureBootDatabases/db/Certificates"
        unknown = self._board.faults.take("secure-boot-key-unknown")
        entries = self._factory(path) if unknown else self.entries(path)
        return tuple(str(entry["CertificateString"]) for entry in entries.values() if entry.get("CertificateString"))

    @property
    def has_platform_key(self) -> bool:
        """Whether a PK is enrolled: user mode; else setup mode."""
        keys = f"{self._path}/SecureBootDatabases/PK/Certificates"
        if self._board.document(keys) is None:
            there = self._board.document(self._path)
            return there is not None and there.get("SecureBootMode") != "SetupMode"
        return bool(self.entries(keys))

    def entries(self, path: str) -> Entries:
        """The entries of the collection at `path` by their ids, without what names them; empty for no collection."""
        kept = self._board.state.secure_boot_keys.get(path)
        return dict(kept) if kept is not None else self._factory(path)

    def keep(self, path: str, entries: Entries) -> None:
        """Remember the entries of the collection at `path`."""
        self._board.state.secure_boot_keys[path] = entries
        self._board.save()

    def restore(self, database: str) -> None:
        """Make the entries of a database those of its defaults, or the factory's where it has no defaults."""
        for part in ("Certificates", "Signatures"):
            there = self._board.document(f"{database}Default/{part}")
            source = f"{database}Default/{part}" if there else f"{database}/{part}"
            self.keep(f"{database}/{part}", self._factory(source))

    def empty(self, database: str) -> None:
        """Remove all entries of a database."""
        for part in ("Certificates", "Signatures"):
            self.keep(f"{database}/{part}", {})

    def _factory(self, path: str) -> Entries:
        listed = self._board.document(path) or {}
        found: Entries = {}
        for member in listed.get("Members", ()):
            document = self._board.document(member["@odata.id"].rstrip("/")) or {}
            own = {name: value for name, value in document.items() if not name.startswith("@odata") and name != "Id"}
            found[member["@odata.id"].rstrip("/").rpartition("/")[2]] = own
        return found
