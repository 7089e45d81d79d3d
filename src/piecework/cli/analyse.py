"""`analyse`: measures how far people agree, and combines their answers."""

import json
from pathlib import Path

import click

from piecework.cli.options import COLUMNS, JSON, TASK
from piecework.domain.imported import Reading


@click.command()
@click.argument("what", metavar="CAMPAIGN|FILE", type=click.Path(path_type=Path))
@COLUMNS
@TASK
@click.option("--condition", help="Compare ratings by this column of the items.")
@click.option(
    "--unit",
    help="Column of the items that names what all conditions show, such as an "
    "image; default: the worker for what the task itself compares, else the HIT.",
)
@click.option(
    "--margin",
    type=float,
    help="Smallest difference that matters; tests whether conditions differ by less.",
)
@click.option("--seed", default=1, show_default=True, help="Seed of the random draws.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write all tables as one self-contained page.",
)
@JSON
def analyse(  # noqa: PLR0913 - an argument for each option
    what: Path,
    *,
    columns: Path | None,
    task: str | None,
    condition: str | None,
    unit: str | None,
    margin: float | None,
    seed: int,
    html: Path | None,
    as_json: bool,
) -> None:
    r"""Measure agreement, labels, comparisons and order effects.

    For a CAMPAIGN, the command takes the answers that count. For a FILE of another
    tool, it takes all answers and stores nothing.

    Examples:
      piecework analyse judgements.toml
      piecework analyse judgements.toml --html analyses.html
      piecework analyse ratings.csv --columns columns.toml \
        --condition system --unit image_id
    """
    from piecework.cli.sections import say_sections
    from piecework.config.named_files import read_reading
    from piecework.importing.analysing import Wanted, analyse_campaign, analyse_file
    from piecework.report.sections_page import render_sections

    wanted = Wanted(condition or "", unit or "", margin, seed)
    if what.suffix == ".toml":
        if columns or task:
            raise click.UsageError("--columns and --task are for a FILE")
        analysed = analyse_campaign(what, wanted)
    else:
        analysed = analyse_file(
            what,
            read_reading(columns) if columns else Reading(),
            task_name=task or "",
            wanted=wanted,
        )
    if html is not None:
        html.write_text(render_sections(analysed.page), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(analysed.as_dict(), indent=2, ensure_ascii=False))
        return
    say_sections(analysed.page)
    if html is not None:
        click.echo(f"written: {html}")
