"""Arguments and options that several commands have, declared once."""

import math
import os
import shlex
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from piecework.cli import logs

_Command = TypeVar("_Command", bound=Callable[..., Any])

_LEAST, _DAY = 0.1, 86_400


class WholeNumber(click.IntRange):
    """A whole number between two; what is none is told as "no valid integer"."""

    name = "integer"


class _Seconds(click.FloatRange):
    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            # It is neither below nor above anything.
            self.fail(f"{value} is no number of seconds.", param, ctx)
        return seconds


POLL_SECONDS = _Seconds(_LEAST, _DAY)
"""From a tenth of a second to a day."""

CAMPAIGN = click.argument("campaign", type=click.Path(path_type=Path))


def grouped(
    parameter: str, kind: type[Any], *options: Callable[[_Command], _Command]
) -> Callable[[_Command], _Command]:
    """Add options to a command, which gets their values together, as one parameter.

    Args:
        parameter: of the command.
        kind: a dataclass with a field for each option.
        options: as click declares them.
    """
    names = [field.name for field in fields(kind)]

    def add(command: _Command) -> _Command:
        @wraps(command)
        def call(*args: object, **values: object) -> object:
            group = kind(**{name: values.pop(name) for name in names})
            return command(*args, **{parameter: group}, **values)

        decorated = cast("_Command", call)
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return add


def _log_as_json(_ctx: click.Context, _param: click.Parameter, *, value: bool) -> bool:
    if value:
        logs.say_as_json()
    return value


JSON = click.option(
    "--json",
    "as_json",
    is_flag=True,
    is_eager=True,
    callback=lambda ctx, param, value: _log_as_json(ctx, param, value=value),
    help="Print one JSON document, a fault too; what is said meanwhile is JSON lines.",
)
COLUMNS = click.option(
    "--columns",
    type=click.Path(path_type=Path, dir_okay=False),
    help="For files in an unknown format: a TOML file that says which column is what.",
)
TASK = click.option(
    "--task", help="The task that the files answer, if the gallery has it."
)
FILES_IN_PARTS = click.option(
    "--to",
    "into",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Process large Parquet FILES of answers in parts, and write Parquet into this "
    "new folder.",
)
AS_CAMPAIGN = click.option(
    "--as",
    "campaign",
    metavar="CAMPAIGN",
    type=click.Path(path_type=Path, dir_okay=False),
    help="With Parquet FILES: the campaign file to take task, [heuristics], seed and "
    "items from.",
)
DASK = click.option(
    "--dask",
    metavar="ADDRESS",
    is_flag=False,
    flag_value="local",
    default="",
    help="Let a Dask cluster do the parts; without an address, two "
    "processes on this machine.",
)
LIVE = click.option(
    "--live",
    is_flag=True,
    help="Real people work and are owed money; needed for a marketplace on another "
    "machine. Shows the most that it can cost and has it typed back.",
)
LIVE_MARKETPLACE = click.option(
    "--live",
    is_flag=True,
    help="Needed if the campaign's marketplace is on another machine.",
)
SPEND_AT_MOST = click.option(
    "--spend-at-most",
    metavar="AMOUNT",
    help="What the whole campaign may cost, in its currency; stays in force until "
    "changed, and skips the prompt.",
)
ALLOW_SECOND_STORE = click.option(
    "--allow-second-store",
    is_flag=True,
    help="Begin although HITs of a campaign of this name are there already.",
)


def _keep_although_closed(
    _ctx: click.Context, _param: click.Parameter, *, value: bool
) -> None:
    if value:
        os.environ["PIECEWORK_ALTHOUGH_CLOSED"] = "1"


class _Endpoint(click.Option):
    """The option whose absence is told with what it is and where to get it."""

    def process_value(self, ctx: click.Context, value: object) -> object:
        """The value; a missing one is an error with the way out."""
        try:
            return super().process_value(ctx, value)
        except click.MissingParameter as missing:
            raise click.MissingParameter(
                "It is the URL of a marketplace, such as http://127.0.0.1:8080: "
                "`piecework serve` starts one and prints its URL. PIECEWORK_ENDPOINT "
                "may hold it. On simulated workers, without a marketplace: "
                "`piecework rehearse CAMPAIGN`",
                ctx=missing.ctx,
                param=missing.param,
            ) from missing


_ENDPOINT = click.option(
    "--endpoint",
    cls=_Endpoint,
    envvar="PIECEWORK_ENDPOINT",
    required=True,
    help="URL of the marketplace (or PIECEWORK_ENDPOINT), see `piecework serve`.",
)
_ALTHOUGH_CLOSED = click.option(
    "--although-closed",
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, param, value: _keep_although_closed(ctx, param, value=value),
    help="Call Amazon's own host, which closed on 2026-09-30: it still answers you.",
)


def ENDPOINT(command: _Command) -> _Command:  # noqa: N802 - used as the options are
    """Add the option for the marketplace, and the word for one that is closed."""
    return _ENDPOINT(_ALTHOUGH_CLOSED(command))


_USUAL_DATABASE = Path("marketplace.db")

DATABASE = click.option(
    "--database",
    type=click.Path(path_type=Path, dir_okay=False),
    default=_USUAL_DATABASE,
    show_default=True,
    help="The marketplace's one file, as given to `piecework serve`.",
)


def with_database(command: str, database: Path) -> str:
    """A command to be typed next, on the same marketplace's file.

    >>> with_database("piecework worker revoke ann", Path("try.db"))
    'piecework worker revoke ann --database try.db'
    """
    if database == _USUAL_DATABASE:
        return command
    return f"{command} --database {shlex.quote(str(database))}"
