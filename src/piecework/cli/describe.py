"""`describe`: describes a caption dataset as tables, a page, or a JSON document."""

import json
from dataclasses import replace
from pathlib import Path

import click

from piecework.cli.image_groups import BY, ITEMS, image_groups
from piecework.cli.options import JSON


@click.command()
@click.argument("dataset", type=click.Path(path_type=Path))
@click.option(
    "--against", type=click.Path(path_type=Path), help="Another dataset, to compare with this one."
)
@BY
@ITEMS
@click.option(
    "--answers",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Questions about the images with their answers, as VizWiz-VQA or CSV.",
)
@click.option(
    "--concepts",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Names of concepts, one per line, to look for; repeat for several lists.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the tables and plots to this self-contained page.",
)
@click.option(
    "--pictures",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder of the pictures; the page shows those of the examples.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the random draws.")
@JSON
def describe(  # noqa: PLR0913 - an argument an option
    dataset: Path,
    *,
    against: Path | None,
    groupings: tuple[str, ...],
    items: Path | None,
    answers: Path | None,
    concepts: tuple[Path, ...],
    html: Path | None,
    pictures: Path | None,
    seed: int,
    as_json: bool,
) -> None:
    """Describe a caption dataset.

    The command runs the analyses of the VizWiz-Captions paper. DATASET is a folder or
    a file that piecework wrote (JSON, CSV, Parquet), a file in the format of
    VizWiz-Captions or COCO, a file of quality votes, or a text file with a caption on
    each line.

    Examples:
      piecework describe out/demo/dataset
      piecework describe out/demo/dataset --html page.html --pictures photos/
      piecework describe captions.txt --against coco.json
    """
    from piecework.cli.sections import say
    from piecework.postprocess.datasets.reading import read_captions, read_questions
    from piecework.postprocess.datasets.reading_faults import read_concept_lists
    from piecework.report.corpus.description import describe as described
    from piecework.report.corpus.page import key_figures, notes, render, sections

    corpus = read_captions(dataset)
    other = read_captions(against) if against else None
    description = described(
        corpus,
        against=other,
        groupings=image_groups(corpus, groupings, items or dataset),
        concept_lists=read_concept_lists(concepts),
        questions=read_questions(answers, corpus.files) if answers else (),
        seed=seed,
    )
    if html and pictures:
        from piecework.results.pictures import small_pictures_of

        description = replace(description, pictures=small_pictures_of(description.files, pictures))
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
