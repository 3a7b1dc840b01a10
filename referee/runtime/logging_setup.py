"""Set up the logging of a process as one JSON object per event on standard error. Modules log through ``logging``."""

import logging
import sys

import structlog

from referee.runtime.log_limits import LineLimit, cut_texts

QUIET = ("rq", "alembic", "asyncio")  # libraries whose events are logged only from level WARNING


def configure(level: int = logging.INFO) -> None:
    """Write all log events of this process as JSON to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(LineLimit())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[
                structlog.stdlib.add_log_level,
                structlog.stdlib.add_logger_name,
                structlog.stdlib.ExtraAdder(),
                structlog.processors.TimeStamper(fmt="iso", utc=True),
            ],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.format_exc_info,
                cut_texts,
                structlog.processors.JSONRenderer(),
            ],
        )
    )
    logging.basicConfig(level=level, handlers=[handler], force=True)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
