"""The command line: files that it writes, and what it says of files that are wrong."""

import hashlib
import json
import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from emulator.errors import ConfigError
from emulator.persona.load import PERSONAS
from emulator.persona.persona import Persona
from emulator.strict_yaml import load_yaml

ROOT = Path(__file__).parents[2]
HGX = "{name: a, address: 127.99.1.1, persona: hgx-h100, serial: S1, uuid: 6ec9d286-63ca-428d-95f4-b3b2e4b06ce6"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "emulator", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=ROOT, env=dict(os.environ))


def test_fleet_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    """Mixed personas take turns in each rack."""
    for name in ("one", "two"):
        personas = "hgx-h100,dell-xe9680,gb200-compute-tray"
        assert (
            run(
                "fleet", "--racks", "2", "--trays", "4", "--persona", personas, "--out", str(tmp_path / name)
            ).returncode
            == 0
        )
    assert (tmp_path / "one/fleet.yaml").read_bytes() == (tmp_path / "two/fleet.yaml").read_bytes()
    bmcs = yaml.safe_load((tmp_path / "one/fleet.yaml").read_text())["bmcs"]
    assert [bmc["persona"] for bmc in bmcs[:4]] == [*personas.split(","), "hgx-h100"]
    assert len({bmc["serial"] for bmc in bmcs} | {bmc["uuid"] for bmc in bmcs}) == 16
    nodes = yaml.safe_load((tmp_path / "one/expected.yaml").read_text())["nodes"]
    assert nodes[2]["factory_password"] == "0penBmc"
    assert (tmp_path / "one/expected.csv").read_text().startswith("name,rack,position,bmc_address,bmc_port,serial,")


def test_firmware_packages_are_the_same_everywhere(tmp_path: Path) -> None:
    """A digest that was taken on another machine."""
    assert run("firmware", "--out", str(tmp_path)).returncode == 0
    content = (tmp_path / "hgx-h100/bmc-11.03.18.fw").read_bytes()
    header = b'EMUFW1\n{"component":"bmc","hardware":"hgx-h100","version":"11.03.18"}\n'
    assert content.startswith(header)
    assert len(content) == 262144
    digest = "1da5467fd82733cd4eec3cb034b693bd1a5fe07c3df4ceb558db32b0ed2eede5"
    assert hashlib.sha256(content).hexdigest() == digest


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"bmcs:\n  - {HGX}}}\nsped: 3\n", "fleet.yaml:3: sped: unknown field; did you mean 'speed'?"),
        (f"bmcs:\n  - {HGX}, faults: [silence]}}\n", "unknown fault 'silence'; did you mean 'silent'?"),
        (
            f"bmcs:\n  - {HGX},\n     faults: [silent,\n       {{slow-answers: {{secs: 1}}}}]}}\n",
            "fleet.yaml:4: bmcs.0.faults.1: slow-answers: unknown argument 'secs'; did you mean 'seconds'?",
        ),
        (f"bmcs:\n  - {HGX}}}\n  - {HGX}}}\n", "fleet.yaml:3: bmcs.1.name: name a is used by two BMCs"),
        (
            f"bmcs:\n  - {HGX}}}\n  - {HGX.replace('name: a', 'name: b')}}}\n",
            "fleet.yaml:3: bmcs.1.address: address 127.99.1.1 is used by two BMCs",
        ),
        (
            f"admin_port: 8443\nbmcs:\n  - {HGX}}}\n",
            "fleet.yaml:1: admin_port: 8443 is the port of the BMCs already",
        ),
        (
            f"fault_rates:\n  - {{fault: silent, share: 0.1}}\n  - {{fault: silnt, share: 0.1}}\nbmcs:\n  - {HGX}}}\n",
            "fleet.yaml:3: fault_rates.1.fault: unknown fault 'silnt'; did you mean 'silent'?",
        ),
        (
            f"fault_rates:\n  - fault: silent\n    share: 2\nbmcs:\n  - {HGX}}}\n",
            "fleet.yaml:3: fault_rates.0.share: Input should be less than or equal to 1",
        ),
        (
            f"bmcs:\n  - {HGX}}}\nfault_rates:\n  - fault: gpu-missing\n    share: 1\n    arguments: {{idx: 1}}\n",
            "fleet.yaml:6: fault_rates.0.arguments: gpu-missing: unknown argument 'idx'; did you mean 'index'?",
        ),
        (f"bmcs:\n  - {HGX}, adress: 1}}\n", "fleet.yaml:2: bmcs.0.adress: unknown field; did you mean 'address'?"),
        (
            f"bmcs:\n  - {HGX.replace('hgx-h100', 'hgx-h10')}}}\n",
            "fleet.yaml:2: bmcs.0.persona: unknown persona 'hgx-h10'",
        ),
        (f"bmcs:\n  - {HGX.replace('127.', '10.')}}}\n", "fleet.yaml:2: bmcs.0.address: "),
        ("bmcs: [\n", "is not YAML"),
        ("\udcff", "is not YAML: it is not text in UTF-8"),
        (f"speed: .inf\nbmcs:\n  - {HGX}}}\n", "fleet.yaml:1: speed: Input should be a finite number"),
        (f"boot_service: nowhere\nbmcs:\n  - {HGX}}}\n", "fleet.yaml:1: boot_service: String should match pattern"),
        (f"port: true\nbmcs:\n  - {HGX}}}\n", "fleet.yaml:1: port: Input should be a valid integer"),
        (
            f"bmcs:\n  - {HGX}, faults: [{{bios-late-rejection: {{attributes: [1]}}}}]}}\n",
            "bmcs.0.faults.0: bios-late-rejection: attributes is a list of texts, not [1]",
        ),
        (
            f"bmcs:\n  - {HGX}, faults: [silent, {{drive-failed: {{index: 99}}}}]}}\n",
            "fleet.yaml:2: bmcs.0.faults.1: drive-failed: index is 99, and hgx-h100 has",
        ),
    ],
)
def test_wrong_file_ends_with_status_two_and_says_where(tmp_path: Path, text: str, expected: str) -> None:
    """File, line, nearest known name."""
    path = tmp_path / "fleet.yaml"
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    result = run("serve", "--config", str(path))
    assert result.returncode == 2
    assert expected in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("which", ["port", "admin_port"])
