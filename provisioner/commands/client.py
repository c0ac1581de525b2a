"""The API of a running service, for commands. It sends a token to the address that it was given, and nowhere else."""

import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import orjson
import typer
from pydantic import BaseModel, ValidationError

from provisioner.client.exchange import Exchange, NobodyAnswersError, Patience
from provisioner.client.problem import Problem, problem_error
from provisioner.commands.answers import (
    Discoveries,
    Explanation,
    FirmwareUpdates,
    NodeDetail,
    NodeLine,
    NodePage,
    Plan,
)
from provisioner.errors import BadInput, FirstlightError
from provisioner.models.secret import Secret
from provisioner.settings import Environment

DataDir = Annotated[
    Path, typer.Option("--data-dir", envvar="FIRSTLIGHT_DATA_DIR", help="Where the service keeps its files.")
]
Url = Annotated[
    str | None, typer.Option("--url", envvar="FIRSTLIGHT_URL", help="Of the API; else as in the data directory.")
]
HERE = Path("firstlight-data")

_START = "start it with `firstlight serve --config site.yaml` or `firstlight demo`, or name another with --url"

T = TypeVar("T", bound=BaseModel)


def connect(data_dir: Path, url: str | None) -> "Client":
    """The client for a data directory, or for `url`. Raises `FirstlightError` when there is nothing to connect to."""
    address = url or _line(data_dir / "endpoint", f"no service has been started there: {_START}")
    environment = Environment()
    token = environment.secret_token or Secret(
        _line(data_dir / "admin-token", "no token: set FIRSTLIGHT_TOKEN, or name the service's --data-dir")
    )
    if urlsplit(address).scheme not in {"http", "https"} or not urlsplit(address).hostname:
        raise BadInput(f"--url {address}: write http://HOST:PORT")
    return Client(address.rstrip("/"), token)


@dataclass(frozen=True, slots=True)
class Client:
    """One exchange per call. Reads and POSTs whose answer is lost are sent again, the latter under their key.

    Everything that goes wrong is a `FirstlightError` of one line, a `NotFound` where nothing is there.
    """

    url: str
    token: Secret

    def nodes(self, query: dict[str, str]) -> list[NodeLine]:
        """Every node that fits, by rack and position."""
        found: list[NodeLine] = []
        cursor: str | None = None
        while True:
            pairs = {**query, "limit": "500", **({"cursor": cursor} if cursor else {})}
            page = self.ask("GET", f"/v1/nodes?{urlencode(pairs)}", NodePage)
            found += page.nodes
            cursor = page.next
            if cursor is None:
                return found

    def node(self, name: str) -> NodeDetail:
        """Everything about one."""
        return self.ask("GET", _path(name), NodeDetail)

    def why(self, name: str) -> Explanation:
        """Why it is where it is."""
        return self.ask("GET", _path(name, "why"), Explanation)

    def plan(self, name: str) -> Plan:
        """What would be done to it."""
        return self.ask("GET", _path(name, "plan"), Plan)

    def firmware_updates(self, name: str) -> FirmwareUpdates:
        """What was done to its firmware."""
        return self.ask("GET", _path(name, "firmware"), FirmwareUpdates)

    def hold(self, name: str, reason: str) -> NodeLine:
        """Stop it where it is."""
        return self.ask("POST", _path(name, "hold"), NodeLine, {"reason": reason})

    def release(self, name: str) -> NodeLine:
        """Let it go on."""
        return self.ask("POST", _path(name, "release"), NodeLine)

    def reimage(self, name: str, release: str) -> NodeLine:
        """Give it another release."""
        return self.ask("POST", _path(name, "reimage"), NodeLine, {"release": release})

    def hand_over(self, name: str) -> NodeLine:
        """Into production."""
        return self.ask("POST", _path(name, "hand-over"), NodeLine)

    def take_back(self, name: str) -> NodeLine:
        """Out of production."""
        return self.ask("POST", _path(name, "take-back"), NodeLine)

    def password(self, name: str, username: str, password: Secret) -> NodeLine:
        """Tell its BMC's password."""
        body = {"username": username, "password": password.reveal()}
        return self.ask("POST", _path(name, "password"), NodeLine, body)

    def trust(self, name: str) -> NodeLine:
        """Accept its BMC's new certificate."""
        return self.ask("POST", _path(name, "trust"), NodeLine)

    def discoveries(self) -> Discoveries:
        """What the last scan means for the nodes, expected BMCs included."""
        return self.ask("GET", "/v1/discoveries?expected=true", Discoveries)

    def answers(self) -> bool:
        """A service is there; whether it is well does not matter."""
        try:
            Exchange(self.url, self.token, Patience(tries=1)).send("GET", "/healthz", None)
        except FirstlightError:
            return False
        return True

    def ask(
        self,
        method: str,
        path: str,
        answer: type[T],
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> T:
        """One exchange, for the commands with answers of their own. Raises `FirstlightError`."""
        sent = orjson.dumps(body) if body is not None else None
        status, content = self._exchange(method, path, sent, headers or {})
        return self._read(status, content, answer)

    def tell(self, method: str, path: str) -> None:
        """One exchange that is answered with nothing. Raises `FirstlightError`."""
        status, content = self._exchange(method, path, None, {})
        if status != http.client.NO_CONTENT:
            self._read(status, content, Problem)

    def _read(self, status: int, content: bytes, answer: type[T]) -> T:
        try:
            if status >= 400:
                raise problem_error(status, content)
            return answer.model_validate_json(content)
        except ValidationError as error:
            raise FirstlightError(f"{self.url}: answers {status}, but not as Firstlight does: is it one?") from error

    def _exchange(self, method: str, path: str, content: bytes | None, more: Mapping[str, str]) -> tuple[int, bytes]:
        try:
            answer = Exchange(self.url, self.token).send(method, path, content, more)
        except NobodyAnswersError as error:
            raise FirstlightError(f"{error}; {_START}" if "no service" in str(error) else str(error)) from error
        return answer.status, answer.content


def _path(name: str, what: str = "") -> str:
    return f"/v1/nodes/{quote(name, safe='')}" + (f"/{what}" if what else "")


def _line(path: Path, absent: str) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError as error:
        raise FirstlightError(f"{path}: {absent}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise FirstlightError(f"{path}: cannot be read: {error}") from error
