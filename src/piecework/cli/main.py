"""The command `piecework`: parses words, calls the work, turns errors into exit codes.

0 done, 1 failed, 2 used wrongly, 3 refused for safety.
"""

import os
import sys

import click

from piecework.cli import logs
from piecework.cli.advance import advance
from piecework.cli.analyse import analyse
from piecework.cli.assess import assess
from piecework.cli.check import check
from piecework.cli.clean import clean
from piecework.cli.crowd import crowd
from piecework.cli.decisions import decisions
from piecework.cli.describe import describe
from piecework.cli.errors import ErrorCodes
from piecework.cli.examples import examples
from piecework.cli.export import export
from piecework.cli.forecast import forecast
from piecework.cli.import_results import import_results
from piecework.cli.init import init
from piecework.cli.layout import layout
from piecework.cli.new_task import new_task
from piecework.cli.pay import pay
from piecework.cli.prefect_server import leave_no_home
from piecework.cli.preview import preview
from piecework.cli.prolific import prolific
from piecework.cli.prolific_emulator import prolific_emulator
from piecework.cli.prolific_work import reconcile, settle
from piecework.cli.prolific_work import status as prolific_status
from piecework.cli.reconcile import reconcile as reconcile_campaign
from piecework.cli.rehearse import rehearse
from piecework.cli.requester import requester
from piecework.cli.review import review
from piecework.cli.run import run
from piecework.cli.serve import serve
from piecework.cli.status import status
from piecework.cli.stop import stop
from piecework.cli.tasks import tasks
from piecework.cli.unreject import unreject
from piecework.cli.worker import worker
from piecework.cli.workers import workers


@click.group(cls=ErrorCodes, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="piecework")
def main() -> None:
    """Turn a campaign file into a dataset that people can trust.

    Amazon Mechanical Turk closed on 2026-09-30. piecework brings a marketplace that
    speaks the same protocol: rehearsals run on simulated workers, cost nothing and
    need no account.

    \b
    Start with:  piecework examples tries
    Your own:    piecework init
    """  # noqa: D301 - click's mark for lines that stay lines
    # Before anything imports Prefect: nothing is sent to anybody, and what fails is
    # said once, by this command. A deployment logs as Prefect is told to.
    os.environ.setdefault("DO_NOT_TRACK", "1")
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "CRITICAL")
    leave_no_home()
    # Its temporary server keeps what is for its pages alone; it tries again by itself.
    os.environ.setdefault("PREFECT_SERVER_LOGGING_LEVEL", "CRITICAL")
    # No page that is open in a browser is to read or start flows of a temporary server.
    os.environ.setdefault("PREFECT_SERVER_CORS_ALLOWED_ORIGINS", "http://127.0.0.1")
    # A first temporary server makes its tables: 17 to 28 s measured, Prefect waits 20.
    os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "120")
    logs.begin()
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")


for command in (
    init,
    tasks,
    new_task,
    examples,
    check,
    preview,
    rehearse,
    forecast,
    crowd,
    run,
    advance,
    status,
    stop,
    review,
    decisions,
    workers,
    import_results,
    assess,
    clean,
    analyse,
    export,
    describe,
    pay,
    reconcile_campaign,
    unreject,
    serve,
    requester,
    worker,
    layout,
    prolific,
    prolific_emulator,
):
    main.add_command(command)
for command in (prolific_status, reconcile, settle):
    prolific.add_command(command)
logs.with_log_options(main)
