"""`describe`: what a caption dataset holds, as tables, a page, or one JSON document."""

import json
from pathlib import Path

import click

from piecework.cli.options import JSON


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
    """Describe a caption dataset.

    The command runs the analyses of the VizWiz-Captions paper.

    DATASET is the folder or a file that piecework wrote (JSON, CSV, Parquet), a file
    like VizWiz-Captions or COCO, votes on quality, or a text with a caption a line.

    Example:  piecework describe out/demo/dataset --html description.html
    """
    from piecework.cli.sections import say
    from piecework.postprocess.datasets.reading import read_captions
    from piecework.report.corpus.description import describe as described
    from piecework.report.corpus.page import (
        key_figures,
        notes,
        render,
        sections,
    )

    corpus = read_captions(dataset)
    other = read_captions(against) if against else None
    description = described(corpus, against=other, seed=seed)
    if html:
        html.write_text(render(description), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(description.as_dict(), indent=2, ensure_ascii=False))
        return
    say(
        description.source,
        key_figures=key_figures(description),
        notes=notes(description),
        sections=sections(description),
    )
    if html:
        click.echo(f"page: {html}")
