"""`init`: a campaign file from a few questions, with comments and a stated policy."""

import sys
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click

from piecework.cli.options import JSON, WholeNumber
from piecework.domain.clock import SystemClock
from piecework.domain.money import CURRENCIES, Currency, cents_from_text

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
            self.fail(f"{value!r} is no number of minutes above 0", param, ctx)
        return minutes


class _Wage(click.ParamType[int]):
    name = "amount"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        if isinstance(value, int):
            return value
        try:
            cents = cents_from_text(str(value))
        except ValueError as fault:
            self.fail(str(fault), param, ctx)
        if not cents:
            self.fail("nobody works for nothing; state a wage", param, ctx)
        return cents


MINUTES, WAGE = _Minutes(), _Wage()
ASSIGNMENTS, BATCHES = WholeNumber(1, 100), WholeNumber(1, 1000)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False)
@click.option(
    "--task",
    help="What is asked: a task of the gallery (`piecework tasks`), the folder of one "
    "of your own, or a page of HTML.",
)
@click.option(
    "--items", help="About what: a .csv or .jsonl file, or a folder of pictures."
)
@click.option(
    "--pictures",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="The folder with the pictures that the items file names.",
)
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME=COLUMN",
    help="Which column of the items file the task's NAME is; may be repeated.",
)
@click.option("--title", help="What workers read in the list; a task has its own.")
@click.option("--description", help="What the collection is for.")
@click.option("--minutes", type=MINUTES, help="That one HIT is expected to take.")
@click.option("--wage", type=WAGE, help='An hour, and the floor: "12.00".')
@click.option("--currency", type=click.Choice(CURRENCIES), default="USD")
@click.option("--assignments", type=ASSIGNMENTS, help="Accepted answers for each item.")
@click.option("--batches", type=BATCHES, help="That the items are dealt into.")
@click.option(
    "--host",
    "hosts",
    multiple=True,
    help="That a page of HTML may load scripts and styles from; may be repeated.",
)
@click.option("--yes", is_flag=True, help="Ask nothing; take the defaults and say so.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@JSON
def init(
    file: Path | None,
    *,
    columns: tuple[str, ...],
    currency: Currency,
    yes: bool,
    force: bool,
    as_json: bool,
    **said: Any,  # noqa: ANN401 - what click has converted
) -> None:
    """Write a campaign FILE; what no option says is asked for.

    With --json nothing is asked: defaults are taken, and listed as assumed.

    The reward is what the expected minutes are worth at the wage, which is the floor
    as well; the budget is what the campaign is expected to cost, and some room.

    \b
    Example:  piecework init
              piecework init birds.toml --task caption --items photos/ --yes
              piecework init --task hit.html --items birds.csv --wage 12.00
    """  # noqa: D301 - click's mark for lines that stay lines
    from piecework.cli.work.init import (
        Wishes,
        say_written,
        write_campaign_file,
    )

    wishes = Wishes(
        file=file,
        columns=dict(map(_pair, columns)),
        currency=currency,
        is_forced=force,
        **said,
    )
    written = write_campaign_file(
        wishes,
        may_ask=sys.stdin.isatty() and not (yes or as_json),
        today=SystemClock().now().date(),
    )
    say_written(written, as_json=as_json)


def _pair(text: str) -> tuple[str, str]:
    name, equals, column = text.partition("=")
    if not (name and equals and column):
        raise click.BadParameter(f"{text!r}: write NAME=COLUMN", param_hint="--column")
    return name, column
