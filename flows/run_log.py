"""Send piecework's log lines to the flow run that wrote them.

Prefect sends only its own loggers' lines to its server. The flow adds the handler
itself, so a deployment needs no setting for it. The lines hold counts, names and
addresses, but no answers and no worker ids.

A run's console is a pipe to its worker. When the worker is killed, the next line would
end the run, so this module lets runs go on without a console.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from prefect.context import FlowRunContext
from prefect.logging.handlers import APILogHandler, PrefectConsoleHandler

ROOMS = (
    *("piecework.flows", "piecework.engine", "piecework.results"),
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


def outlive_console() -> None:
    """Let the process go on, with its log on the server, if its console is closed."""
    for handler in logging.root.handlers:
        if isinstance(handler, PrefectConsoleHandler):
            console = handler.console
            # rich's own method ends the process.
            console.on_broken_pipe = partial(_to_nowhere, handler)  # type: ignore[method-assign]


def _to_nowhere(handler: PrefectConsoleHandler) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, handler.stream.fileno())
    os.close(nowhere)


# On import, because Prefect logs before it calls the flow.
outlive_console()
