"""BMC accounts, which sushy lacks."""

from collections.abc import Callable

from provisioner.errors import NotFound
from provisioner.models.secret import Secret
from provisioner.redfish.channel import Channel
from provisioner.redfish.connector import SingleShotConnector
from provisioner.redfish.reader import Reader
from provisioner.redfish.snapshot import Document, link


async def account_path(reader: Reader, root: Document, channel: Channel, username: str) -> str:
    """Where the account `username` is; what the BMC said at login saves the search, which it may forbid until then."""
    own = channel.credentials and channel.credentials.username == username
    if own and channel.account_path:
        return channel.account_path
    service = await reader.optional(link(root, "AccountService"))
    _, accounts = await reader.members(link(service, "Accounts"))
    for path, account in accounts:
        if account.get("UserName") == username:
            return path
    raise NotFound(f"{channel.address}: no account {username}")


def set_password(path: str, password: Secret) -> Callable[[SingleShotConnector], None]:
    """PATCH the Password of one account, guarded by its ETag where the BMC gives one."""

    def work(connector: SingleShotConnector) -> None:
        etag = connector.get(path).headers.get("ETag")
        connector.patch(path, data={"Password": password.reveal()}, etag=etag)

    return work
