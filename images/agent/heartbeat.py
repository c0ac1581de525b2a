"""Sign of life, from a thread of its own: a busy check never delays it."""

import contextlib
import threading
import time

from images.agent.backoff import jittered
from images.agent.client import UnavailableError
from images.agent.session import RefusedError, Session
from images.agent.vitals import Vitals


def start_heartbeat(session: Session, vitals: Vitals) -> None:
    """Send a heartbeat at about the period that the service asked for, until the process ends."""
    threading.Thread(target=_beat, args=(session, vitals), name="heartbeat", daemon=True).start()


def _beat(session: Session, vitals: Vitals) -> None:
    try:
        while True:
            # A lost one is not repeated: the next heartbeat says more.
            with contextlib.suppress(UnavailableError):
                session.call_once("POST", "/v1/agent/heartbeats", vitals.next_heartbeat())
            time.sleep(jittered(session.registration().heartbeat_seconds))
    except RefusedError:
        return  # The main thread meets the same refusal at its next call and says why.
