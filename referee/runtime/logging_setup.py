"""Set up the logging of a process, one line per event on standard error. Modules log through ``logging``."""

import logging
import sys

import structlog

from referee.runtime.log_context import add_context, hide_secrets
from referee.runtime.log_limits import LineLimit, cut_texts
from referee.runtime.log_text import render_text
from referee.settings import log_format

QUIET = ("rq", "alembic", "asyncio")  # libraries whose events are logged only from level WARNING


def configure(level: int = logging.INFO) -> None:
    """Write all log events of this process to standard error, as JSON or, with ``REFEREE_LOG=text``, as text."""
    render = render_text if log_format() == "text" else structlog.processors.JSONRenderer()
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(LineLimit())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[
                structlog.stdlib.add_log_level,
                structlog.stdlib.add_logger_name,
                structlog.stdlib.ExtraAdder(),
                add_context,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
            ],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                hide_secrets,
                cut_texts,
                render,
            ],
        )
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
