"""iPXE scripts, as https://ipxe.org/scripting and ipxe/ipxe src/core/exec.c say they run."""

import asyncio
import contextlib
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.netboot.boot_error import BootError
from emulator.netboot.fetch import File
from emulator.netboot.identity import Identity
from emulator.netboot.image import read_efi
from emulator.netboot.ipxe import Boot, Ipxe
from emulator.netboot.ipxe_commands import COMMANDS
from emulator.netboot.ipxe_settings import Settings
from tests.emulator.efi import build_efi

HOST = Identity(
    uuid="01234567-89ab-cdef-0123-456789abcdef",
    serial="S 1/2",
    mac="3C:EC:EF:00:0A:0B",
    ip="10.20.1.2",
    arch="arm64",
    platform="efi",
    manufacturer="Maker",
    product="Model",
)
BASE = "http://boot.example/a/first.ipxe"


@dataclass
class Web:
    """Files by address; keeps what was asked for, and how long scripts slept."""

    files: dict[str, str]
    asked: list[str] = field(default_factory=list)
    slept: list[float] = field(default_factory=list)

    async def fetch(self, url: str) -> File:
        self.asked.append(url)
        if url not in self.files:
            raise BootError(f"{url} answered 404")
        return File(url, "", "sha256:0", self.files[url].encode())

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def run(
    script: str, files: dict[str, str] | None = None, *, failures_wait: bool = True
) -> tuple[Boot | File | None, Web]:
    web = Web({"http://boot.example/a/k": "kernel", **(files or {})})
    ipxe = Ipxe(web.fetch, web.sleep, Settings(HOST), dict(COMMANDS), pause=0.05 if failures_wait else 0.0)
    first = File(BASE, "", "sha256:0", f"#!ipxe\n{script}\n".encode())
    return asyncio.run(ipxe.run(first)), web


def words_of(script: str, files: dict[str, str] | None = None) -> tuple[str, ...]:
    outcome, _ = run(script, files)
    assert isinstance(outcome, Boot)
    return outcome.words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${net0/mac}", "3c:ec:ef:00:0a:0b"),
        ("${netX/mac:hexhyp}", "3c-ec-ef-00-0a-0b"),
        ("${mac:hexraw}", "3cecef000a0b"),
        ("${uuid}", "01234567-89ab-cdef-0123-456789abcdef"),
        ("${uuid:guid}", "67452301-ab89-efcd-0123-456789abcdef"),
        ("${serial:uristring}", "S%201%2F2"),
        ("${smbios/manufacturer}", "Maker"),
        ("${buildarch}-${platform}", "arm64-efi"),
        ("${net0/ip}", "10.20.1.2"),
        ("x${nothing}y", "xy"),
        ("${${which}}", "10.20.1.2"),
        ("${number:int8}", "7"),
    ],
)
def test_settings_are_expanded_as_their_type_says(text: str, expected: str) -> None:
    """https://ipxe.org/cfg and https://ipxe.org/appnote/uuid_byte_ordering (names of types)."""
    assert words_of(f"set which ip\nset number:int8 7\nkernel k {text}\nboot") == (expected,)


def test_value_with_spaces_stays_one_argument() -> None:
    """exec.c: tokens are split before they are expanded."""
    outcome, web = run("set path a b\nchain http://boot.example/${path} || kernel k\nboot")
    assert web.asked[0] == "http://boot.example/a b"
    assert isinstance(outcome, Boot)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("isset ${serial} && set x yes || set x no", "yes"),
        ("isset ${asset} && set x yes || set x no", "no"),
        ("iseq ${platform} efi && set x yes || set x no", "yes"),
        ("set x first ; set x second # set x third", "second"),
        ("chain missing || chain alsomissing || set x rescued", "rescued"),
        ("set x 5\ninc x 3", "8"),
        ("goto on\nset x skipped\n:on\nisset ${x} || set x jumped", "jumped"),
        ("menu Choose\nitem one First\nitem two Second\nchoose --default two --timeout 3000 x", "two"),
        ("cpuid --ext 29 && set x amd64 || set x other", "other"),
    ],
)
def test_commands_are_joined_by_success_and_failure(script: str, expected: str) -> None:
    """exec.c: each command runs if the status of the one before says so."""
    assert words_of(f"{script}\nkernel k ${{x}}\nboot") == (expected,)


