"""What callers of a BMC share: who writes, how many ask at once, and how many logins may still fail."""

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from provisioner.models.node import BmcAddress


class HeldLease(Protocol):
    """The lease of one BMC while somebody holds it."""

    def request(self) -> AbstractAsyncContextManager[None]:
        """One request on the wire, within the limits of the BMC and of the site.

        Raises `BmcUnreachable` when another process has taken the lease in the meantime: nothing may be sent then.
        """
        ...

    def login(self, username: str) -> AbstractAsyncContextManager[None]:
        """One login inside the `with`: a `LoginRefused` raised there is counted, an orderly end clears the count.

        Raises `LoginBudgetSpent` before the body runs when one more refusal could lock the account.
        """
        ...


class Leases(Protocol):
    """One lease per BMC for everybody in this process (and among processes, where they share a database)."""

    def hold(self, address: BmcAddress) -> AbstractAsyncContextManager[HeldLease]:
        """Be the only one who acts on the BMC. Not re-entrant. Raises `BmcUnreachable` when nobody lets go in time."""
        ...

    def look(self, address: BmcAddress) -> AbstractAsyncContextManager[None]:
        """One request that needs no exclusion, such as a look at the service root; within the same limits."""
        ...
