"""Arguments and options that several commands share, those of `init`, and their completion."""

import math
import os
import shlex
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal, InvalidOperation
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from piecework.cli import logs
from piecework.domain.imported import NamedColumns
from piecework.domain.money import SIGNS, Currency, cents_from_text
from piecework.platforms.endpoint import ALTHOUGH_CLOSED, ALTHOUGH_UNSEEN

if TYPE_CHECKING:
    from piecework.analyses.corpus.captions import Corpus
    from piecework.domain.campaign import Campaign

_EXAMPLES = Path("config/campaigns")


class CampaignFile(click.Path):
    """The path of a campaign file; a shell offers the campaign files of the folder."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the campaign files that begin so, or let the shell offer files."""
        folder = Path(incomplete) if incomplete.endswith("/") else Path(incomplete).parent
        folders = [folder] if "/" in incomplete else [Path(), _EXAMPLES]
        paths = sorted(path for each in folders for path in each.glob("*.toml"))
        campaigns = [
            CompletionItem(str(path))
            for path in paths
            if str(path).startswith(incomplete) and _is_campaign(path)
        ]
        return campaigns or super().shell_complete(ctx, param, incomplete)


class NewFile(click.Path):
    """The path of a file to write, in which a person may fill in what nothing else keeps."""

    def convert(
        self,
        value: "str | os.PathLike[str]",
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> "str | bytes | os.PathLike[str]":
        """Return the path; refuse one that is taken."""
        path = super().convert(value, param, ctx)
        if os.path.lexists(path):
            self.fail(f"{os.fspath(value)} exists already; name a new file", param, ctx)
        return path


class TaskName(click.ParamType[str]):
    """A task's name, or another way to state a task; a shell offers the names."""

    name = "task"

    def shell_complete(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's
        param: click.Parameter,  # noqa: ARG002 - click's
        incomplete: str,
    ) -> list[CompletionItem]:
        """Return the task names that begin so, or let the shell offer files."""
        from piecework.hit_templates.tasks import task_names

        names = [name for name in task_names() if name.startswith(incomplete)]
        return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]


def _is_campaign(path: Path) -> bool:
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return False
    return "name" in tables and bool({"task", "imported"} & tables.keys())


_Command = TypeVar("_Command", bound=Callable[..., Any])

_LEAST, _DAY = 0.1, 86_400


class WholeNumber(click.IntRange):
    """A whole number in a range; click calls anything else "not a valid integer"."""

    name = "integer"


