"""Sessions: one per BMC for all callers (session slots are few), renewed when the BMC has lost it, deleted at the end.

Sessions of others are never touched, also not when all slots are taken.
"""

import re
from urllib.parse import urlsplit

from provisioner.capabilities.leases import HeldLease
from provisioner.errors import AnswerLost, BmcError, BmcRefused, BmcUnreachable, LoginRefused, ResourceGone
from provisioner.models.secret import Credentials, Secret
from provisioner.redfish.answer import Answer, document_of, judge, seen
from provisioner.redfish.channel import Channel
from provisioner.redfish.messages import extended_info, words_of
from provisioner.redfish.redact import redacted
from provisioner.redfish.retry import RetryRule
from provisioner.redfish.snapshot import Document, link
from provisioner.redfish.transport import Transport

ROOT = "/redfish/v1/"
SESSIONS = "/redfish/v1/SessionService/Sessions"
NO_SLOT = re.compile(
    r"session.{0,60}(limit|maximum|exceed)|(limit|maximum|exceed).{0,60}session|CreateLimitReached", re.I
)


class Login:
    """Logs in and out over the asyncio transport."""

    def __init__(self, transport: Transport, rule: RetryRule) -> None:
        """`rule` is for reading the service root; a login is sent once."""
        self._transport = transport
        self._rule = rule

    async def ensure(self, channel: Channel, lease: HeldLease, credentials: Credentials) -> None:
        """Be logged in as `credentials` say; a session made with other ones is given back first.

        Raises `LoginRefused`, `LoginBudgetSpent`, `BmcUnreachable`, `CertificateChanged`.
        """
        if channel.logged_in and channel.credentials == credentials:
            return
        if channel.logged_in:
            await self.log_out(channel)
        with redacted(credentials.password.reveal()):
            await self._log_in(channel, lease, credentials)

    async def log_out(self, channel: Channel) -> None:
        """Delete the session; a BMC that does not answer will end it by itself."""
        path, headers = channel.session_path, channel.headers()
        channel.forget()
        channel.session.close()
        if path:
            try:
                await self._transport.write(channel.address, channel.trust, "DELETE", path, headers=headers, kept=True)
            except BmcError:
                return

    async def _log_in(self, channel: Channel, lease: HeldLease, credentials: Credentials) -> None:
        root = await self._root(channel, lease)
        sessions = link(root, "Links", "Sessions") or (SESSIONS if link(root, "SessionService") else None)
        async with lease.login(credentials.username), lease.request():
            if sessions:
                await self._open_session(channel, credentials, sessions)
            else:
                await self._try_basic(channel, credentials, link(root, "Systems"))

    async def _root(self, channel: Channel, lease: HeldLease) -> Document:
        async def read() -> Document:
            async with lease.request():
                answer = await self._transport.read(channel.address, channel.trust, ROOT)
            judge(str(channel.address), "GET", ROOT, answer)
            return document_of(str(channel.address), ROOT, answer)

        try:
            return await self._rule.read_async(read)
        except (ResourceGone, BmcRefused, LoginRefused) as error:
            raise BmcUnreachable(error.bmc, f"no service root: {error.message}") from error

    async def _open_session(self, channel: Channel, credentials: Credentials, path: str) -> None:
        body = {"UserName": credentials.username, "Password": credentials.password.reveal()}
        bmc = str(channel.address)
        try:
            answer = await self._transport.write(channel.address, channel.trust, "POST", path, json=body, kept=True)
            _judge_login(bmc, path, answer)
        except AnswerLost as error:  # at worst a session that times out by itself
            raise BmcUnreachable(bmc, error.message) from error
        token = answer.headers.get("X-Auth-Token")
        if not token:
            raise BmcUnreachable(bmc, f"POST {path}: {answer.status_code} without X-Auth-Token")
        channel.accept(credentials, Secret(token), _session_path(answer))
        channel.must_change_password, channel.account_path = _password_must_change(answer)

    async def _try_basic(self, channel: Channel, credentials: Credentials, path: str | None) -> None:
        """Without a SessionService every request carries the password; the first one shows whether it is right."""
        channel.accept(credentials, None, None)
        try:
            answer = await self._transport.read(
                channel.address, channel.trust, path or "/redfish/v1/Systems", headers=channel.headers()
            )
            if answer.status_code == 401:
                raise LoginRefused(str(channel.address), f"401 {words_of(answer.content)}".rstrip())
        except BmcError:
            channel.forget()
            raise


def _judge_login(bmc: str, path: str, answer: Answer) -> None:
    """iLO answers 400 to a wrong password, iDRAC 400 to a full session table: any unclear no counts as a refusal."""
    words = words_of(answer.content)
    status = answer.status_code
    if 400 <= status < 500 and NO_SLOT.search(f"{words} {answer.text[:2000]}"):
        raise BmcUnreachable(bmc, f"POST {path}: all sessions of the BMC are taken: {words}")
    if status in {400, 401, 403}:
        raise LoginRefused(bmc, f"POST {path}: {status} {words or seen(answer.content)}")
    try:
        judge(bmc, "POST", path, answer)
    except (ResourceGone, BmcRefused) as error:
        raise BmcUnreachable(bmc, error.message) from error


def _session_path(answer: Answer) -> str | None:
    location = answer.headers.get("Location")
    if location:
        return urlsplit(location).path or None
    try:
        return link(answer.json())
    except ValueError:
        return None


def _password_must_change(answer: Answer) -> tuple[bool, str | None]:
    """DSP0266 "Password change required": whether it is, and the account's URI, which the message should name."""
    try:
        body = answer.json()
    except ValueError:
        return False, None
    for info in extended_info(body):
        if "PasswordChangeRequired" in str(info.get("MessageId")):
            arguments = info.get("MessageArgs")
            path = arguments[0] if isinstance(arguments, list) and arguments else None
            return True, path if isinstance(path, str) and path.startswith("/") else None
    return False, None
