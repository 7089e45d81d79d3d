"""`check`: reports everything that can be known about a campaign before it starts."""

import json
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.table import Table

from piecework.cli.options import CAMPAIGN, JSON, grouped
from piecework.cli.output import plain_console, say_complete, say_derived, say_live_changes
from piecework.cli.price_tables import (
    Rows,
    cap_rows,
    fee_lines,
    market_tables,
    next_pass_rows,
    price_rows,
)
from piecework.domain.clock import SystemClock
from piecework.domain.dataset import STATEMENTS
from piecework.domain.field import is_unlimited
from piecework.domain.hit import MTURK
from piecework.domain.text import one_line, plural, printable, without_secrets
from piecework.markets.registry import loaded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from piecework.campaign.pricing import Price
    from piecework.domain.campaign import Campaign
    from piecework.domain.errors import StoreError
    from piecework.domain.field import Field
    from piecework.domain.task import Task
    from piecework.simulation.rehearsals.checking import Checked


@dataclass(frozen=True, slots=True)
class Trusting:
    """Options about what a campaign file may reach."""

    trust: bool
    variables: tuple[str, ...]


@click.command()
@CAMPAIGN
@click.option(
    "--on",
    type=click.DateTime(["%Y-%m-%d"]),
    metavar="YYYY-MM-DD",
    help="Price by the fees of this UTC day; default: today.",
)
@click.option(
    "--endpoint",
    help="Price by the fees of this marketplace, and try the pictures that it shows.",
)
@click.option(
    "--reach",
    is_flag=True,
    help="Try a sample of the pictures, and each sink; with PROLIFIC_TOKEN, ask who is eligible.",
)
@click.option(
    "--internal",
    is_flag=True,
    help="With --reach: also try addresses inside this machine's network.",
)
@grouped(
    "trusting",
    Trusting,
    click.option(
        "--trust",
        is_flag=True,
        help="Let this campaign reach what it names outside of its folder, until one "
        "of its files changes.",
    ),
    click.option(
        "--variable",
        "variables",
        multiple=True,
        metavar="NAME",
        help="With --trust: an environment variable that its addresses may have; repeatable.",
    ),
)
@click.option(
    "--full",
    is_flag=True,
    help="Print the complete file, with what is derived.",
)
@JSON
def check(
    campaign: Path,
    *,
    full: bool,
    on: datetime | None,
    endpoint: str | None,
    reach: bool,
    internal: bool,
    trusting: Trusting,
    as_json: bool,
) -> None:
    """Check, render and price a campaign.

    The command reports every fault with its line, renders every page, prices the
    campaign, and prints each value that the file leaves out. It changes nothing.

    Examples:
      piecework check birds.toml --reach
      piecework check birds.toml --full > complete.toml
      piecework check birds.toml --endpoint https://hits.example.org
    """
    if internal and not reach:
        raise click.UsageError("--internal goes with --reach; give both")
    if trusting.variables and not trusting.trust:
        raise click.UsageError("--variable goes with --trust; give both")
    if trusting.trust:
        _trust(campaign, trusting.variables, as_json=as_json)
    from piecework.simulation.rehearsals.checking import check_campaign

    day = (on or SystemClock().now()).date()
    checked = check_campaign(campaign, on=day, endpoint=endpoint, reach=reach, internal=internal)
    asking = loaded("estimate", say=partial(click.echo, err=True))
    estimates = {name: ask(checked.campaign, asks=reach) for name, ask in asking.items()}
    if as_json:
        document = checked.as_dict() | {
            name: known and known[0] for name, known in estimates.items()
        }
        click.echo(json.dumps(document, indent=2, sort_keys=True))
    elif full:
        say_complete(checked.campaign)
    else:
        say_checked(checked)
        for _, lines in filter(None, estimates.values()):
            click.echo("\n".join(lines))
    _end(checked.refusal, as_json=as_json)


def _end(refusal: "StoreError | None", *, as_json: bool) -> None:
    """Fail if the next pass would refuse the campaign; JSON has said why."""
    if refusal is not None:
        raise click.exceptions.Exit(1) if as_json else refusal