def test_port_in_use_ends_with_status_two(tmp_path: Path, which: str) -> None:
    """Nothing is started."""
    with socket.socket() as taken, socket.socket() as free:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        free.bind(("127.0.0.1", 0))
        number, other = taken.getsockname()[1], free.getsockname()[1]
        free.close()
        ports = {"port": other, "admin_port": other, which: number}
        path = tmp_path / "fleet.yaml"
        path.write_text(
            f"port: {ports['port']}\nadmin_port: {ports['admin_port']}\nbmcs:\n  - {HGX}}}\n", encoding="utf-8"
        )
        result = run("serve", "--config", str(path))
    assert (result.returncode, f"port {number}" in result.stderr) == (2, True)
    assert f"something listens at 127.0.0.1:{number}" in result.stderr
    assert not (tmp_path / "state").exists()


def test_an_address_in_use_is_named(tmp_path: Path) -> None:
    """Something of others listens at the address and the port of one BMC."""
    with socket.socket() as taken:
        taken.bind(("127.99.1.1", 0))
        taken.listen()
        number = taken.getsockname()[1]
        path = tmp_path / "fleet.yaml"
        path.write_text(f"port: {number}\nadmin_port: 1\nbmcs:\n  - {HGX}}}\n", encoding="utf-8")
        result = run("serve", "--config", str(path))
    assert result.returncode == 2
    assert f"port {number} cannot be opened: Address already in use" in result.stderr
    assert f"(something listens at 127.99.1.1:{number}); end that, or take another one" in result.stderr


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("b:silent", "--fault b:silent: no BMC is named 'b'; give BMC:FAULT, such as r01-u01:silent"),
        ("a:silnt", "--fault a:silnt: unknown fault 'silnt'; did you mean 'silent'?"),
        ("a:slow-answers:secs=2", "unknown argument 'secs'; did you mean 'seconds'?"),
        ("a:slow-answers:seconds=x", "slow-answers: seconds is a number, not 'x'"),
        ("a:slow-answers:seconds=-1", "slow-answers: seconds is a number, not -1"),
        ("a:silent:times=x", "silent: times is a whole number from 1, or null for ever, not 'x'"),
        ("a:silent:times", "silent: times is a whole number from 1, or null for ever, not ''"),
        ("a:gpu-missing:index=0.5", "gpu-missing: index is a number, and a whole one, not 0.5"),
        ("a:task-vanishes:when=never", "when is one of 'start', 'completion', 'poll', not 'never'"),
        ("a:foreign-task:busy=1", "foreign-task: busy is true or false, not 1"),
        ("a:gpu-missing:index=8", "gpu-missing: index is 8, and hgx-h100 has 8, numbered from 0"),
        ("a:leak-detected", "leak-detected: hgx-h100 has no such part"),
        ("a:quagga", "unknown fault 'quagga'; `firstlight-emulator faults` lists them"),
        ("a:wrong-slot", "wrong-slot is a fault of the fleet, not of one BMC; give it as a fault rate"),
        ("silent", "--fault silent: give BMC:FAULT, such as r01-u01:silent"),
    ],
)
def test_a_fault_option_that_is_wrong_is_named(tmp_path: Path, option: str, expected: str) -> None:
    """serve --fault."""
    path = tmp_path / "fleet.yaml"
    path.write_text(f"bmcs:\n  - {HGX}}}\n", encoding="utf-8")
    result = run("serve", "--config", str(path), "--fault", option)
    assert (result.returncode, expected in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("fleet", "--out", "/proc/none"), "/proc/none: cannot be written: No such file or directory"),
        (("firmware", "--out", "/proc/none"), "cannot be written: No such file or directory"),
        (("fleet", "--speed", "inf", "--out", "{tmp}"), "speed: Input should be a finite number"),
        (("fleet", "--boot-service", "nowhere", "--out", "{tmp}"), "boot_service: String should match pattern"),
        (("replay", "{tmp}", "--network", "127.1"), "--network 127.1: give the first three numbers of the addresses"),
        (("replay", "{tmp}", "--power", "Maybe"), "Invalid value for '--power'"),
        (("replay", "{tmp}"), "no recorded tree, there is no redfish/v1/index.json in it"),
        (("serve", "--config", "{tmp}/none.yaml"), "none.yaml: cannot be read: No such file or directory"),
        (("faults", "quagga"), "faults: none has 'quagga' in its name or effect"),
    ],
)
def test_an_option_that_cannot_be_is_told_without_a_traceback(
    tmp_path: Path, arguments: tuple[str, ...], expected: str
) -> None:
    """Status 2, and what would do."""
    result = run(*(argument.format(tmp=tmp_path) for argument in arguments))
    assert (result.returncode, expected in result.stderr) == (2, True), result.stderr
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.iterdir())


