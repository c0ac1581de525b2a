"""Run one of DMTF's tools, its command line unchanged; what it found is written to findings.json in the current folder.

`python launch.py PACKAGE ARGUMENTS...`. Pages and workbooks for people are not written: they take the service validator
six times as long as the validation. Its schemas are asked in a better order. `test_harness.py` holds both against the
tool as it is.
"""

import functools
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from redfish.rest.v1 import JsonDecodingError

Row = tuple[str, str, str, str]  # check, where, result, message


def main() -> None:
    """Be the tool; its exit status is ours."""
    package, *arguments = sys.argv[1:]
    tool: Any = importlib.import_module(f"{package}.console_scripts")
    tool.report.html_report = lambda *_options: "no page"
    tool.report.xlsx_report = write_findings
    if hasattr(tool, "metadata"):
        ask_the_right_schema_first(tool.metadata)
    sys.argv = [package, *arguments]
    tool.main()


def ask_the_right_schema_first(metadata: Any) -> None:
    """Spare the service validator most of its search through all schemas for each property.

    Definitions of objects are found in the schema of their name, so that one is put first; what no schema defines is
    searched for once. Found definitions are not kept: the validator changes them.
    """
    search = metadata.get_object_definition
    undefined: set[tuple[str, str, bool]] = set()

    def get_object_definition(resource_type: str, object_type: str, exact_version: bool = False) -> Any:
        question = (resource_type, object_type, exact_version)
        if question in undefined:
            return None
        put_first(metadata.parsed_schemas, object_type.split(".")[0])
        definition = search(*question)
        if definition is None:
            undefined.add(question)
        return definition

    metadata.get_object_definition = get_object_definition
    metadata.get_type_definition = functools.cache(metadata.get_type_definition)


def put_first(schemas: list[Any], name: str) -> None:
    """Move the schema of that name to the front, if it is there."""
    for number, schema in enumerate(schemas):
        if schema.get_name() == name:
            schemas.insert(0, schemas.pop(number))
            return


def write_findings(sut: Any, *_options: Any) -> str:
    """Take the place of a tool's xlsx_report()."""
    rows = use_case_rows(sut) if hasattr(sut, "_results") else resource_rows(sut)
    Path("findings.json").write_text(json.dumps(list(rows)), encoding="utf-8")
    return "findings.json"


def use_case_rows(sut: Any) -> Iterator[Row]:
    """What redfish-use-case-checkers found: one row an operation."""
    for category in sut._results:
        for test in category["Tests"]:
            check = f"{category['Category']}: {test['Name']}"
            for found in test["Results"]:
                yield check, found["Operation"] or "no operation", found["Result"], found["Message"] or ""


def resource_rows(sut: Any) -> Iterator[Row]:
    """What the service or the interop validator found: one row a property, then one row a kind of resource."""
    for uri, resource in sut._resources.items():
        name = type_name(resource)  # it parses the whole document
        for path, found in resource["Results"].items():
            yield f"{name} {path or '(resource)'}", uri, result_name(found), found["Message"]
    for kind, found in getattr(sut, "_service_resource_results", {"Results": {}})["Results"].items():
        yield f"{kind} (found)", "/redfish/v1", result_name(found), found["Message"]


def type_name(resource: Any) -> str:
    """`Chassis` of a resource whose type is `#Chassis.v1_25_0.Chassis`."""
    try:
        return str(resource["Response"].dict["@odata.type"]).rsplit(".", 1)[-1]
    except (AttributeError, KeyError, TypeError, JsonDecodingError):
        return "(no resource)"


def result_name(found: dict[str, Any]) -> str:
    """The service validator says it as a string, the interop validator as an enumeration."""
    return str(getattr(found["Result"], "name", found["Result"]))


if __name__ == "__main__":
    main()
