"""The expected list: everything that is wrong with it, at once, by line and field."""

import csv
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from profiles.findings import ProfileError
from provisioner.discovery.expected import read_expected
from provisioner.models.identifiers import NodeName, RackName
from provisioner.models.node import BmcAddress, Domains, ExpectedNode
from provisioner.models.secret import Credentials, Secret

GOOD = """\
nodes:
  - {name: r01-u01, rack: r01, position: 1, bmc_address: 127.20.1.1, bmc_port: 8443, serial: "S1",
     factory_username: ADMIN, factory_password: "pa55-label"}
  - {name: r01-u02, rack: r01, position: 2, bmc_address: 127.20.1.2}
"""
GOOD_CSV = """\
name,rack,position,bmc_address,bmc_port,serial,factory_username,factory_password
r01-u01,r01,1,127.20.1.1,8443,S1,ADMIN,pa55-label
r01-u02,r01,2,127.20.1.2,,,,
"""


def write(folder: Path, name: str, text: str) -> Path:
    """The file with that text."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def findings(path: Path) -> list[str]:
    """What is wrong, without the folder."""
    with pytest.raises(ProfileError) as refused:
        read_expected(path)
    return [str(one).replace(f"{path.parent}/", "") for one in refused.value.findings]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("expected.yaml", GOOD),
        ("expected.csv", GOOD_CSV),
        ("expected.csv", "\ufeff" + GOOD_CSV.replace(",", ";").replace("\n", "\r\n")),  # as spreadsheets save it
        ("expected.csv", GOOD_CSV + "\n , ,\n"),
    ],
)
def test_yaml_and_csv_say_the_same(tmp_path: Path, name: str, text: str) -> None:
    """Missing fields take the defaults; credentials are those of the label."""
    first, second = read_expected(write(tmp_path, name, text))
    assert first.node == ExpectedNode(
        NodeName("r01-u01"), RackName("r01"), 1, BmcAddress("127.20.1.1", 8443), serial="S1"
    )
    assert first.credentials == Credentials("ADMIN", Secret("pa55-label"))
    assert second.node == ExpectedNode(NodeName("r01-u02"), RackName("r01"), 2, BmcAddress("127.20.1.2", 443))
    assert second.credentials is None


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path) -> None:
    """A list has hundreds of lines; nobody corrects one mistake a run."""
    text = """\
nodes:
  - {name: r01-u01, rack: r01, position: 1, bmc_address: 127.20.1.999}
  - {name: r01-u02, rack: r01, position: 2, bmc_adress: 127.20.1.2}
  - name: r01-u03
    rack: r01
    position: 3
    bmc_address: 127.20.1.3
    bmc_port: 70000
  - {name: r01-u04, rack: r01, bmc_address: 127.20.1.4, position: x, factory_password: "pa55-label"}
"""
    said = findings(write(tmp_path, "expected.yaml", text))
    assert said == [
        "expected.yaml:2: nodes[0].bmc_address: '127.20.1.999' is no IP address; "
        "write the address of the BMC, such as 10.0.1.17",
        "expected.yaml:3: nodes[1].bmc_address: is missing; add it",
        'expected.yaml:3: nodes[1].bmc_adress: is not a known key; did you mean "bmc_address"?',
        "expected.yaml:8: nodes[2].bmc_port: input should be less than or equal to 65535",
        "expected.yaml:9: nodes[3].position: input should be a valid integer, unable to parse string as an integer",
        "expected.yaml:9: nodes[3].factory_password: is there without factory_username; "
        "add factory_username, or leave both out",
    ]


def test_nothing_is_there_twice(tmp_path: Path) -> None:
    """Two nodes at one BMC address would be flashed twice; two at one place send a person to the wrong server."""
    text = """\