def _trust(path: Path, variables: tuple[str, ...], *, as_json: bool) -> None:
    """Let a campaign reach what it names, and say what that is."""
    from piecework.config import trust
    from piecework.config.campaign_file import parse_untrusted

    file = parse_untrusted(path)
    reach = trust.reach_of(file)
    digest = trust.trust(file, variables)
    # A program reads the answer of the check alone.
    for named in reach:
        click.echo(f"trusted: {printable(str(named))}", err=as_json)
    for name in variables:
        click.echo(f"trusted with the environment variable {name}", err=as_json)
    if not reach:
        click.echo(f"{path} reads its own folder alone and needs no trust", err=as_json)
    else:
        entry = ":".join(filter(None, (digest, ",".join(variables))))
        click.echo(f"on another machine: {trust.TRUST}={entry}", err=as_json)


def say_checked(checked: "Checked") -> None:
    """Print for people what a campaign is and what it costs."""
    campaign, cost = checked.campaign, checked.price
    console = plain_console()
    for title, rows in (
        (f"campaign {campaign.name}", _work(checked)),
        (
            f"price, by the fees of {cost.on}",
            [*next_pass_rows(campaign, checked.first_pass), *price_rows(campaign, cost)],
        ),
        *market_tables(checked),
        ("caps", cap_rows(campaign, cost)),
        ("dataset, to be published", _dataset(campaign)),
    ):
        table = Table(title=title, title_justify="left", show_header=False)
        table.add_column("what", no_wrap=True)
        table.add_column("how much", justify="right", no_wrap=True)
        table.add_column("why")
        for row in rows:
            table.add_row(*map(printable, row))
        console.print(table)
    for line in (*fee_lines(campaign, cost), *_sinks(campaign)):
        console.print(line, soft_wrap=True, highlight=False)
    if checked.reached:
        console.print(f"pictures: {checked.reached} tried, all of them load")
    if checked.sinks_reached:
        console.print(f"sinks: {checked.sinks_reached} asked, all of them answer")
    say_derived(checked.campaign)
    for warning in checked.warnings:
        click.secho(f"WARNING: {warning}", fg="yellow")
    say_live_changes(checked.changes)


def _work(checked: "Checked") -> Rows:
    campaign, cost = checked.campaign, checked.price
    posting = campaign.posting
    return [
        (
            "items",
            f"{len(campaign.items):,}",
            f"in {plural(posting.batches, 'batch')}"
            if campaign.growth is None
            else "an example batch of a source that grows; prices are of one batch",
        ),
        *_gold(campaign),
        *_test(campaign),
        *_crowd(campaign, cost),
        ("HITs", f"{cost.hits:,}", _sizes(*cost.items_in_hit)),
        ("assignments", f"{cost.assignments:,}", f"{posting.assignments} for each HIT"),
        *_as_needed(campaign),
        *_fields(campaign),
        *_hosts(campaign),
        (
            "largest question",
            f"{checked.largest_question_bytes:,} bytes",
            "65,535 bytes are allowed"
            if checked.largest_question_bytes <= MTURK.question_bytes
            else "the page is stored once, and each HIT has its values",
        ),
    ]


def _sizes(fewest: int, most: int) -> str:
    if fewest == most:
        return f"of {plural(most, 'item')}"
    return f"of {fewest} to {plural(most, 'item')}, all for the same reward"


def _gold(campaign: "Campaign") -> Rows:
    mixed_in = len(campaign.items) - len(campaign.own_items)
    if not mixed_in:
        return []
    part = mixed_in / len(campaign.items)
    why = f"{part:.0%} of the items, priced with them; their answers are known"
    return [("  mixed in as gold", f"{mixed_in:,}", why)]


def _as_needed(campaign: "Campaign") -> Rows:
    rule = campaign.posting.as_needed
    if rule is None:
        return []
    label, merged = "the label's probability", "the agreement of what is merged"
    task = campaign.task
    sure = f"{label} and {merged}" if task.label_fields and task.merged_fields else label
    if not task.label_fields:
        sure = merged
    return [("as needed", f"up to {rule.most}", f"answers, until {sure} is {rule.until:g}")]


def _fields(campaign: "Campaign") -> Rows:
    """Return the gaps and fields of an own page, or what a generic task shows of an item."""
    if campaign.task.is_generic:
        return _parts(campaign.task, campaign.items[0].item_id)
    if campaign.task.html_page is None:
        return []
    first = campaign.items[0]
    id_column, *needed = campaign.task.columns
    cells = first.columns
    return [
        ("id of an item", id_column, f"the first is {first.item_id}"),
        *(
            ("fills the page", column, f"the first is {_beginning(cells[column])}")
            for column in (*needed, *campaign.task.optional_columns)
            if cells.get(column)
        ),
        *(
            ("field", field.name, f"{_sent_as(field)}{_asked(field)}")
            for field in campaign.task.fields
        ),
    ]