def test_states_that_cannot_be_kept_are_told_at_the_start(tmp_path: Path) -> None:
    """Rather than with the first change, hours later."""
    with socket.socket() as one, socket.socket() as two:
        for free in (one, two):
            free.bind(("127.0.0.1", 0))
        ports = f"port: {one.getsockname()[1]}\nadmin_port: {two.getsockname()[1]}\n"
    path = tmp_path / "fleet.yaml"
    path.write_text(f"{ports}state_dir: /proc/none\nbmcs:\n  - {HGX}}}\n", encoding="utf-8")
    result = run("serve", "--config", str(path))
    assert (result.returncode, "/proc/none: cannot be written" in result.stderr) == (2, True), result.stderr


def test_the_faults_are_listed_for_people_and_for_programs() -> None:
    """By concern, each with its effect, its arguments and where it was seen."""
    text = run("faults").stdout
    assert "\nFirmware updates\n================\n" in text
    shown = (
        "\ntask-vanishes\n"
        "    the task answers 404 (`when`: start, completion, or poll: after `polls` looks) while the flash succeeds\n"
        "    arguments: when='completion' (or start, poll), polls=3\n"
        "    seen in:   ironcore-dev/metal-operator#617\n"
    )
    assert shown in text
    listed = json.loads(run("faults", "--json").stdout)
    assert len(listed) == text.count("    seen in:   ")
    assert {"name", "concern", "effect", "source", "arguments", "choices"} == set(listed[0])
    assert [fault["name"] for fault in json.loads(run("faults", "slot", "--json").stdout)] == ["wrong-slot"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("  pxe_needs:", "  pxe_neds:", "boot.pxe_neds: unknown field; did you mean 'pxe_needs'?"),
        ("etag: ", "etags: ", "etags: unknown field; did you mean 'etag'?"),
        ("arch: x86_64", "arch: x86", "arch: Input should be 'x86_64' or 'arm64'"),
    ],
)
def test_a_wrong_persona_is_told_with_file_and_line(tmp_path: Path, old: str, new: str, expected: str) -> None:
    """A persona is data that others write."""
    text = (PERSONAS / "hgx-h100.yaml").read_text(encoding="utf-8")
    path = tmp_path / "own.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    line = text[: text.index(old)].count("\n") + 1
    with pytest.raises(ConfigError, match=re.escape(f"{path}:{line}: {expected}")):
        load_yaml(path, Persona)
