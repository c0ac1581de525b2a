"""The BMCs under test: one that suites only read, and one for each suite that writes."""

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from emulator.kind import load_kind
from emulator.testing import Bmc, EmulatedFleet, RunningBmc
from tests.conformance.dmtf import copy_profiles, unpack_schemas
from tests.conformance.report import Report
from tests.conformance.suites import Material, Suite, run_suite, suite_named
from tests.emulator.bmc_client import BmcClient

PASSWORD = "Changed-once-1"

Question = tuple[str, str]  # suite, persona


class Site:
    """What a suite says about a persona. Suites that write run for all personas at once: they mostly wait."""

    def __init__(self, questions: list[Question], folder: Path) -> None:
        self._questions = questions
        self._material = Material(
            unpack_schemas(folder / "schemas"), copy_profiles(folder / "profiles"), folder / "reports"
        )
        self._material.reports.mkdir()
        self._uses = sorted({_use(suite_named(name), persona) for name, persona in questions})
        self._fleet = EmulatedFleet([Bmc(persona, power="On") for _use, persona in self._uses])
        self._bmcs: dict[Question, RunningBmc] = {}
        self._pool = ThreadPoolExecutor(max(1, len(questions)))
        self._writing: dict[Question, Future[Report]] = {}

    def report(self, suite_name: str, persona: str) -> Report:
        """Run the suite, or wait for it."""
        suite = suite_named(suite_name)
        if not suite.writes:
            return self._run(suite, persona)
        if not self._writing:
            chosen = [question for question in self._questions if suite_named(question[0]).writes]
            self._writing = {
                question: self._pool.submit(self._run, suite_named(question[0]), question[1]) for question in chosen
            }
        return self._writing[suite_name, persona].result()

    def _run(self, suite: Suite, persona: str) -> Report:
        return run_suite(suite, self._bmcs[_use(suite, persona)], self._material)

    def __enter__(self) -> "Site":
        self._fleet.start()
        self._bmcs = {use: take_over(bmc) for use, bmc in zip(self._uses, self._fleet.bmcs, strict=True)}
        for bmc in self._bmcs.values():
            collect_diagnostics(bmc)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._fleet.__exit__(kind, error, trace)


def _use(suite: Suite, persona: str) -> Question:
    return (suite.name if suite.writes else "read", persona)


def collect_diagnostics(bmc: RunningBmc) -> None:
    """Put an entry with data into each log that takes one: profiles ask what such an entry looks like."""
    client = BmcClient(bmc)
    tree = load_kind(bmc.persona).tree
    documents = [tree.render(path, lambda *_: "1") or {} for path in tree.paths]
    for document in documents:
        action = document.get("Actions", {}).get("#LogService.CollectDiagnosticData")
        if action:
            client.send("POST", action["target"], json={"DiagnosticDataType": "Manager"}).raise_for_status()


def take_over(bmc: RunningBmc) -> RunningBmc:
    """Change the factory password where the BMC lets nobody in before that."""
    accounts = load_kind(bmc.persona).persona.accounts
    if not accounts.change_required:
        return bmc
    account = f"/redfish/v1/AccountService/Accounts/{accounts.id}"
    BmcClient(bmc).send("PATCH", account, json={"Password": PASSWORD}).raise_for_status()
    return replace(bmc, password=PASSWORD)
