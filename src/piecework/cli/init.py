"""`init`: writes a campaign file from a few questions, with comments and a policy."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.init_wishes import ASSIGNMENTS, BATCHES, MINUTES, WAGE, Wishes
from piecework.cli.options import JSON, TaskName, grouped
from piecework.domain.clock import SystemClock
from piecework.domain.money import CURRENCIES
from piecework.domain.text import plural

if TYPE_CHECKING:
    from piecework.cli.init_questions import Written


def _pairs(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """Return the columns by the task's names for them."""
    columns = {}
    for text in texts:
        name, equals, column = text.partition("=")
        if not (name and equals and column):
            raise click.BadParameter(f"{text!r} is not NAME=COLUMN", param_hint="--column")
        columns[name] = column
    return columns


@click.command()
@grouped(
    "wishes",
    Wishes,
    click.argument("file", type=click.Path(path_type=Path, dir_okay=False), required=False),
    click.option(
        "--task",
        type=TaskName(),
        help="The task: a task of the gallery (`piecework tasks`), the folder of your "
        "own task, or a page of HTML.",
    ),
    click.option("--items", help="The items: a .csv or .jsonl file, or a folder of pictures."),
    click.option(
        "--pictures",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        help="The folder of the pictures that the items file names.",
    ),
    click.option(
        "--column",
        "columns",
        multiple=True,
        metavar="NAME=COLUMN",
        callback=_pairs,
        help="The column of the items file for the task's NAME; repeatable.",
    ),
    click.option("--title", help="Title in the list of HITs; default: the task's."),
    click.option("--description", help="Purpose of the collection."),
    click.option("--minutes", type=MINUTES, help="Expected minutes for a HIT."),
    click.option("--wage", type=WAGE, help='Pay for an hour, also the wage floor: "12.00".'),
    click.option(
        "--currency",
        type=click.Choice(CURRENCIES),
        default="USD",
        show_default=True,
        help="Currency of wage, reward and budget.",
    ),
    click.option(
        "--answers", "assignments", type=ASSIGNMENTS, help="Accepted answers for each item."
    ),
    click.option("--batches", type=BATCHES, help="Number of batches."),
    click.option(
        "--host",
        "hosts",
        multiple=True,
        help="A host from which the HTML page may load scripts and styles; repeatable.",
    ),
    click.option("--force", "is_forced", is_flag=True, help="Overwrite a file that exists."),
)
@click.option("--yes", is_flag=True, help="Ask nothing; use the defaults and list them.")
@JSON
def init(*, wishes: Wishes, yes: bool, as_json: bool) -> None:
    """Write a campaign file from your answers.

    The command asks for everything that no option states. With --json it asks nothing:
    it uses defaults and lists them as assumed.

    The reward pays the expected minutes at the wage, and the wage is also the wage
    floor. The budget is the expected cost plus a margin.

    Examples:
      piecework init
      piecework init birds.toml --task caption --items photos/ --yes
      piecework init --task hit.html --items birds.csv --wage 12.00
    """
    from piecework.cli.init_questions import write_campaign_file

    written = write_campaign_file(
        wishes,
        may_ask=sys.stdin.isatty() and not (yes or as_json),
        today=SystemClock().now().date(),
    )
    _say(written, as_json=as_json)


def _say(written: "Written", *, as_json: bool) -> None:
    """Print what the campaign costs, what was assumed, and the next commands."""
    path, checked = written.path, written.checked
    campaign, cost = checked.campaign, checked.price
    if as_json:
        document = {"written": str(path), "assumed": list(written.assumed)}
        click.echo(json.dumps(document | checked.as_dict(), indent=2))
        return
    for assumed in written.assumed:
        click.echo(f"assumed: {assumed}")
    shown = campaign.rewards.shown
    click.echo(
        f"written: {path}: {plural(len(campaign.items), 'item')} in "
        f"{plural(campaign.posting.batches, 'batch')}, "
        f"{plural(cost.hits, 'HIT')} at "
        f"{shown(campaign.rewards.reward_cents)}, each by "
        f"{plural(campaign.posting.assignments, 'worker')}; expected to cost about "
        f"{shown(cost.expected)}, never more than {shown(cost.cap)}"
    )
    for warning in checked.warnings:
        click.secho(f"WARNING: {warning}", fg="yellow")
    click.echo(f"next: piecework check {path}      (what it costs, and why)")
    click.echo(f"      piecework preview {path}    (do it yourself in a browser)")
    click.echo(f"      piecework rehearse {path}   (simulated workers; costs nothing)")
