"""`compare`: two rehearsals, other rules on the answers that are there, or better ones."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.options import (
    CAMPAIGN,
    JSON,
    REHEARSAL_NUMBER,
    WholeNumber,
    is_typed,
    load_results,
)

if TYPE_CHECKING:
    from piecework.report.page import SectionsPage

_MOST_ROWS = 8
"""Rows of a table on a terminal; --html has all rows."""

_NUMBER = WholeNumber(1, 1_000_000)


@click.command()
@CAMPAIGN
@click.option(
    "--rehearsals",
    type=(_NUMBER, _NUMBER),
    metavar="N M",
    help="The two rehearsals to compare; default: the latest and the one before.",
)
@click.option(
    "--seeds",
    type=WholeNumber(1, 1000),
    default=1,
    show_default=True,
    help="Rehearse both this often, with the same workers, to show what chance does.",
)
@click.option(
    "--rules",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file with other rules to try.",
)
@click.option(
    "--suggest",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the best rules to this new file.",
)
@click.option(
    "--harmed",
    type=click.FloatRange(0, 20),
    default=1.0,
    show_default=True,
    metavar="PERCENT",
    help="With --suggest: the share of good work that may be harmed.",
)
@REHEARSAL_NUMBER
@click.option(
    "--html",
    "page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the result as one self-contained page.",
)
@JSON
def compare(
    campaign: Path,
    *,
    rehearsals: tuple[int, int] | None,
    seeds: int,
    rules: Path | None,
    suggest: Path | None,
    harmed: float,
    page: Path | None,
    as_json: bool,
) -> None:
    """Compare rehearsals, or rules on the same answers.

    Without options, it compares the last two rehearsals: keys that differ, cost and
    yield.

    With --rules, it judges the answers of CAMPAIGN by other [heuristics], [decisions] and
    [[aggregates]] too: what changes, and which agree better with people, known answers
    and planted workers.

    With --suggest, it chooses the rules that agree best with these, and measures them on
    other workers.

    Examples:
      piecework compare birds.toml --rehearsals 1 3 --seeds 20
      piecework compare birds.toml --rules stricter.toml
      piecework compare birds.toml --suggest suggested.toml --harmed 2
    """
    _refuse_without_effect(is_about_rules=rules is not None, suggests=suggest is not None)
    if rules is not None:
        shown, document = _rules(campaign, rules)
    elif suggest is not None:
        shown, document = _suggested(campaign, suggest, harmed / 100)
    else:
        shown, document = _rehearsals(campaign, rehearsals, seeds)
    if page is not None:
        from piecework.report.page import render_sections

        page.write_text(render_sections(shown), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    from piecework.cli.output import say_sections

    say_sections(shown, most_rows=_MOST_ROWS)
    for path in filter(None, (suggest if suggest and suggest.exists() else None, page)):
        click.echo(f"written: {path}")


def _refuse_without_effect(*, is_about_rules: bool, suggests: bool) -> None:
    """Refuse options that contradict each other, or have no effect beside the others.

    Raises:
        click.UsageError: the message names them.
    """
    if is_about_rules and suggests:
        raise click.UsageError("give either --rules FILE or --suggest FILE")
    if is_typed("harmed") and not suggests:
        raise click.UsageError("--harmed goes with --suggest FILE")
    are_rehearsals = not (is_about_rules or suggests)
    if not are_rehearsals and (is_typed("rehearsals") or is_typed("seeds")):
        raise click.UsageError(
            "--rehearsals and --seeds compare rehearsals; leave out --rules and --suggest"
        )
    if are_rehearsals and is_typed("rehearsal"):
        raise click.UsageError("--rehearsal goes with --rules or --suggest; give --rehearsals N M")


_Shown = tuple["SectionsPage", dict[str, object]]
"""What to show, and the same as plain values."""


def _rules(path: Path, rules: Path) -> _Shown:
    from piecework.results.comparing.comparison import compare_rules
    from piecework.results.comparing.page import comparison_page

    compared = compare_rules(load_results(path), rules)
    return comparison_page(compared), compared.as_dict()


def _suggested(path: Path, suggest: Path, most_harmed: float) -> _Shown:
    from piecework.results.comparing.rules_to_try import suggest_rules

    suggested = suggest_rules(load_results(path), suggest, most_harmed=most_harmed)
    return suggested.page, suggested.as_dict()


def _rehearsals(path: Path, wanted: tuple[int, int] | None, seeds: int) -> _Shown:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from piecework.simulation.forecast.compared_rehearsals import (
        compare_rehearsals,
        comparison_page,
    )

    columns = (TextColumn("rehearsals"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        line = bar.add_task("rehearsals", total=None, visible=seeds > 1)
        compared = compare_rehearsals(
            path,
            wanted,
            seeds=seeds,
            on_progress=lambda done, total: bar.update(line, completed=done, total=total),
        )
    return comparison_page(compared), compared.as_dict()
