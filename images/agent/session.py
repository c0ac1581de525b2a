"""The agent's standing with the service: registered, and registered again whenever the service forgets it."""

import threading
import time
from typing import Any, NamedTuple

from images.agent.backoff import LONGEST_SECONDS, backoff_seconds
from images.agent.boot_words import BootWords
from images.agent.client import Answer, UnavailableError, exchange
from images.agent.console import Console
from images.agent.secret import Secret

VERSION = "0.1.0"


class Registration(NamedTuple):
    """What the service answered to the registration."""

    secret: Secret
    node: str
    heartbeat_seconds: float


class RefusedError(Exception):
    """The service refuses this boot for good (409): its token belongs to another boot, or the node to another run."""


class Session:
    """Shared by all threads of the agent; calls wait for as long as the service is away."""

    def __init__(self, words: BootWords, root_digest: str, console: Console) -> None:
        """Name who registers; nothing is sent before the first call."""
        self._words = words
        self._root_digest = root_digest
        self._console = console
        self._lock = threading.Lock()
        self._registration: Registration | None = None

    def registration(self) -> Registration:
        """Return the registration, made now if there is none; raise RefusedError."""
        with self._lock:
            if self._registration is None:
                self._registration = self._register()
            return self._registration

    def call(self, method: str, path: str, body: object = None) -> Answer:
        """Send until the service itself answers, for days if need be; raise RefusedError."""
        outage = Outage(self._console, path)
        while True:
            try:
                answer = self.call_once(method, path, body)
            except UnavailableError as error:
                outage.wait(error)
            else:
                outage.end()
                return answer

    def call_once(self, method: str, path: str, body: object = None) -> Answer:
        """Send once, or twice when the session had to be renewed; raise UnavailableError or RefusedError."""
        registration = self.registration()
        answer = exchange(self._words.server, (method, path), body, registration.secret)
        if answer.status != 401:
            return answer
        self._forget(registration)
        answer = exchange(self._words.server, (method, path), body, self.registration().secret)
        if answer.status == 401:
            raise UnavailableError("HTTP 401 right after a registration")
        return answer

    def _forget(self, registration: Registration) -> None:
        with self._lock:
            # Another thread may have registered meanwhile; a newer session is kept.
            if self._registration is registration:
                self._registration = None

    def _register(self) -> Registration:
        words = self._words
        body = {
            "token": words.token.value,
            "boot_id": words.boot_id,
            "image": words.image,
            "root": self._root_digest,
            "version": VERSION,
        }
        outage = Outage(self._console, "register")
        while True:
            try:
                answer = exchange(words.server, ("POST", "/v1/agent/register"), body, None)
                if answer.status == 409:
                    raise RefusedError(answer.detail or "the token is used by another boot")
                registration = _parse_registration(answer)
            except UnavailableError as error:
                outage.wait(error)
            else:
                self._console.hide(registration.secret)
                self._console.say("registered", node=registration.node, boot_id=words.boot_id)
                return registration


class Outage:
    """A time during which one call fails: said once at its beginning and once at its end."""

    def __init__(self, console: Console, what: str) -> None:
        """Nothing has failed yet."""
        self._console = console
        self._what = what
        self._delays = backoff_seconds()
        self._began: float | None = None

    def wait(self, error: UnavailableError) -> None:
        """Sleep before the next try, as long as the server asked for, within the cap."""
        if self._began is None:
            self._began = time.monotonic()
            self._console.say("service unavailable, trying again", call=self._what, reason=error)
        time.sleep(max(next(self._delays), min(error.retry_after_seconds, LONGEST_SECONDS)))

    def end(self) -> None:
        """Say that the call works again, if it had failed."""
        if self._began is not None:
            self._console.say(
                "service answered", call=self._what, after_seconds=round(time.monotonic() - self._began, 1)
            )
            self._began = None


def _parse_registration(answer: Answer) -> Registration:
    if answer.status != 200:
        raise UnavailableError(f"HTTP {answer.status} {answer.detail}")
    document: Any = answer.document
    try:
        secret, node, seconds = document["session"], document["node"], float(document["heartbeat_seconds"])
    except (TypeError, KeyError, ValueError) as error:
        raise UnavailableError("the registration lacks session, node or heartbeat_seconds") from error
    if not (isinstance(secret, str) and secret.isascii() and secret.isprintable() and secret and seconds > 0):
        raise UnavailableError("the registration has an unusable session or heartbeat_seconds")
    return Registration(Secret(secret), str(node), min(max(seconds, 0.05), 300.0))