class _Seconds(click.FloatRange):
    def convert(
        self, value: float, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        seconds = float(super().convert(value, param, ctx))
        if math.isnan(seconds):
            # NaN passes the comparisons with both limits.
            self.fail(f"{value} is not a number of seconds.", param, ctx)
        return seconds


POLL_SECONDS = _Seconds(_LEAST, _DAY)
"""From a tenth of a second to a day."""

PORT = WholeNumber(0, 65_535)
"""0 takes a free port."""


def _use_key(_ctx: click.Context, _param: click.Parameter, campaign: Path) -> Path:
    from piecework.platforms.endpoint import use_key_of

    use_key_of(campaign)
    return campaign


CAMPAIGN = click.argument("campaign", type=CampaignFile(path_type=Path), callback=_use_key)


def grouped(
    parameter: str, kind: type[Any], *options: Callable[[_Command], _Command]
) -> Callable[[_Command], _Command]:
    """Add options to a command, which gets their values as one parameter.

    Args:
        parameter: the name of the command's parameter.
        kind: a dataclass with a field for each option.
        options: click's option decorators.
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


_NUMBER = "piecework.rehearsal"


def _keep_number(ctx: click.Context, param: click.Parameter, value: int | None) -> None:  # noqa: ARG001 - click's
    ctx.meta[_NUMBER] = value


def is_typed(parameter: str) -> bool:
    """Whether a parameter of the current command is on the command line."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source is ParameterSource.COMMANDLINE


REHEARSAL_NUMBER = click.option(
    "--rehearsal",
    type=WholeNumber(1, 1_000_000),
    metavar="N",
    expose_value=False,
    callback=_keep_number,
    help="Read rehearsal N. Default: live work; before that, the latest rehearsal.",
)
"""The rehearsal that `load_results` reads."""


def load_results(path: Path) -> "Campaign":
    """Load a campaign where its results are, and name a rehearsal in the first line."""
    from piecework.campaign.assembling import load_with_results

    context = click.get_current_context()
    campaign = load_with_results(path, rehearsal=context.meta.get(_NUMBER))
    if campaign.number is not None and not context.params.get("as_json"):
        click.echo(f"rehearsal {campaign.number} of {path}")
    return campaign


JSON = click.option(
    "--json",
    "as_json",
    is_flag=True,
    is_eager=True,
    callback=lambda ctx, param, value: _log_as_json(ctx, param, value=value),
    help="Print one JSON document, also for an error; log lines are JSON too.",
)
DRY_RUN = click.option(
    "--dry-run", is_flag=True, help="Only show what would be done; change nothing."
)
COLUMNS = click.option(
    "--columns",
    type=click.Path(path_type=Path, dir_okay=False),
    help="For files in an unknown format: a TOML file that maps their columns.",
)
TEXT = click.option("--text", metavar="COLUMN", default="", help="The column with the texts.")
ITEM = click.option(
    "--item", metavar="COLUMN", default="", help="The column that names what a row is about."
)
WORKER = click.option(
    "--worker", metavar="COLUMN", default="", help="The column that names who answered."
)
LABEL = click.option(
    "--label",
    metavar="COLUMN",
    multiple=True,
    help="A column with answers that are no texts; repeat for several.",
)
TABLE_COLUMNS = grouped("stated", NamedColumns, TEXT, ITEM, WORKER, LABEL)
"""The columns of a table of any origin; without the options, plain names are found."""

TASK = click.option("--task", type=TaskName(), help="The gallery task that the files answer.")
NO_FOLDERS = frozenset(
    {
        *(".csv", ".tsv", ".jsonl", ".parquet", ".json", ".txt", ".html"),
        *(".xls", ".xlsx", ".ods", ".gz", ".zip", ".feather"),
    }
)
"""Endings of files that are no names of folders."""


def _new_folder(_ctx: click.Context, _param: click.Parameter, value: Path | None) -> Path | None:
    """Return the name of a folder to write.

    Raises:
        click.BadParameter: it ends as the name of a file.
    """
    if value is not None and value.suffix.lower() in NO_FOLDERS:
        raise click.BadParameter(f"{value} ends as a file; name a folder, such as {value.stem}")
    return value


FILES_IN_PARTS = click.option(
    "--to",
    "into",
    metavar="FOLDER",
    callback=_new_folder,
    type=click.Path(path_type=Path),
    help="Process large Parquet FILES of answers in parts, and write Parquet to this new folder.",
)
AS_CAMPAIGN = click.option(
    "--as",
    "campaign",
    metavar="CAMPAIGN",
    type=CampaignFile(path_type=Path, dir_okay=False),
    help="With Parquet FILES: take the task, [heuristics], the seed and the items from "
    "this campaign file.",
)
DASK = click.option(
    "--dask",
    metavar="ADDRESS",
    is_flag=False,
    flag_value="local",
    default="",
    help="Process the parts on a Dask cluster; without an address, in two processes on "
    "this machine.",
)
LIVE = click.option(
    "--live",
    is_flag=True,
    help="Let real people work for money, after you typed the most that it can "
    "cost; required for a marketplace on another machine.",
)
LIVE_MARKETPLACE = click.option(
    "--live", is_flag=True, help="Call the campaign's marketplace also on another machine."
)
SPEND_AT_MOST = click.option(
    "--spend-at-most",
    metavar="AMOUNT",
    help="The most that the campaign may cost, in its currency, until changed; skips the prompt.",
)
SECOND_STORE = "second-store"
OF_EACH_PASS = {"closed": ALTHOUGH_CLOSED, "unseen": ALTHOUGH_UNSEEN}
"""What `--although` allows that a pass knows by a variable of its environment."""


def _keep_although(
    _ctx: click.Context, _param: click.Parameter, reasons: tuple[str, ...]
) -> tuple[str, ...]:
    for name, variable in OF_EACH_PASS.items():
        if name in reasons:
            os.environ[variable] = "1"
    return reasons


ALTHOUGH = click.option(
    "--although",
    multiple=True,
    type=click.Choice([*OF_EACH_PASS, SECOND_STORE]),
    callback=_keep_although,
    help="Do not refuse, although Amazon's host is closed, pictures of a sample cannot be loaded "
    "from here, or the marketplace has HITs of this name; repeatable.",
)
ENDPOINT_VARIABLE = "PIECEWORK_ENDPOINT"


class _Endpoint(click.Option):
    """An option that, when missing, says what it is and where to get it."""

    def process_value(self, ctx: click.Context, value: object) -> object:
        """Return the value.

        Raises:
            click.MissingParameter: it is missing; the message says where to get one.
        """
        try:
            return super().process_value(ctx, value)
        except click.MissingParameter as missing:
            from piecework.platforms.endpoint import endpoint_beside

            if known := endpoint_beside(os.environ):
                return known
            raise click.MissingParameter(
                "It is the URL of a marketplace, such as http://127.0.0.1:8080. "
                "`piecework market serve CAMPAIGN` starts a marketplace for a campaign, "
                "which then needs no --endpoint. You may "
                "set PIECEWORK_ENDPOINT instead. `piecework market serve --simulate CAMPAIGN` "
                "prints the --endpoint of its own. To use simulated workers and no "
                "marketplace: `piecework rehearse CAMPAIGN`",
                ctx=missing.ctx,
                param=missing.param,
            ) from missing


ENDPOINT = click.option(
    "--endpoint",
    cls=_Endpoint,
    envvar=ENDPOINT_VARIABLE,
    required=True,
    help="URL of the marketplace (or PIECEWORK_ENDPOINT); default: that of "
    "`piecework market serve CAMPAIGN`.",
)
_USUAL_DATABASE = Path("marketplace.db")

DATABASE = click.option(
    "--database",
    type=click.Path(path_type=Path, dir_okay=False),
    default=_USUAL_DATABASE,
    show_default=True,
    help="The marketplace's file, as given to `piecework market serve`.",
)
HOST = click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Address to bind; 0.0.0.0 is all, and needs the URLs that browsers use.",
)
TLS = click.option(
    "--tls",
    nargs=2,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="CERTIFICATE KEY",
    help="PEM files, to serve over HTTPS.",
)
SITE_ADDRESS = click.option("--site-url", default="", help="URL at which browsers reach the site.")
SITE_URL = click.option(
    "--site-url",
    default="",
    help="URL at which browsers reach the site; default: where it was served last.",
)


