"""`describe`: what a caption dataset holds, as tables, a page, or one JSON document."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from cli.options import JSON

if TYPE_CHECKING:
    from report.components import Table
    from report.corpus.description import Description


@click.command()
@click.argument("dataset", type=click.Path(path_type=Path))
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    help="Another dataset, whose common words are compared.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the tables and plots to this file, one self-contained page.",
)
@click.option(
    "--seed", default=0, show_default=True, help="Draws the captions that are scored."
)
@JSON
def describe(
    dataset: Path,
    *,
    against: Path | None,
    html: Path | None,
    seed: int,
    as_json: bool,
) -> None:
    """Tell what a caption dataset holds: the analyses of VizWiz-Captions.

    DATASET is the folder or a file that piecework wrote (JSON, CSV, Parquet), a file
    like VizWiz-Captions or COCO, votes on quality, or a text with a caption a line.

    Example:  piecework describe out/demo/dataset --html description.html
    """
    from postprocess.datasets.reading import read_captions  # noqa: PLC0415 - pandas costs a second
    from report.corpus.description import describe as described  # noqa: PLC0415 - the tagger's model too
    from report.corpus.page import render  # noqa: PLC0415 - matplotlib too

    corpus = read_captions(dataset)
    other = read_captions(against) if against else None
    description = described(corpus, against=other, seed=seed)
    if html:
        html.write_text(render(description), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(description.as_dict(), indent=2, ensure_ascii=False))
        return
    _say(description)
    if html:
        click.echo(f"page: {html}")


def _say(description: "Description") -> None:
    from report.corpus.page import key_figures, notes, sections  # noqa: PLC0415 - see above

    console = Console()
    console.print(Text(description.source, style="bold"))
    for figure in key_figures(description):
        console.print(Text(f"{figure.label}: {figure.value} ({figure.beside})"))
    for note in notes(description):
        console.print(Text(f"{note.word}: {note.text}", style="yellow"))
    for section in sections(description):
        console.print()
        console.rule(Text(section.title), align="left")
        for line in (*section.lead, *(note.text for note in section.notes)):
            console.print(Text(line))
        for table in section.tables:
            _say_table(console, table)


def _say_table(console: Console, table: "Table") -> None:
    # Text and not str: what a stranger wrote in brackets must not become a style.
    shown = RichTable(title=Text(table.caption), title_justify="left")
    for column in table.columns:
        shown.add_column(
            Text(column.label), justify="right" if column.style == "n" else "left"
        )
    for row in table.rows:
        shown.add_row(
            *(Text(cell if isinstance(cell, str) else cell.text) for cell in row)
        )
    console.print()
    console.print(shown)
    if table.note:
        console.print(Text(table.note, style="dim"))
