"""Results, kept until the service has them, sent in the order in which they came to be."""

import collections
import threading
from typing import Any

from images.agent.console import Console
from images.agent.session import RefusedError, Session


class Outbox:
    """A queue with a thread that empties it; checks go on while the service is away."""

    def __init__(self, session: Session, console: Console) -> None:
        """Start the thread."""
        self._session = session
        self._console = console
        self._changed = threading.Condition()
        self._results: collections.deque[dict[str, Any]] = collections.deque()
        self._refused: RefusedError | None = None
        threading.Thread(target=self._deliver, name="outbox", daemon=True).start()

    def put(self, result: dict[str, Any]) -> None:
        """Queue one result."""
        with self._changed:
            self._results.append(result)
            self._changed.notify_all()

    def wait_delivered(self) -> None:
        """Wait until the service has everything; raise RefusedError when it refuses this boot."""
        with self._changed:
            self._changed.wait_for(lambda: not self._results or self._refused)
            if self._refused:
                raise self._refused

    def _deliver(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._results)
                result = self._results[0]
            try:
                answer = self._session.call("POST", "/v1/agent/results", result)
            except RefusedError as error:
                with self._changed:
                    self._refused = error
                    self._changed.notify_all()
                return
            if answer.status >= 400:
                # The attempt is closed: the service decides what comes next when it is asked for the plan.
                self._console.say("result refused", item=result["item"], status=answer.status, reason=answer.detail)
            with self._changed:
                self._results.popleft()
                self._changed.notify_all()