def _parts(task: "Task", first_id: str) -> Rows:
    """Return how each column of the items is shown."""
    return [
        ("id of an item", task.columns[0], f"the first is {first_id}"),
        *(
            (
                "shown to workers",
                part.column,
                f"as {_KINDS[part.kind]}{', to be chosen' * part.is_option}",
            )
            for part in task.parts
        ),
    ]


_CELL = 60
"""Letters of an item's cell that a row shows."""

_KINDS = {
    "text": "text",
    "picture": "a picture",
    "audio": "a sound to play",
    "video": "a video to play",
    "link": "a link",
}


def _beginning(cell: str) -> str:
    """Return what a cell begins with; a picture inside an address is long."""
    return one_line(cell, at_most=_CELL)


def _sent_as(field: "Field") -> str:
    """Return the page's own name of a field whose column has another."""
    if field.scope == "hit":
        return "once for the HIT: "
    if field.sent_at:
        return f"{field.sent_at[0]!r} to {field.sent_at[-1]!r} on the page: "
    if field.sent_as in {"", field.name}:
        return ""
    return f"{field.sent_as!r} on the page: "


def _hosts(campaign: "Campaign") -> Rows:
    """Return the hosts that an own page of HTML loads from."""
    page = campaign.task.html_page
    hosts = page.hosts if page is not None else ()
    why = "each worker's browser loads it; check does not"
    return [("host", host, why) for host in hosts]


def _asked(field: "Field") -> str:
    if field.options:
        several = "one of" if field.kind == "choice" else "any of"
        options = ", ".join(option.value for option in field.options)
        return f"{several} {options}" + (", or another text" if field.is_open else "")
    if field.kind == "number" and not is_unlimited(field):
        return f"{field.minimum:g} to {field.maximum:g}"
    return "regions, as JSON" if field.regions else field.kind


def _crowd(campaign: "Campaign", cost: "Price") -> Rows:
    crowd, wanted = campaign.crowd_size, campaign.posting.assignments
    if crowd is None:
        return []
    each = f"{cost.assignments / crowd:.1f}".removesuffix(".0")
    shares = "" if campaign.most_per_worker else f"; per_worker = {-(-cost.assignments // crowd)}"
    why = f"for {wanted} answers to each item: {each} HITs each{shares and shares + ' shares them'}"
    return [("workers", f"{crowd:,}", why)]


def _test(campaign: "Campaign") -> Rows:
    test = campaign.qualification
    if test is None:
        return []
    needed = ", ".join(
        f"{name} {test.correct_at_least[name]} of {len(items)}"
        for name, items in test.sections.items()
    )
    hours = (test.retry_seconds or 0) / 3600
    again = "once only" if test.retry_seconds is None else f"again after {hours:g} h"
    minutes = f"{test.duration_seconds / 60:g} minutes"
    return [
        ("test before", plural(len(test.items), "question"), f"{minutes}, {again}"),
        ("to pass it", f"{test.least_passing} right", needed)
        if test.documents is None
        else ("to pass it", f"{test.least_passing}", "the least value by the test's own key"),
    ]


def _dataset(campaign: "Campaign") -> Rows:
    """Return the splits of the dataset and the statements it lacks."""
    stated, shares = campaign.dataset, campaign.dataset.shares
    missing = campaign.dataset.missing
    has_pictures = any(item.picture for item in campaign.items)
    files = "beside it" if stated.pictures == "files" else "by their addresses"
    by = "picture" if has_pictures else "item"
    parquet = [("formats", "no Parquet", "the Hugging Face hub would not find its splits")]
    return [
        (
            "splits",
            f"{shares.train_percent} / {shares.val_percent} / {shares.test_percent} %",
            f"train / val / test, by {shares.group_by or by}"
            + (f"; fixed by {shares.fixed_by}" if shares.fixed_by else ""),
        ),
        *([("pictures", files, "")] if has_pictures else []),
        *(parquet if "parquet" not in campaign.formats else []),
        (
            "missing",
            f"{len(missing)} of {len(STATEMENTS)}" if missing else "nothing",
            "in the file of card: " + ", ".join(missing) if missing else "",
        ),
    ]


def _sinks(campaign: "Campaign") -> "Iterator[str]":
    """Yield where each release is written; --reach asks whether it can be."""
    for sink in campaign.sinks:
        to = sink.to if "://" in sink.to else str(campaign.path.parent / sink.to)
        table = f"#{sink.table}" * bool(sink.table)
        yield f"sink: {printable(without_secrets(to))}{table}"
