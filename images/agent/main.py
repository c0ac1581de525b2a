"""The burn-in agent: register, pull the plan, run it, deliver the results, ask again. The service holds all state."""

import hashlib
import signal
import sys
import time
from pathlib import Path
from typing import Any

from images.agent.backoff import jittered
from images.agent.boot_words import BootWords, BootWordsError, parse_boot_words, read_boot_words
from images.agent.console import Console
from images.agent.heartbeat import start_heartbeat
from images.agent.host import secure_boot, tpm
from images.agent.item import run_item
from images.agent.outbox import Outbox
from images.agent.plan import NOTHING, Plan, PlanError, parse_plan
from images.agent.session import RefusedError, Session
from images.agent.vitals import Vitals

EXIT_BOOT_WORDS = 2
EXIT_REFUSED = 3
_FIRST_PAUSE_SECONDS = 0.25  # a plan follows soon after a boot; later, nobody is in a hurry


def main(arguments: list[str]) -> int:
    """Run until the power goes or the service refuses this boot; return the exit code."""
    signal.signal(signal.SIGTERM, _end)
    archive = Path(sys.argv[0]).resolve()
    try:
        words = parse_boot_words(arguments or read_boot_words(), _kernel_boot_id())
    except BootWordsError as error:
        Console().say("cannot start", reason=error)
        return EXIT_BOOT_WORDS
    console = Console(words.token)
    console.say("started", secure_boot=secure_boot(), tpm=tpm())
    try:
        _serve(words, archive, console)
    except RefusedError as error:
        console.say("refused by the service, ending", reason=error)
        return EXIT_REFUSED
    return 0


def _serve(words: BootWords, archive: Path, console: Console) -> None:
    session = Session(words, words.verified_root or _digest(archive), console)
    session.registration()
    vitals = Vitals(words.boot_id)
    outbox = Outbox(session, console)
    start_heartbeat(session, vitals)
    pause = _FIRST_PAUSE_SECONDS
    while True:
        plan = _next_plan(session, console)
        for item in plan.items:
            console.say("item started", item=item.id, kind=item.kind)
            result = run_item(str(archive), plan, item, vitals)
            console.say("item ended", item=item.id, status=result["status"])
            outbox.put(result)
        outbox.wait_delivered()
        pause = min(2 * pause, session.registration().heartbeat_seconds)
        time.sleep(jittered(pause))


def _next_plan(session: Session, console: Console) -> Plan:
    """Return what is left to do; a plan without items where that is nothing now."""
    answer = session.call("GET", "/v1/agent/plan")
    if answer.status == 409:
        raise RefusedError(answer.detail)
    if answer.status == 204:
        return NOTHING
    document: Any = answer.document
    try:
        return parse_plan(document)
    except PlanError as error:
        console.say("plan not understood, asking again later", status=answer.status, reason=error)
        return NOTHING


def _digest(archive: Path) -> str:
    """Return the digest of what runs where no initrd checked a root: the archive itself."""
    return f"sha256:{hashlib.sha256(archive.read_bytes()).hexdigest()}"


def _kernel_boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def _end(_number: int, _frame: object) -> None:
    """End in an orderly way, so that a running check ends too."""
    sys.exit(0)
