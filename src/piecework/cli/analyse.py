"""`analyse`, `describe` and `score`: what answers, datasets and systems are worth.

How far people agree, and their combined answers; a caption dataset as tables, a page or a
JSON document; how well captioning systems do against a dataset.
"""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import click

from piecework.cli.options import (
    BY,
    COLUMNS,
    ITEM,
    ITEMS,
    JSON,
    LABEL,
    REHEARSAL_NUMBER,
    TASK,
    TEXT,
    WORKER,
    image_groups,
    load_results,
)
from piecework.domain.imported import NamedColumns, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from piecework.report.page import SectionsPage


@click.command()
@click.argument("what", metavar="CAMPAIGN|FILE", type=click.Path(path_type=Path))
@LABEL
@ITEM
@WORKER
@COLUMNS
@TASK
@click.option("--condition", help="Compare ratings by this column of the items.")
@click.option(
    "--unit",
    help="Column of what all conditions show, such as an image; default: the "
    "worker for what the task compares, else the HIT.",
)
@click.option(
    "--margin",
    type=float,
    help="Smallest difference that matters, to test whether conditions differ by less.",
)
@click.option("--seed", default=1, show_default=True, help="Seed of the random draws.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the result as one self-contained page.",
)
@REHEARSAL_NUMBER
@JSON
def analyse(  # noqa: PLR0913 - an argument for each option
    what: Path,
    *,
    label: tuple[str, ...],
    item: str,
    worker: str,
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

    Of a CAMPAIGN, the answers that count; of a FILE of another tool, or a table whose
    columns options name, all answers.

    Examples:
      piecework data analyse judgements.toml --html analyses.html
      piecework data analyse votes.csv --label answer --item q --worker w
    """
    from piecework.cli.output import say_sections
    from piecework.config.shared_files import read_reading
    from piecework.importing.assessing import Comparing, analyse_campaign, analyse_file
    from piecework.report.page import render_sections

    comparing = Comparing(condition or "", unit or "", margin, seed)
    stated = NamedColumns(item=item, worker=worker, label=label)
    if columns and stated:
        raise click.UsageError("--columns FILE names all columns; leave out the other options")
    if what.suffix == ".toml":
        if columns or task or stated:
            raise click.UsageError("--columns, --task and options for columns are for a FILE")
        analysed = analyse_campaign(load_results(what), comparing)
    else:
        analysed = analyse_file(
            what,
            read_reading(columns) if columns else Reading(),
            task_name=task or "",
            comparing=comparing,
            stated=stated,
        )
    if html is not None:
        html.write_text(render_sections(analysed.page), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(analysed.as_dict(), indent=2, ensure_ascii=False))
        return
    say_sections(analysed.page)
    if html is not None:
        click.echo(f"written: {html}")


@click.command()
@click.argument("dataset", type=click.Path(path_type=Path))
@TEXT
@ITEM
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
    help="A list of concepts to look for; repeatable.",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the result as one self-contained page.",
)
@click.option(
    "--pictures",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Folder of the pictures, for the page's examples.",
)
@click.option("--seed", default=0, show_default=True, help="Seed of the random draws.")
@JSON
def describe(  # noqa: PLR0913 - an argument an option
    dataset: Path,
    *,
    text: str,
    item: str,
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

    The command runs the analyses of the VizWiz-Captions paper. DATASET is what piecework
    wrote, a file of VizWiz-Captions or COCO, quality votes, a text file with a caption on
    each line, or any table whose columns options name.

    Examples:
      piecework data describe dataset/ --html page.html --pictures photos/
      piecework data describe captions.txt --against coco.json
    """
    from piecework.importing.captions import read_captions_of, read_captions_to_compare
    from piecework.postprocess.datasets.image_columns import read_marks_of
    from piecework.postprocess.datasets.reading import read_questions
    from piecework.postprocess.datasets.reading_faults import read_concept_lists
    from piecework.report.corpus.description import describe_corpus as described
    from piecework.report.corpus.marks import describe_marks, marks_page
    from piecework.report.corpus.sections import description_page

    if (marks := read_marks_of(dataset)) is not None:
        unused: dict[str, object] = {
            "--text": text,
            "--against": against,
            "--by": groupings,
            "--items": items,
        }
        unused |= {"--answers": answers, "--concepts": concepts, "--pictures": pictures}
        if others := [name for name, value in unused.items() if value]:
            raise click.UsageError(f"{', '.join(others)}: no use with a dataset of marks")
        marked = describe_marks(str(dataset), marks)
        _show(marks_page(marked), marked.as_dict(), html=html, as_json=as_json)
        return
    corpus = read_captions_of(dataset, NamedColumns(text=text, item=item))
    other = read_captions_to_compare(against) if against else None
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

        copies = small_pictures_of(description.files, pictures)
        folder = os.path.relpath(pictures.resolve(), html.resolve().parent)
        originals = {
            image: (copy, quote(f"{Path(folder).as_posix()}/{description.files[image]}"))
            for image, copy in copies.items()
        }
        description = replace(description, pictures=originals)
    _show(description_page(description), description.as_dict(), html=html, as_json=as_json)


def _show(
    page: "SectionsPage", document: dict[str, object], *, html: Path | None, as_json: bool
) -> None:
    """Write the page if a person asked for it, and print it, or the document."""
    from piecework.cli.output import say_sections
    from piecework.report.page import render_sections

    if html:
        html.write_text(render_sections(page), encoding="utf-8")
    if as_json:
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    say_sections(page)
    if html:
        click.echo(f"page: {html}")


@click.command()
@click.argument("predictions", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--against",
    "dataset",
    required=True,
    type=click.Path(path_type=Path),
    help="The dataset with people's captions or objects.",
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
@click.option("--seed", default=0, show_default=True, help="Seed of the random draws.")
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the result as one self-contained page.",
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
    """Score captioning systems or detectors against a dataset.

    PREDICTIONS are COCO results as JSON, named after the system, or CSV files of captions
    with a column "system".

    The scores of captions are BLEU-1 to BLEU-4, METEOR, ROUGE-L and CIDEr-D, those of
    boxes and segmentations AP and AR as COCO defines them, with 95 % intervals; systems
    are compared with each other.

    Examples:
      piecework data score model.json --against out/demo/rehearsals/1/dataset
      piecework data score a.json b.json --against val.json --by difficulty
      piecework data score detector.json --against dataset/boxes_coco_val.json
    """
    from piecework.importing.captions import read_captions_to_compare
    from piecework.postprocess.datasets.detections import read_results

    if (results := read_results(predictions)) is not None:
        unused = {"--by": groupings, "--items": items, "--vizwiz": vizwiz}
        if others := [name for name, value in unused.items() if value]:
            raise click.UsageError(f"{', '.join(others)}: no use with detectors")
        _score_detectors(
            results, dataset, resamples=resamples, seed=seed, html=html, as_json=as_json
        )
        return
    from piecework.postprocess.datasets.image_columns import read_image_ids
    from piecework.postprocess.datasets.predictions import read_predictions, with_ids_of
    from piecework.report.corpus.system_page import system_page
    from piecework.report.corpus.system_scores import score_systems

    systems = read_predictions(predictions)
    corpus = read_captions_to_compare(dataset)
    ids = read_image_ids(dataset)
    scores = score_systems(
        corpus,
        with_ids_of({*corpus.images, *corpus.accepted}, systems, ids),
        groupings=image_groups(corpus, groupings, items or dataset),
        resamples=resamples,
        seed=seed,
        dataset=dataset,
        files=ids.files,
    )
    _show(system_page(scores, published=vizwiz), scores.as_dict(), html=html, as_json=as_json)


def _score_detectors(
    results: "Mapping[str, Sequence[object]]",
    dataset: Path,
    *,
    resamples: int,
    seed: int,
    html: Path | None,
    as_json: bool,
) -> None:
    from piecework.postprocess.datasets.detections import detections_of, read_objects
    from piecework.report.corpus.detector_scores import detectors_page, score_detectors

    people = read_objects(dataset)
    systems = {name: detections_of(listed, name, people) for name, listed in results.items()}
    scores = score_detectors(people, systems, resamples=resamples, seed=seed)
    _show(detectors_page(scores), scores.as_dict(), html=html, as_json=as_json)
