"""How often those may look who look again and again: all of them together take a bounded share of a core."""

_SHORTEST_SECONDS = 0.5  # of the wall clock
_SECONDS_EACH = 0.01  # of the wall clock, for each that looks; one look at all sensors of a server takes 1 to 2 ms


class Pace:
    """Shared by all machines; `lookers` is how many look now."""

    __slots__ = ("lookers",)

    def __init__(self) -> None:
        """Nobody looks."""
        self.lookers = 0

    def pause(self, wanted: float) -> float:
        """How long to wait before the next look, in seconds of the wall clock; `wanted` where that is long enough."""
        return max(_SHORTEST_SECONDS, self.lookers * _SECONDS_EACH, wanted)
