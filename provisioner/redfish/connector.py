"""sushy's connector over our own session and our own retry rule."""

from typing import Any, cast

from sushy.connector import Connector
from sushy.exceptions import ResourceNotFoundError

from provisioner.errors import ResourceGone
from provisioner.models.node import BmcAddress
from provisioner.redfish.answer import Answer
from provisioner.redfish.retry import RetryRule
from provisioner.redfish.session import SingleShotSession
from provisioner.redfish.tls import authority


class SingleShotConnector(Connector):  # type: ignore[misc]  # sushy is untyped
    """Reads are retried by our rule, everything else is sent once.

    `_session` is a private attribute of sushy 5.14 (pinned; a test watches it).
    """

    def __init__(self, address: BmcAddress, session: SingleShotSession, scheme: str, rule: RetryRule) -> None:
        """`session` does the I/O; nothing is sent yet."""
        super().__init__(f"{scheme}://{authority(address)}")
        self._session: Any = session
        self._rule = rule

    def get(self, *args: Any, **kwargs: Any) -> Answer:
        """GET, retried. What is not there is sushy's own error, which sushy expects of optional parts."""
        try:
            return self._rule.read(lambda: cast("Answer", super(SingleShotConnector, self).get(*args, **kwargs)))
        except ResourceGone as error:
            path = args[0] if args else ""
            raise ResourceNotFoundError("GET", path, Answer(404, {}, b"{}")) from error

    def patch(self, path: str = "", data: Any = None, etag: str | None = None, **_: object) -> Answer:
        """PATCH with If-Match. A stale ETag stays refused: stock sushy drops it, and with it other people's updates."""
        headers = {"If-Match": etag} if etag else {}
        return cast("Answer", self._op("PATCH", path, data=data, headers=headers))
