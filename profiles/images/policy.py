"""What an image may do by itself: nothing. No upgrades, no telemetry, no connection that nobody listed."""

from typing import Literal

from profiles.fields import Profile, Text
from profiles.images.kinds import Network, Port, Protocol

MUST_BE_MASKED = {
    "unattended_upgrades": ("apt-daily.timer", "apt-daily-upgrade.timer", "unattended-upgrades.service"),
    "telemetry": ("popularity-contest.timer", "motd-news.timer", "motd-news.service"),
}
"""Units that would break each rule; the profile names them among the masked ones, where a reader sees them."""

FORBIDDEN_PACKAGES = {
    "unattended-upgrades": "changes a node that an image describes",
    "popularity-contest": "reports what is installed",
    "apport": "reports crashes to somebody else",
    "whoopsie": "reports crashes to somebody else",
    "ubuntu-report": "reports about the machine",
    "nvidia-dkms": "compiles on the node",
    "dkms": "compiles on the node for whatever kernel runs",
    "gcc": "is a compiler",
    "build-essential": "is a compiler",
}


class EgressRule(Profile):
    """Where the image may connect to. Networks, not names: a name would be as good as who answers for it."""

    cidr: Network
    protocol: Protocol
    port: Port
    why: Text


class Egress(Profile):
    """Everything that is not allowed is refused and counted; the build's network follows the same list."""

    default: Literal["deny"]
    allow: tuple[EgressRule, ...] = ()


class Policy(Profile):
    """One value each: what differs is not an image for this product."""

    unattended_upgrades: Literal["off"]
    telemetry: Literal["off"]
    egress: Egress
