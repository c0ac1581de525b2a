"""The log of the process: one line an event, on standard error."""

import logging
import sys

import structlog


def configure_logs() -> None:
    """Call it once, before anything is logged. Tracebacks show no local variables: there are passwords among them."""
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # it calls half an answer an error of ours
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%Y-%m-%d %H:%M:%S"),
            structlog.dev.ConsoleRenderer(
                colors=sys.stderr.isatty(), exception_formatter=structlog.dev.plain_traceback
            ),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
