"""What a node boots now, with which words, and how it is told to."""

from datetime import timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from images.digest import digest_of
from images.manifest import Artefact, Bootable, ImageManifest
from provisioner.boot.answer import Answer, BootImage, Discover, LeaveNetworkBoot, Question, answer
from provisioner.boot.choose import choose_methods
from provisioner.boot.words import image_words, node_words
from provisioner.models.boot import BootFailure, BootMethod, BootTicket, Caller, FailureKind
from provisioner.models.inventory import BootAbilities
from provisioner.models.lifecycle import State
from provisioner.models.node import Node
from provisioner.models.secret import Secret
from tests.pure.samples import NOW, hold, node, ticket

UNUSED, USED = ticket(), ticket(boot_id="boot-1")
URI = Secret("http://site/boot/key/boot.efi")
STRANGER = Caller(uuid="u", serial="s", mac="52:54:00:00:00:01")
INSTALLS = {State.BOOTING, State.BURNING_IN}

BY_KEY, BY_IDENTITY, BY_INITRD = (
    Question(key=Secret("key")),
    Question(caller=STRANGER),
    Question(image="sha256:i", caller=STRANGER),
)
QUESTIONS = {"by key": BY_KEY, "by identity or address": BY_IDENTITY, "by the initrd": BY_INITRD}

failures = st.builds(BootFailure, st.sampled_from(FailureKind), st.just("why"), st.just(NOW), st.integers(0, 40))
tickets = st.none() | st.builds(
    ticket,
    boot_id=st.none() | st.just("boot-1"),
    key=st.sampled_from([Secret("key"), Secret("another")]),
    image=st.sampled_from(["sha256:i", "sha256:another"]),
    served=st.integers(0, 40),
    most_served=st.sampled_from([12, 24, 36]),
    failures=st.lists(failures, max_size=3).map(tuple),
)
nodes = st.none() | st.builds(
    node,
    st.sampled_from(State),
    hold=st.none() | st.builds(hold),
    generation=st.integers(1, 2),
    attempt=st.integers(1, 2),
)


@given(st.sampled_from(list(QUESTIONS.values())), nodes, tickets)
def test_an_image_is_for_a_node_that_installs_with_an_open_ticket_of_this_attempt(
    question: Question, one: Node | None, latest: BootTicket | None
) -> None:
    """One in production never boots into a burn-in by accident, whatever asks, and for whomever."""
    decided = answer(question, one, latest)
    if not isinstance(decided, BootImage):
        assert isinstance(decided, Discover) == (one is None and question.key is None)
        assert isinstance(decided, Discover) or decided.reason
        return
    assert one is not None
    assert decided.ticket is latest
    assert (one.state in INSTALLS, one.hold) == (True, None)
    assert (latest.generation, latest.attempt, latest.boot_id) == (one.generation, one.attempt, None)
    assert question.key in {None, latest.key}
    assert question.image in {None, latest.image}
    assert not any(failure.is_final for failure in latest.failures)
    assert question.image is not None or latest.served < latest.most_served


@given(st.sampled_from(list(QUESTIONS.values())), nodes, tickets, st.integers(1, 40))
def test_being_asked_and_served_changes_no_answer_until_the_limit(
    question: Question, one: Node | None, latest: BootTicket | None, times: int
) -> None:
    """Firmware asks again and again; only the node's own report uses the permission up, or a loop ends it."""
    first = _kind(answer(question, one, latest))
    for number in range(times):
        if latest is None:
            now = answer(question, one, latest)
        else:
            within = min(latest.served + number, max(latest.most_served - 1, latest.served))
            now = answer(question, one, _served(latest, within))
        assert _kind(now) == first


def _kind(decided: Answer) -> type:
    return type(decided)


def _served(one: BootTicket, times: int) -> BootTicket:
    return ticket(
        **{name: getattr(one, name) for name in ("boot_id", "key", "image", "most_served", "failures")},
        served=times,
        asked=times,
        programs=times,
    )


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("state", "one"), list(product(State, [None, UNUSED, USED])))
def test_every_state_with_every_protocol(question: str, state: State, one: BootTicket | None) -> None:
    installs = state in INSTALLS and one is UNUSED
    assert isinstance(answer(QUESTIONS[question], node(state), one), BootImage) == installs


@pytest.mark.parametrize(("state", "one"), list(product(State, [None, UNUSED, USED])))
def test_a_held_node_never_gets_an_image(state: State, one: BootTicket | None) -> None:
    """Also where a hold and the state that it is in contradict each other."""
    decided = answer(BY_IDENTITY, node(state, hold=hold()), one)
    assert decided == LeaveNetworkBoot("held: broken")


