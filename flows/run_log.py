"""Send piecework's log lines to the flow run that wrote them.

Prefect sends only its own loggers' lines to its server. The flow adds the handler
itself, so a deployment needs no setting for it. The lines hold counts, names and
addresses, but no answers and no worker ids.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from prefect.context import FlowRunContext
from prefect.logging.handlers import APILogHandler

ROOMS = (
    *("piecework.flows", "piecework.engine", "piecework.payments", "piecework.results"),
    *("piecework.platforms", "piecework.store"),
)


class _ToRun(APILogHandler):
    """Sends log lines from any thread as those of one run."""

    def __init__(self, flow_run_id: str) -> None:
        super().__init__(logging.INFO)
        self._flow_run_id = flow_run_id

    def emit(self, record: logging.LogRecord) -> None:
        # The threads that call the marketplace have no run context.
        record.flow_run_id = self._flow_run_id
        super().emit(record)


@contextmanager
def logged_in_run() -> Iterator[None]:
    """Show the block's log lines, from INFO on, in the current flow run.

    On a worker's console its own handler shows them once; a command shows them as its
    options say.
    """
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        yield
        return
    handler = _ToRun(str(context.flow_run.id))
    # PREFECT_LOGGING_EXTRA_LOGGERS may name some: those send already.
    loggers = [
        logger
        for logger in map(logging.getLogger, ROOMS)
        if not any(isinstance(attached, APILogHandler) for attached in logger.handlers)
    ]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        if not logger.isEnabledFor(logging.INFO):
            logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
        handler.close()