def test_chained_script_shares_settings_and_comes_back_by_exit() -> None:
    """https://ipxe.org/cmd/exit: back to the caller."""
    files = {"http://boot.example/a/sub/two.ipxe": "#!ipxe\nset x told\nimgfetch ../other\nexit\nset x never"}
    files["http://boot.example/a/other"] = "data"
    outcome, web = run("chain --autofree sub/two.ipxe\nkernel k ${x}\nboot", files)
    assert isinstance(outcome, Boot)
    assert outcome.words == ("told",)
    assert [one.url for one in outcome.images] == ["http://boot.example/a/k", "http://boot.example/a/other"]
    assert web.asked[1] == "http://boot.example/a/other"


def test_retry_loop_boots_when_the_server_is_back() -> None:
    """The loop that every deployment has."""
    script = "set tries 0\n:again\ninc tries\niseq ${tries} 4 && goto on ||\nchain gone || sleep 5 && goto again\n"
    outcome, web = run(f"{script}:on\nkernel k tries=${{tries}}\nboot")
    assert isinstance(outcome, Boot)
    assert outcome.words == ("tries=4",)
    assert web.slept == [5, 5, 5]


@pytest.mark.parametrize(
    "script",
    [
        "imgfetch --name linux k\nimgargs linux a b\nboot linux",
        "imgfetch --name linux k\nimgselect linux a b\nboot",
        "imgfetch -n linux k\nimgexec linux a b",
        "kernel --name=linux k x\nimgfree\nkernel k a b\nboot",
        "module k\nboot k a b",
    ],
)
def test_image_in_memory_is_booted_by_its_name(script: str) -> None:
    """https://ipxe.org/cmd/imgselect, imgargs, imgexec."""
    assert words_of(script) == ("a", "b")


_WORDS = st.sampled_from(
    [
        *COMMANDS,
        "||",
        "&&",
        ";",
        "#",
        "${a}",
        "${",
        "}",
        "${net0/mac:hexraw}",
        "k",
        "gone",
        ":l",
        "l",
        "-1",
        "--name",
        "\0",
    ]
)


@given(st.lists(st.lists(_WORDS | st.text(max_size=8), max_size=6), max_size=12))
@settings(max_examples=150, deadline=None)
def test_no_script_does_more_than_boot_leave_or_fail(lines: list[list[str]]) -> None:
    """What a boot service answers is input."""
    with contextlib.suppress(BootError):
        run("\n".join(" ".join(words) for words in lines), failures_wait=False)


@given(st.binary(max_size=300))
@settings(deadline=None)
def test_no_file_breaks_the_reading_of_efi_binaries(content: bytes) -> None:
    """Headers point anywhere."""
    for whole in (b"MZ" + content, build_efi(sections={".cmdline": content})[: len(content) + 200]):
        with contextlib.suppress(BootError):
            read_efi(File(BASE, "", "sha256:0", whole))


def test_exit_leaves_network_boot() -> None:
    """The next boot device follows."""
    assert run("exit")[0] is None
    assert run("exit 1")[0] is None
    assert run("sanboot --no-describe --drive 0x80")[0] is None


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("kernel k", "ended with neither boot nor exit"),
        ("boot", "no kernel was selected"),
        ("kernel missing\nboot", "answered 404"),
        ("frobnicate", "no command 'frobnicate'"),
        ("goto nowhere", "no label 'nowhere'"),
        (":for\ngoto for", "2000 steps"),
        ("chain first.ipxe", "answered 404"),
        ("chain k", "Exec format error"),
        ("chain http://[", "is no address"),
        ("shell", "waits for a person"),
        ("prompt Press a key", "nobody is there"),
        ("echo ${serial:odd}", "no type odd"),
    ],
)
def test_script_that_boots_nothing_says_why(script: str, reason: str) -> None:
    """Bounded, and named."""
    with pytest.raises(BootError, match=reason):
        run(script)


def test_scripts_that_chain_themselves_end() -> None:
    """A loop over the network is bounded by its depth."""
    with pytest.raises(BootError, match="more than 16 deep"):
        run("chain two", {"http://boot.example/a/two": "#!ipxe\nchain two"})


def test_settings_that_grow_without_end_are_refused() -> None:
    """Memory of the emulator is everybody's."""
    with pytest.raises(BootError, match=r"more than|longer than"):
        run("set a aaaaaaaaaa\n:more\nset a ${a}${a}${a}${a}\ngoto more")
