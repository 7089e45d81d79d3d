"""`compare`: what other rules would have decided about the answers that are there."""

import json
from pathlib import Path

import click

from piecework.cli.options import CAMPAIGN, JSON

_MOST_ROWS = 8
"""Rows of a table on a terminal; --page has all rows."""


@click.command()
@CAMPAIGN
@click.option(
    "--rules",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file with the rules to try.",
)
@click.option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the comparison as one self-contained page.",
)
@JSON
def compare(campaign: Path, *, rules: Path, page: Path | None, as_json: bool) -> None:
    """Show what other rules would change.

    The command judges the stored answers of a rehearsed, live or imported CAMPAIGN
    again, by its own rules and by those of --rules. It shows answers, workers, money
    and labels that change, and which rules agree better with people, known answers and
    planted workers. It only reads.

    The file of --rules may hold [heuristics], [decisions] with [[decisions.rule]], and
    [[aggregates]], or be a copy of the campaign file with these changed.

    Examples:
      piecework compare birds.toml --rules stricter.toml
      piecework compare birds.toml --rules stricter.toml --page compared.html
    """
    from piecework.cli.output import say_sections
    from piecework.report.page import render_sections
    from piecework.results.comparing.comparison import compare_rules
    from piecework.results.comparing.page import comparison_page

    compared = compare_rules(campaign, rules)
    shown = comparison_page(compared)
    if page is not None:
        page.write_text(render_sections(shown), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(compared.as_dict(), indent=2, ensure_ascii=False))
        return
    say_sections(shown, most_rows=_MOST_ROWS)
    if page is not None:
        click.echo(f"written: {page}")
