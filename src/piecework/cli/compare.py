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
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file with the rules to try.",
)
@click.option(
    "--suggest",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write rules that agree best with what is known to this new file.",
)
@click.option(
    "--harmed",
    type=click.FloatRange(0, 20),
    default=1.0,
    show_default=True,
    metavar="PERCENT",
    help="With --suggest: the share of good work that may be harmed.",
)
@click.option(
    "--page",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the result as one self-contained page.",
)
@JSON
def compare(
    campaign: Path,
    *,
    rules: Path | None,
    suggest: Path | None,
    harmed: float,
    page: Path | None,
    as_json: bool,
) -> None:
    """Show what other rules would change.

    With --rules, the command judges the stored answers of a rehearsed, live or imported
    CAMPAIGN again, by its own rules and by others. It shows answers, workers, money and
    labels that change, and which rules agree better with people, known answers and
    planted workers.

    The file of --rules may hold [heuristics], [decisions] with [[decisions.rule]], and
    [[aggregates]], or be a copy of the campaign file with these changed.

    With --suggest, it chooses rules and thresholds that agree best with people's
    decisions, known answers or planted workers, and measures them on other workers.

    Examples:
      piecework compare birds.toml --rules stricter.toml
      piecework compare birds.toml --suggest suggested.toml --harmed 2
    """
    from piecework.cli.output import say_sections
    from piecework.report.page import render_sections

    if (rules is None) == (suggest is None):
        raise click.UsageError("give either --rules FILE or --suggest FILE")
    if rules is not None:
        from piecework.results.comparing.comparison import compare_rules
        from piecework.results.comparing.page import comparison_page

        compared = compare_rules(campaign, rules)
        shown, document = comparison_page(compared), compared.as_dict
    else:
        from piecework.results.comparing.suggested_rules import suggest_rules

        assert suggest is not None  # noqa: S101 - one of the two is given
        suggested = suggest_rules(campaign, suggest, most_harmed=harmed / 100)
        shown, document = suggested.page, suggested.as_dict
    if page is not None:
        page.write_text(render_sections(shown), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(document(), indent=2, ensure_ascii=False))
        return
    say_sections(shown, most_rows=_MOST_ROWS)
    for path in filter(None, (suggest if suggest and suggest.exists() else None, page)):
        click.echo(f"written: {path}")
