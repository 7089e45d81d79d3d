"""`score`: how well captioning systems do against a dataset."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.options import JSON

if TYPE_CHECKING:
    from piecework.analyses.corpus.captions import Corpus


@click.command()
@click.argument("predictions", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--against",
    "dataset",
    required=True,
    type=click.Path(path_type=Path),
    help="The dataset with people's captions.",
)
@click.option(
    "--by",
    "groupings",
    multiple=True,
    metavar="text|difficulty|COLUMN",
    help="Also score each group of images; repeat for several groupings.",
)
@click.option(
    "--items",
    type=click.Path(path_type=Path, dir_okay=False),
    help="CSV with an image id and the columns for --by.",
)
@click.option(
    "--vizwiz",
    is_flag=True,
    help="Show the results that the VizWiz-Captions paper reports.",
)
@click.option(
    "--resamples",
    type=click.IntRange(min=100, max=100_000),
    default=1000,
    show_default=True,
    help="Random draws for intervals and tests.",
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

    PREDICTIONS are files of captions: JSON as COCO's results ("image_id" and
    "caption"), named after the file, or CSV with a column "system" for several systems.

    The scores are BLEU-1 to BLEU-4, METEOR, ROUGE-L and CIDEr-D with 95 % intervals.
    Two or more systems are also tested against each other.

    Examples:
      piecework score model.json --against out/demo/dataset
      piecework score a.json b.json --against val.json --by difficulty
    """
    from piecework.cli.sections import say_sections
    from piecework.postprocess.datasets.predictions import read_predictions
    from piecework.postprocess.datasets.reading import read_captions
    from piecework.report.corpus.system_page import system_page
    from piecework.report.corpus.system_scores import score_systems
    from piecework.report.sections_page import render_sections

    systems = read_predictions(predictions)
    corpus = read_captions(dataset)
    scores = score_systems(
        corpus,
        systems,
        groupings=_groupings(corpus, groupings, items or dataset),
        resamples=resamples,
        seed=seed,
        name=str(dataset),
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


def _groupings(
    corpus: "Corpus", names: Sequence[str], table: Path
) -> dict[str, dict[str, str]]:
    from piecework.report.corpus.system_scores import group_of_images

    groupings = {}
    for name in dict.fromkeys(names):
        group_of = group_of_images(corpus, name)
        if group_of is None:
            group_of = _column(table, name)
        if not group_of:
            raise click.UsageError(
                f"--by {name}: the dataset has it for no image, so there is nothing "
                "to group by"
            )
        groupings[name] = group_of
    return groupings


def _column(table: Path, name: str) -> dict[str, str]:
    """The column's value of each image, from the first file that has the column."""
    files = [table / "items.csv", table / "captions.csv"] if table.is_dir() else [table]
    for path in files:
        if path.suffix.lower() != ".csv" or not path.is_file():
            continue
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            header = reader.fieldnames or ()
            key = next((key for key in ("item_id", "image_id") if key in header), None)
            if key and name in header:
                return {row[key]: row[name] or "" for row in reader if row[key]}
    read = ", ".join(str(path) for path in files)
    raise click.UsageError(
        f"--by {name}: no column {name!r} with an image id in {read}; it may be "
        "'text', 'difficulty' or a column of a CSV (--items FILE)"
    )
