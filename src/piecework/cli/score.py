"""`score`: how well captioning systems do against a dataset."""

import json
from pathlib import Path

import click

from piecework.cli.image_groups import BY, ITEMS, image_groups
from piecework.cli.options import JSON


@click.command()
@click.argument("predictions", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--against",
    "dataset",
    required=True,
    type=click.Path(path_type=Path),
    help="The dataset with people's captions.",
)
@BY
@ITEMS
@click.option(
    "--vizwiz", is_flag=True, help="Show the results that the VizWiz-Captions paper reports."
)
@click.option(
    "--resamples",
    type=click.IntRange(min=100, max=100_000),
    default=1000,
    show_default=True,
    help="Number of random draws for intervals and tests.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the draws.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write tables and plots to this file, one self-contained page.",
)
@JSON
def score(  # noqa: PLR0913 - an argument an option
    predictions: tuple[Path, ...],
    *,
    dataset: Path,
    groupings: tuple[str, ...],
    items: Path | None,
    vizwiz: bool,
    resamples: int,
    seed: int,
    html: Path | None,
    as_json: bool,
) -> None:
    """Score captioning systems against a dataset.

    PREDICTIONS are files of captions. A JSON file has the format of COCO's results
    ("image_id" and "caption"), and its name is the system's name. A CSV file may hold
    several systems, named in the column "system".

    The scores are BLEU-1 to BLEU-4, METEOR, ROUGE-L and CIDEr-D with 95 % intervals.
    Two or more systems are also tested against each other.

    Examples:
      piecework score model.json --against out/demo/dataset
      piecework score a.json b.json --against val.json --by difficulty
    """
    from piecework.cli.sections import say_sections
    from piecework.postprocess.datasets.image_columns import read_image_ids
    from piecework.postprocess.datasets.predictions import read_predictions, with_ids_of
    from piecework.postprocess.datasets.reading import read_captions
    from piecework.report.corpus.system_page import system_page
    from piecework.report.corpus.system_scores import score_systems
    from piecework.report.sections_page import render_sections

    systems = read_predictions(predictions)
    corpus = read_captions(dataset)
    ids = read_image_ids(dataset)
    scores = score_systems(
        corpus,
        with_ids_of({*corpus.images, *corpus.accepted}, systems, ids.other),
        groupings=image_groups(corpus, groupings, items or dataset),
        resamples=resamples,
        seed=seed,
        dataset=dataset,
        files=ids.files,
    )
    page = system_page(scores, published=vizwiz)
    if html:
        html.write_text(render_sections(page), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(scores.as_dict(), indent=2, ensure_ascii=False))
        return
    say_sections(page)
    if html:
        click.echo(f"page: {html}")
