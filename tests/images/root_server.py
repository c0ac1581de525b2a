"""A server that gives the root of an image by its digest, takes reports of failures, and can misbehave."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs, urlsplit

from images.digest import digest_of
from tests.emulator.loopback import LoopbackServer


@dataclass(frozen=True)
class Step:
    """One answer for the file. `cut`: the connection ends after so many bytes; `content`: other bytes than the file."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    content: bytes | None = None
    ranges: bool = True


@dataclass
class Words:
    """One answer to /boot/words."""

    status: int
    text: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


class RootServer(LoopbackServer):
    """Answers with the steps in turn, the last one for ever; without steps, with the whole file."""

    def __init__(self, content: bytes, *steps: Step) -> None:
        self.content = content
        self.path = f"/v1/artefacts/{digest_of(content)}"
        self.steps = _in_turn(steps or (Step(),))
        self.words: Iterator[Words] = iter(())
        self.report_statuses: list[int] = []
        self.asked: list[str | None] = []  # the Range of each request for the file
        self.questions: list[dict[str, list[str]]] = []
        self.reports: list[dict[str, str]] = []
        self.bearers: list[str | None] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                if parts.path == site.path:
                    site.asked.append(self.headers["Range"])
                    _send_file(self, next(site.steps), site.content)
                elif parts.path == "/boot/words":
                    site.questions.append(parse_qs(parts.query))
                    words = next(site.words)
                    _send(self, words.status, words.headers, words.text)
                else:
                    _send(self, 404, {}, b"")

            def do_POST(self) -> None:
                site.reports.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                site.bearers.append(self.headers["Authorization"])
                _send(self, site.report_statuses.pop(0) if site.report_statuses else 204, {}, b"")

            def log_message(self, *_arguments: object) -> None:
                """Stay quiet."""

        super().__init__(Handler)


def _in_turn(steps: tuple[Step, ...]) -> Iterator[Step]:
    yield from steps
    while True:
        yield steps[-1]


def _send_file(request: BaseHTTPRequestHandler, step: Step, content: bytes) -> None:
    if step.status != 200:
        _send(request, step.status, step.headers, b"a page\n")
        return
    content = content if step.content is None else step.content
    begin = int((request.headers["Range"] or "bytes=0-")[6:].rstrip("-")) if step.ranges else 0
    headers = {"Content-Range": f"bytes {begin}-{len(content) - 1}/{len(content)}"} if begin else {}
    _send(request, 206 if begin else 200, headers, content[begin:], step.cut)


def _send(
    request: BaseHTTPRequestHandler, status: int, headers: dict[str, str], content: bytes, cut: int | None = None
) -> None:
    request.send_response(status)
    for name, value in {**headers, "Content-Length": str(len(content))}.items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(content[:cut])
    request.close_connection = True
