"""The egress policy of an image as a ruleset of nftables."""

import ipaddress
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from profiles.images.debian import DebianImage
from profiles.images.policy import EgressRule

_COMMENT_CHARACTERS = 120  # nft takes 128 bytes
_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    keep_trailing_newline=True,
    autoescape=False,  # noqa: S701 - a ruleset, not a page; words of people are made into plain ASCII
)


def egress_ruleset(image: DebianImage) -> str:
    """Return the file for `nft -f`: loading it again replaces it. Equal policies give equal text."""
    rules = sorted({_order(rule): rule for rule in image.policy.egress.allow}.items())
    return _TEMPLATES.get_template("egress.nft.j2").render(name=image.name, rules=[_words(rule) for _, rule in rules])


def _order(rule: EgressRule) -> tuple[int, int, int, str, int]:
    network = ipaddress.ip_network(rule.cidr)
    return network.version, int(network.network_address), network.prefixlen, rule.protocol, rule.port


def _words(rule: EgressRule) -> dict[str, str | int]:
    return {
        "family": "ip" if ipaddress.ip_network(rule.cidr).version == 4 else "ip6",
        "cidr": rule.cidr,
        "protocol": rule.protocol.value,
        "port": rule.port,
        "why": _plain(rule.why),
    }


def _plain(text: str) -> str:
    """No quotes, no line ends, nothing that nft would read as its own."""
    kept = "".join(one if one.isascii() and (one.isalnum() or one in " -_.,:/()") else "?" for one in text)
    return kept[:_COMMENT_CHARACTERS]
