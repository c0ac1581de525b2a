"""A limit of uploads that shows what it let through."""

from provisioner.upload_limit import UploadLimit


class CountedUploads(UploadLimit):
    """It is never in the way."""

    def __init__(self) -> None:
        """Nothing has left yet."""
        super().__init__(None)
        self.pieces: list[int] = []

    @property
    def taken(self) -> int:
        """Bytes so far."""
        return sum(self.pieces)

    async def take(self, count: int) -> None:
        """Note a piece."""
        self.pieces.append(count)
        await super().take(count)