name,rack,position,bmc_address,serial
r01-u01,r01,1,127.20.1.1,S1
R01-U01,r01,2,127.20.1.2,S2
r01-u03,r01,1,127.20.1.3,S3
r01-u04,r01,4,127.20.1.1,S4
r01-u05,r01,5,127.20.1.5,s1
"""
    assert findings(write(tmp_path, "expected.csv", text)) == [
        "expected.csv:3: nodes[1].name: R01-U01 is already taken by r01-u01; correct one of them",
        "expected.csv:4: nodes[2].position: r01 1 is already taken by r01-u01; correct one of them",
        "expected.csv:5: nodes[3].bmc_address: 127.20.1.1 is already taken by r01-u01; correct one of them",
        "expected.csv:6: nodes[4].serial: s1 is already taken by r01-u01; correct one of them",
    ]


def test_domains_are_a_field_in_yaml_and_columns_in_csv(tmp_path: Path) -> None:
    """Trays of one chassis go down together (infra-controller#3480 is about a chassis with a cycle of its own)."""
    head = "name,rack,position,bmc_address,domain_tray,domain_power\n"
    lines = f"{head}n1,r01,1,127.20.1.1,t1,pdu-a\nn2,r01,2,127.20.1.2,,pdu-a\n"
    told = """\
nodes:
  - {name: n1, rack: r01, position: 1, bmc_address: 127.20.1.1, domains: {tray: t1, power: pdu-a}}
  - {name: n2, rack: r01, position: 2, bmc_address: 127.20.1.2, domains: {power: pdu-a}}
"""
    for path in (write(tmp_path, "expected.csv", lines), write(tmp_path, "expected.yaml", told)):
        wanted = [Domains(tray="t1", power="pdu-a"), Domains(power="pdu-a")]
        assert [one.node.domains for one in read_expected(path)] == wanted
    assert findings(write(tmp_path, "expected.csv", f"{head}n1,r01,1,127.20.1.1,,a b\n")) == [
        "expected.csv:2: nodes[0].domains.power: 'a b' does not match ^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$"
    ]
    assert findings(write(tmp_path, "expected.csv", "name,domain_pwoer\n"))[0] == (
        'expected.csv:1: domain_pwoer: is not a known column; did you mean "domain_power"?'
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected.csv:1: the file is empty; begin with a header row: name,rack"),
        ("name,rack,postion\n", 'expected.csv:1: postion: is not a known column; did you mean "position"?'),
        ("name,name\n", "expected.csv:1: name: is there twice; delete one of the columns"),
        ("name,rack,position,bmc_address\n", "expected.csv:1: nodes: is empty; list at least one"),
        (
            "name,rack,position,bmc_address\nr1,r,1,10.0.0.1,oops\n",
            "expected.csv:2: bmc_address: has 5 cells, but there are 4 columns; quote cells that hold commas",
        ),
        (
            "name,rack,position,bmc_address\nr1,r,1,\n",
            "expected.csv:2: nodes[0].bmc_address: is missing; add it",
        ),
        ('name,rack\n"r1,r\n', "expected.csv:2: cannot be read as CSV: unexpected end of data; check the quotes"),
    ],
)
def test_what_is_no_such_table_is_told_by_line_and_column(tmp_path: Path, text: str, said: str) -> None:
    """In the form of the YAML findings."""
    assert findings(write(tmp_path, "expected.csv", text))[0].startswith(said)


def test_a_missing_file_and_one_that_is_no_text(tmp_path: Path) -> None:
    """Both in the same form."""
    assert findings(tmp_path / "none.csv") == [
        "none.csv:1: cannot be read: No such file or directory; check the path and its permissions"
    ]
    (tmp_path / "latin.csv").write_bytes("name\nä\n".encode("latin-1"))
    assert findings(tmp_path / "latin.csv") == ["latin.csv:2: is not UTF-8; save the file as UTF-8"]


@pytest.mark.parametrize(
    "password", ['"pa55-label-secret", position: 99999', "12345678901", "[pa55-label-secret]", '""']
)
def test_no_password_is_ever_shown(tmp_path: Path, password: str) -> None:
    """Findings end up on screens and in tickets."""
    text = (
        f"nodes:\n  - {{name: r1, rack: r, bmc_address: 10.0.0.1, factory_username: A, factory_password: {password}}}\n"
    )
    said = "\n".join(findings(write(tmp_path, "expected.yaml", text)))
    assert "pa55" not in said
    assert "12345678901" not in said


_ENTRY = st.fixed_dictionaries(
    {"rack": st.sampled_from(["r1", "r2"])},
    optional={
        "bmc_port": st.integers(1, 65535),
        "serial": st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=8),
    },
)


@given(entries=st.lists(_ENTRY, min_size=1, max_size=20))
def test_a_list_in_both_forms_reads_the_same(tmp_path_factory: pytest.TempPathFactory, entries: list[Any]) -> None:
    """Whatever is in it: the same nodes, or the same refusals on lines of their own."""
    folder = tmp_path_factory.mktemp("lists")
    rows = [
        {"name": f"n{i}", "position": i, "bmc_address": f"10.0.0.{i + 1}", **entry} for i, entry in enumerate(entries)
    ]
    text = yaml.safe_dump({"nodes": [{**row, "serial": row["serial"]} if "serial" in row else row for row in rows]})
    columns = ["name", "rack", "position", "bmc_address", "bmc_port", "serial"]
    with (folder / "expected.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    outcomes: list[list[object]] = []
    for path in (write(folder, "expected.yaml", text), folder / "expected.csv"):
        try:
            outcomes.append([one.node for one in read_expected(path)])
        except ProfileError as refused:
            outcomes.append([(one.field, one.message) for one in refused.findings])
    assert sorted(map(str, outcomes[0])) == sorted(map(str, outcomes[1]))


def test_a_password_that_stays_is_in_the_list(tmp_path: Path) -> None:
    """Accounts that a site's own vault or directory manages."""
    path = tmp_path / "expected.csv"
    head = "name,rack,position,bmc_address,factory_username,factory_password,keep_password\n"
    path.write_text(f"{head}n1,r01,1,127.20.1.1,admin,secret,true\nn2,r01,2,127.20.1.2,admin,secret,\n")
    assert [one.keep_password for one in read_expected(path)] == [True, False]
    path.write_text(f"{head}n1,r01,1,127.20.1.1,,,true\n")
    with pytest.raises(ProfileError, match="keep_password: is there without factory_password; add the password"):
        read_expected(path)
