"""What `firstlight discover` says about what it was told."""

from datetime import UTC, datetime, timedelta
from io import StringIO

from rich.console import Console

from provisioner.commands.answers import Discoveries, FoundBmc, Instruction, MissingNode, UnexpectedBmc
from provisioner.commands.discover import discoveries_text

NOW = datetime.now(UTC)
TO_DO = Instruction(owner="operator", where="10.0.0.9:443", what="put it on the list", done_when="it is there")
SAID = {"vendor": "Example", "product": "One", "uuid": "aa"}
TOLD = Discoveries(
    scanned_at=NOW - timedelta(hours=3),
    next_scan_at=NOW + timedelta(hours=1),
    ranges=["10.0.0.0/24"],
    expected=[FoundBmc(address="10.0.0.1", port=443, node="a", **SAID)],
    unexpected=[
        UnexpectedBmc(
            address="10.0.0.9",
            port=443,
            vendor="[red]\x1b[2J",
            product="",
            uuid="bb",
            same_uuid=["a", "b"],
            instruction=TO_DO,
        )
    ],
    missing=[
        MissingNode(node="b", rack="r1", position=2, address="10.0.0.2", port=443, elsewhere=[], instruction=TO_DO)
    ],
)


def text(told: Discoveries) -> list[str]:
    console = Console(file=StringIO(), width=200, highlight=False)
    with console.capture() as captured:
        console.print(discoveries_text(told))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_each_has_a_line_and_an_instruction() -> None:
    """What a BMC calls itself is neither markup nor an escape sequence here."""
    assert text(TOLD) == [
        "address       vendor     product  uuid  is",
        "10.0.0.1:443  Example    One      aa    expected: a",
        "10.0.0.9:443  [red]\N{REPLACEMENT CHARACTER}[2J           bb    unexpected (UUID of a, b)",
        "10.0.0.2:443                            missing: b, rack r1, position 2",
        "",
        "1 expected, 1 unexpected, 1 missing; scanned 3 h ago: 10.0.0.0/24",
        "operator, 10.0.0.9:443: put it on the list",
        "operator, 10.0.0.9:443: put it on the list",
    ]


def test_a_service_that_has_stopped_looking_is_told() -> None:
    """Its last findings may be long over."""
    old = TOLD.model_copy(
        update={"scanned_at": NOW - timedelta(hours=2), "next_scan_at": NOW - timedelta(hours=1, minutes=45)}
    )
    assert "scanned 2 h ago (the next scan is overdue: see the log of the service): " in "\n".join(text(old))


def test_before_the_first_scan_it_says_so() -> None:
    told = Discoveries(scanned_at=None, next_scan_at=None, ranges=[], expected=[], unexpected=[], missing=[])
    assert text(told) == ["the service has not finished a scan yet; does its site.yaml name any discovery.ranges?"]
