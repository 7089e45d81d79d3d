"""The command `piecework`: parses words, calls the work, turns errors into exit codes.

0 done, 1 failed, 2 used wrongly, 3 refused for safety.
"""

import os
import sqlite3
import sys

import click

from cli.campaigns import advance, check, decisions, export, run, status
from cli.describing import describe
from cli.machine import sentence
from cli.money import pay, unreject
from cli.rehearsals import crowd, preview, rehearse
from cli.requesters import requester
from cli.serving import serve
from cli.stopping import stop
from cli.workers import worker
from domain.errors import PieceworkError


class _Group(click.Group):
    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except PieceworkError as error:
            click.secho(str(error), fg="red", err=True)
            if error.next_step:
                click.echo(f"next: {error.next_step}", err=True)
            ctx.exit(error.exit_code)
        except BrokenPipeError:
            # Whoever read our output has seen enough (`| head`).
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            ctx.exit(0)
        except (OSError, sqlite3.Error) as fault:
            # A full disk, a folder without rights, a port in use: nothing of ours.
            said, next_step = sentence(fault)
            click.secho(said, fg="red", err=True)
            click.echo(f"next: {next_step}", err=True)
            ctx.exit(1)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="piecework")
def main() -> None:
    """Turn a campaign file into a dataset that people can trust.

    Amazon Mechanical Turk closed on 2026-09-30. piecework brings a marketplace that
    speaks the same protocol: rehearsals run on simulated workers, cost nothing and
    need no account.

    Start with:  piecework rehearse config/campaigns/demo.toml
    """
    # Before anything imports Prefect: nothing is sent to anybody, and what fails is
    # said once, by this command. A deployment logs as Prefect is told to.
    os.environ.setdefault("DO_NOT_TRACK", "1")
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    os.environ.setdefault("PREFECT_LOGGING_LEVEL", "CRITICAL")
    # A first temporary server makes its tables: 17 to 28 s measured, Prefect waits 20.
    os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "120")
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")


for command in (
    check,
    preview,
    rehearse,
    crowd,
    run,
    advance,
    status,
    stop,
    decisions,
    export,
    describe,
    pay,
    unreject,
    serve,
    requester,
    worker,
):
    main.add_command(command)
