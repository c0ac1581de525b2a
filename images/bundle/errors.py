"""Why a bundle is not taken."""


class BundleError(Exception):
    """Nothing of it became visible. The text names the member, what is wrong with it, and what to do."""

    def __init__(self, member: str, what: str, remedy: str) -> None:
        """As a person reads it."""
        super().__init__(f"{member}: {what}; {remedy}")
        self.member = member


COPY_AGAIN = "copy the bundle again, and compare its size with that at its origin"
EXPORT_AGAIN = "export it again with `firstlight bundle export`"
