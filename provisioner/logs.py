"""Where log lines go and what they look like."""

import logging
import sys
from pathlib import Path
from typing import TextIO

import structlog


def log_to(stream: TextIO | Path | None = None, *, as_json: bool = False) -> None:
    """structlog and the standard library, to one stream (stderr by default), one event a line."""
    file = stream.open("a", encoding="utf-8") if isinstance(stream, Path) else stream or sys.stderr
    logging.basicConfig(stream=file, level=logging.WARNING, format="%(levelname)s %(name)s %(message)s", force=True)
    render = structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=file.isatty())
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            render,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(file),
        cache_logger_on_first_use=False,
    )
