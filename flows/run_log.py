"""What our rooms log while a flow runs, as log lines of that run.

Prefect sends to its server what its own loggers are told, and no setting of ours can be
forgotten where a deployment runs: so the flow itself adds the handler. The lines hold
counts, names and addresses; no answer and no worker id.
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
    """Sends lines as those of one run, from whichever thread they come."""

    def __init__(self, flow_run_id: str) -> None:
        super().__init__(logging.INFO)
        self._flow_run_id = flow_run_id

    def emit(self, record: logging.LogRecord) -> None:
        # Calls to the marketplace are made by threads that know of no run.
        record.flow_run_id = self._flow_run_id
        super().emit(record)


@contextmanager
def logged_in_run() -> Iterator[None]:
    """Let the lines of the block, from INFO on, show in the flow run that is going.

    On the console of a worker they show once, by its own handler; of a command, as the
    command says.
    """
    context = FlowRunContext.get()
    if context is None or context.flow_run is None:
        yield
        return
    handler = _ToRun(str(context.flow_run.id))
    # PREFECT_LOGGING_EXTRA_LOGGERS may have named some: those send already.
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
