"""What happens to one machine, told to whoever listens: its logs, its event subscriptions and its open streams."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from emulator.message_registry import Message, find_message

_RECENT = 64  # events that a stream can still get after it was interrupted

Topic = Literal["", "host", "bmc", "gpu"]


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing that happened. `key` is `ResourceEvent.ResourceChanged`, or any MessageId when `text` is given.

    `at`: seconds since the epoch. `topic`: the logs that take it. `sensor`: SensorType of its entry in a SEL.
    """

    number: int
    key: str
    arguments: tuple[str, ...]
    origin: str
    at: float
    topic: Topic = ""
    sensor: str = ""
    text: str = ""
    severity_given: str = ""
    type_given: str = ""

    @property
    def message_id(self) -> str:
        """`ResourceEvent.1.3.ResourceChanged`."""
        return self.key if self.text else find_message(self.key)[0]

    @property
    def registry(self) -> str:
        """The prefix of its registry."""
        return self.key.partition(".")[0]

    @property
    def message(self) -> str:
        """The text for people."""
        return self.text or self._known.filled(self.arguments)

    @property
    def severity(self) -> str:
        """OK, Warning or Critical."""
        return self.severity_given or ("OK" if self.text else self._known.severity)

    @property
    def event_type(self) -> str:
        """EventType as DMTF had it before there were registries."""
        return self.type_given or ("Other" if self.text else self._known.event)

    @property
    def resolution(self) -> str:
        """What to do."""
        return "None." if self.text else self._known.advice

    @property
    def _known(self) -> Message:
        return find_message(self.key)[1]


Listener = Callable[[Notice], None]


class Events:
    """Costs nothing while nothing happens and nobody listens."""

    __slots__ = ("_held", "_last", "_listeners", "_recent", "paused")

    def __init__(self) -> None:
        """Nothing has happened yet."""
        self._last = 0
        self._recent: deque[Notice] | None = None
        self._listeners: tuple[Listener, ...] = ()
        self.paused = False  # while the BMC is away, nobody notices anything but what happens to itself
        self._held: tuple[Notice, ...] = ()

    def listen(self, listener: Listener) -> None:
        """Call `listener` with each notice from now on."""
        self._listeners = (*self._listeners, listener)

    def publish(
        self, key: str, *arguments: str, origin: str = "", topic: Topic = "", sensor: str = "", severity: str = ""
    ) -> None:
        """Tell that `key` of a registry has happened to the resource at `origin`. Raises KeyError for no such key."""
        find_message(key)
        self.tell(Notice(self.next(), key, arguments, origin, time.time(), topic, sensor, severity_given=severity))

    def next(self) -> int:
        """The number of the next notice."""
        self._last += 1
        return self._last

    def tell(self, notice: Notice) -> None:
        """Tell a notice that is complete."""
        if self.paused:
            self._held += (notice,) if notice.topic == "bmc" else ()
            return
        if self._recent is None:
            self._recent = deque(maxlen=_RECENT)
        self._recent.append(notice)
        for listener in self._listeners:
            listener(notice)

    def after(self, number: int) -> list[Notice]:
        """What is still known of what happened after the notice of that number."""
        return [notice for notice in self._recent or () if notice.number > number]

    def pause(self) -> None:
        """The BMC goes away; its buffer is lost."""
        self.paused = True
        self._recent = None

    def resume(self) -> None:
        """The BMC is back and tells what it found when it started."""
        self.paused = False
        held, self._held = self._held, ()
        for notice in held:
            self.tell(notice)