def test_a_stranger_is_noted_and_a_wrong_key_is_not() -> None:
    """A key is no identity: whoever guesses one is nobody."""
    assert answer(BY_IDENTITY, None, None) == Discover(STRANGER)
    assert answer(BY_KEY, None, None) == LeaveNetworkBoot("this boot address is not known")


def test_a_node_that_restarts_for_ever_is_not_served_for_ever() -> None:
    """A root that dm-verity finds damaged late, with a BMC that keeps its override."""
    booting = node(State.BOOTING)
    assert isinstance(answer(BY_KEY, booting, ticket(served=11)), BootImage)
    decided = answer(BY_KEY, booting, ticket(served=12))
    assert isinstance(decided, LeaveNetworkBoot)
    assert "served 12 times" in decided.reason
    assert isinstance(answer(BY_INITRD, booting, ticket(served=12)), BootImage), "of the boot that was the last one"


@pytest.mark.parametrize("kind", FailureKind)
def test_after_a_failure_that_no_other_try_mends_nothing_is_served(kind: FailureKind) -> None:
    failure = BootFailure(kind, "root is not sha256:r", NOW + timedelta(minutes=1), 1)
    decided = answer(BY_KEY, node(State.BOOTING), ticket(served=1, failures=(failure,)))
    passes = kind in {FailureKind.FETCH, FailureKind.NETWORK}
    assert isinstance(decided, BootImage) == passes
    assert passes or decided == LeaveNetworkBoot(f"its last boot failed ({kind}): root is not sha256:r")


def test_the_initrd_of_another_image_gets_no_words() -> None:
    """A program that was kept by a cache, or an older one that a BMC fetched."""
    decided = answer(Question(image="sha256:older"), node(State.BOOTING), UNUSED)
    assert isinstance(decided, LeaveNetworkBoot)
    assert "of image sha256:older" in decided.reason


ROOT, KERNEL = (Artefact(role, digest_of(role.encode()), 1) for role in ("root", "kernel"))
AGENT = ImageManifest("agent", "x86_64", (ROOT,))


def bootable(method: str = "uki_http") -> ImageManifest:
    """An image with a kernel."""
    words = ("boot=firstlight", "ip=dhcp", "console=ttyS0")
    return ImageManifest(
        "debian", "x86_64", (ROOT, KERNEL), Bootable("6.1.0-1", words, "ab" * 32, 4096, 512, method, secure_boot=False)
    )


def test_the_words_of_an_image_come_behind_those_of_its_profile_and_mirrors_before_the_server_is_asked() -> None:
    image = bootable()
    assert image_words(image, "http://site", ("http://near/", "http://far")) == (
        "boot=firstlight",
        "ip=dhcp",
        "console=ttyS0",
        "firstlight.server=http://site",
        f"firstlight.image={image.digest}",
        f"firstlight.root={ROOT.digest}",
        f"firstlight.verity={'ab' * 32}",
        "firstlight.verity_offset=4096",
        "firstlight.overlay_mib=512",
        "firstlight.mirror=http://near",
        "firstlight.mirror=http://far",
    )


def test_the_bare_agent_has_no_kernel_to_tell_of() -> None:
    assert image_words(AGENT, "http://site", ("http://near",)) == (
        "firstlight.server=http://site",
        f"firstlight.image={AGENT.digest}",
        f"firstlight.root={ROOT.digest}",
    )


def test_only_the_words_of_one_node_hold_its_token() -> None:
    """Programs are the same for all nodes, and anybody may fetch them."""
    assert node_words(UNUSED) == ("firstlight.node=r01-u01", "firstlight.token=token")
    assert not any("token" in word or "node" in word for word in image_words(bootable(), "http://site", ()))


HTTP, PXE = BootMethod("UefiHttp", URI), BootMethod("Pxe", None)


@pytest.mark.parametrize(
    ("targets", "http_boot_uri", "methods"),
    [
        (("None", "Pxe", "UefiHttp"), True, (HTTP, PXE)),
        (("None", "Pxe", "UefiHttp"), False, (PXE,)),
        (("UefiHttp",), False, ()),
        (("None", "Pxe"), True, (PXE,)),
        (("None", "Hdd"), True, ()),
        ((), True, (HTTP, PXE)),
        ((), False, (PXE,)),
    ],
)
def test_http_boot_first_where_somebody_can_say_what_to_fetch(
    targets: tuple[str, ...], http_boot_uri: bool, methods: tuple[BootMethod, ...]
) -> None:
    """UefiHttp among the targets is not enough: without HttpBootUri nobody can say what."""
    abilities = BootAbilities(targets, http_boot_uri)
    assert choose_methods(abilities, bootable(), URI) == methods
    assert choose_methods(abilities, bootable("ipxe"), URI) == methods[::-1]
    assert choose_methods(abilities, bootable(), None) == tuple(one for one in methods if one is PXE or one == PXE)