def with_database(command: str, database: Path) -> str:
    """Return a command to type next, for the same marketplace's file.

    >>> with_database("piecework market people revoke ann", Path("try.db"))
    'piecework market people revoke ann --database try.db'
    """
    if database == _USUAL_DATABASE:
        return command
    return f"{command} --database {shlex.quote(str(database))}"


BY_PERSON = click.option(
    "--by",
    default="",
    metavar="NAME",
    help="Name of the person who decides; default: your name on this machine.",
)
"""Some commands need the name, and then the default is refused."""

BY = click.option(
    "--by",
    "groupings",
    multiple=True,
    metavar="text|difficulty|question|COLUMN",
    help="Also show each group of images; repeat for several groupings.",
)

ITEMS = click.option(
    "--items",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="CSV, Parquet or JSON of images with the columns for --by.",
)


def image_groups(corpus: "Corpus", names: Sequence[str], table: Path) -> dict[str, dict[str, str]]:
    """Return the group of each image by grouping.

    Raises:
        click.UsageError: the table has no such column.
    """
    from piecework.domain.errors import ConfigError
    from piecework.postprocess.datasets.image_columns import read_image_column
    from piecework.report.corpus.image_groups import group_of_images

    groupings = {}
    for name in dict.fromkeys(names):
        try:
            column = partial(read_image_column, table)
            groupings[name] = group_of_images(corpus, name, column)
        except ConfigError as fault:
            raise click.UsageError(
                f"--by {name}: {fault}; it may be 'text', 'difficulty', 'question' or "
                "a column of the images (--items FILE)"
            ) from fault
    return groupings


_LONGEST_MINUTES = 525_600


class _Minutes(click.ParamType[Decimal]):
    name = "minutes"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Decimal:
        try:
            minutes = Decimal(str(value))
        except InvalidOperation:
            minutes = Decimal(0)
        if not 0 < minutes <= _LONGEST_MINUTES:
            self.fail(f"{value!r} is not a number of minutes above 0", param, ctx)
        return minutes


class Wage(NamedTuple):
    """Pay for an hour, in the currency of its sign; without a sign, in US dollars."""

    cents: int
    currency: Currency


class _Wage(click.ParamType[Wage]):
    name = "amount"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Wage:
        if isinstance(value, Wage):
            return value
        try:
            cents = cents_from_text(str(value))
        except ValueError as fault:
            self.fail(str(fault), param, ctx)
        if not cents:
            self.fail("the wage is 0; give a wage above 0", param, ctx)
        signed = (currency for currency, sign in SIGNS.items() if sign in str(value))
        return Wage(cents, next(signed, "USD"))


MINUTES, WAGE = _Minutes(), _Wage()
ASSIGNMENTS = WholeNumber(1, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What the options of `init` state; None, or empty, where an option is left out."""

    file: Path | None
    task: str | None
    items: str | None
    pictures: Path | None
    columns: dict[str, str]
    question: str | None
    options: str | None
    title: str | None
    minutes: Decimal | None
    wage: Wage | None
    assignments: int | None
    hosts: tuple[str, ...]
    is_forced: bool
