"""`clean` and `words`: cleans the texts of answers, and shows what cleaning doubts.

What commands on files of any size share stands here too: the runner of parts, and the
origin of the answers.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from piecework.cli.options import (
    DASK,
    ITEM,
    JSON,
    NO_FOLDERS,
    REHEARSAL_NUMBER,
    TEXT,
    load_results,
)
from piecework.domain.errors import ConfigError
from piecework.domain.imported import NamedColumns
from piecework.domain.money import shown
from piecework.domain.text import plural, shell_word

if TYPE_CHECKING:
    import pandas as pd

    from piecework.results.large.answer_files import Origin
    from piecework.results.large.work_folder import PartRunner


@click.command()
@click.argument("files", metavar="FILES", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--to",
    "into",
    metavar="FILE|FOLDER",
    required=True,
    type=click.Path(path_type=Path),
    help="Write this new .csv, .tsv, .jsonl or .parquet; or Parquet to this new folder.",
)
@TEXT
@ITEM
@click.option(
    "--edits",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the edits to this file; default: beside the file of --to.",
)
@DASK
@JSON
def clean(
    files: tuple[Path, ...],
    *,
    into: Path,
    text: str,
    item: str,
    edits: Path | None,
    dask: str,
    as_json: bool,
) -> None:
    """Clean the texts in a table.

    With --to FILE, the command adds the column clean_text to a CSV, JSON Lines or Parquet
    file, and writes the edits to a second file. With --to FOLDER it cleans FILES of any
    size.

    For a campaign, `piecework export` cleans the texts.

    Examples:
      piecework data clean captions.csv --to cleaned.csv
      piecework data clean part-*.jsonl --to clean --text caption --item image
    """
    from piecework.importing.whole_table import FORMATS, refuse_losses

    stated = NamedColumns(text=text, item=item)
    if into.suffix in FORMATS:
        refuse_losses(files)
        _clean_table(files, stated, into=into, edits=edits, dask=dask, as_json=as_json)
        return
    if into.suffix in NO_FOLDERS:
        raise click.UsageError(
            f"--to {into}: name a file that ends in {', '.join(FORMATS)}, or a folder"
        )
    if edits is not None:
        raise click.UsageError("--edits goes with a file of --to; in a folder, each text has them")
    _clean_in_parts(files, stated, into=into, dask=dask, as_json=as_json)


def _clean_in_parts(
    files: Sequence[Path], stated: NamedColumns, *, into: Path, dask: str, as_json: bool
) -> None:
    """Clean files of any size; tables of another origin become files of answers first."""
    from piecework.importing.whole_table import TextTables, refuse_losses
    from piecework.results.large.answer_files import Tables, answer_files, are_answers
    from piecework.results.large.cleaning import clean_files, clean_tables

    with runner(dask) as run_parts:
        if stated or not are_answers(files):
            paths = answer_files(files)
            refuse_losses(paths)
            texts = TextTables.of(paths, stated)
            for remark in texts.remarks:
                click.echo(remark, err=True)
            read_as = {"columns": asdict(texts.by_names.columns)}
            tables = Tables(paths=paths, read_as=read_as, write=texts.write)
            done = clean_tables(tables, run_parts, into=into)
        else:
            done = clean_files(files, run_parts, into=into)
    if as_json:
        click.echo(json.dumps({**asdict(done), "folder": str(done.folder)}, indent=2))
        return
    click.echo(
        f"{plural(done.edits, 'edit')} in {done.changed:,} of "
        f"{plural(done.answers, 'answer')}, {plural(done.proposals, 'proposal')}; "
        f"in {done.folder}"
    )


_CLEAN_TEXT = "clean_text"


@contextmanager
def beside(into: Path) -> Iterator[Path]:
    """Yield a temporary folder beside another, which the workers of a cluster see too."""
    into.resolve().parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".piecework-", dir=into.resolve().parent) as folder:
        yield Path(folder)


def _clean_table(
    files: Sequence[Path],
    stated: NamedColumns,
    *,
    into: Path,
    edits: Path | None,
    dask: str,
    as_json: bool,
) -> None:
    """Clean one table in memory, and write it with its clean texts and the edits."""
    from piecework.importing.named_columns import FOR_CLEANING
    from piecework.importing.whole_table import (
        FORMATS,
        read_whole,
        refuse_copy,
        write_rows,
        write_with,
    )

    if len(files) > 1:
        raise click.UsageError(f"--to {into}: several FILES need a folder")
    edits = edits or into.with_name(f"{into.stem}.edits{into.suffix}")
    if edits.suffix not in FORMATS:
        raise click.UsageError(f"--edits {edits}: name a file that ends in {', '.join(FORMATS)}")
    for path in (into, edits):
        if path.exists() or into == edits:
            raise ConfigError(
                [f"{path}: already exists"], next_step="remove it, or name another file"
            )
    table = read_whole(files[0], stated, FOR_CLEANING)
    refuse_copy(table, _CLEAN_TEXT, into)
    texts, made = _cleaned(table.texts(), into, dask)
    write_with(table, _CLEAN_TEXT, texts, into)
    rows = [
        {str(name): cell for name, cell in row.items()} | {"row": int(row["row"]) + 1}
        for row in made.to_dict("records")
    ]
    write_rows(rows, [str(name) for name in made], edits)
    is_made = made["is_made"].astype("bool")
    counts = {
        "rows": len(table),
        "changed": int(made.loc[is_made, "row"].nunique()),
        "edits": int(is_made.sum()),
        "proposals": int((~is_made).sum()),
    }
    if as_json:
        document = {"file": str(into), "edits_file": str(edits), **counts}
        document["columns"] = asdict(table.columns)
        click.echo(json.dumps(document, indent=2))
        return
    for remark in table.remarks:
        click.echo(remark)
    click.echo(
        f"{plural(counts['edits'], 'edit')} in {counts['changed']:,} of "
        f"{plural(counts['rows'], 'row')}, {plural(counts['proposals'], 'proposal')}"
    )
    click.echo(f"written: {into}, and the edits: {edits}")


def _cleaned(
    texts: "pd.DataFrame", into: Path, dask: str
) -> "tuple[list[str | None], pd.DataFrame]":
    """Return the clean text of each row, None for a row without a text, and the edits."""
    if not dask:
        from piecework.library.cleaning import clean_texts

        cleaned = clean_texts(texts)
        clean, edits = cleaned.texts["clean_text"], cleaned.edits
    else:
        from piecework.results.large.cleaning import clean_frame

        with runner(dask) as run_parts, beside(into) as folder:
            clean, edits = clean_frame(texts, run_parts, folder)
    return clean.astype("object").where(texts["text"].notna(), None).tolist(), edits


_SHOWN = 20


@click.command()
@click.argument("path", metavar="CAMPAIGN", type=click.Path(path_type=Path))
@REHEARSAL_NUMBER
@click.option(
    "--from",
    "asked_in",
    metavar="CAMPAIGN",
    type=click.Path(path_type=Path),
    help="Take the decisions of this campaign's workers, whose task is which_word.",
)
@JSON
def words(path: Path, *, asked_in: Path | None, as_json: bool) -> None:
    """Show or decide words that cleaning doubts.

    Without options the command lists the words about which cleaning is unsure, how many
    mistakes to expect in them, and what it costs to ask three workers about each.

    Examples:
      piecework data words birds.toml
      piecework export birds.toml --items-for which_word birds_words.csv
      piecework data words birds.toml --from birds_words.toml
    """
    if asked_in is not None:
        _take(path, asked_in, as_json=as_json)
    else:
        _list(path, as_json=as_json)


def _take(path: Path, asked_in: Path, *, as_json: bool) -> None:
    """Store the decisions of another campaign's workers, and clean again."""
    from piecework.engine.opening import open_to_look
    from piecework.results.cleaning import clean_answers
    from piecework.results.follow_up_items import take_words

    with (
        open_to_look(load_results(path)) as opened,
        open_to_look(load_results(asked_in)) as asked,
    ):
        clean_answers(opened)
        taken = take_words(opened, asked)
        number = clean_answers(opened)
    if as_json:
        click.echo(json.dumps({**asdict(taken), "edits": number}, indent=2))
        return
    click.echo(
        f"{plural(taken.replaced, 'word')} replaced, {taken.right:,} right as "
        f"written, {taken.unsure:,} still unsure"
    )
    if taken.by_reviewer:
        click.echo(f"decided by a reviewer before: {taken.by_reviewer:,}")
    if taken.unknown:
        click.echo(f"no longer doubted: {taken.unknown:,}")
    click.echo(f"cleaning now makes {plural(number, 'edit')}")
    click.echo(f"next: piecework export {shell_word(path)}")


def _list(path: Path, *, as_json: bool) -> None:
    """Show the words, the mistakes to expect in them, and the price of answers."""
    from piecework.engine.opening import open_to_look
    from piecework.hit_templates.tasks import load_task
    from piecework.results.cleaning import clean_answers
    from piecework.results.follow_up_items import WORD_TASK, word_cost, word_questions

    with open_to_look(load_results(path)) as opened:
        clean_answers(opened)
        questions = word_questions(opened)
        price = word_cost(opened, len(questions), load_task(WORD_TASK, beside=Path()))
        currency = opened.campaign.rewards.currency
    mistakes = sum(question.mistakes for question in questions)
    if as_json:
        facts = {
            "words": [asdict(question) for question in questions],
            "mistakes": round(mistakes, 1),
            **asdict(price),
        }
        click.echo(json.dumps(facts, indent=2))
        return
    for question in questions[:_SHOWN]:
        click.echo(f"{question.times:>5} {question.word}  {question.proposed}?")
    if len(questions) > _SHOWN:
        click.echo(f"and {len(questions) - _SHOWN:,} more")
    click.echo(f"{plural(len(questions), 'word')} that cleaning doubts")
    if questions:
        click.echo(
            f"{mistakes:.0f} mistakes to expect in them. Three answers to each cost "
            f"{shown(price.cents, currency)}: {plural(price.hits, 'HIT')} of {WORD_TASK}"
        )
        click.echo(f"next: piecework export {shell_word(path)} --items-for {WORD_TASK} words.csv")


def origin_of(*, campaign: Path | None, task_name: str) -> "Origin":
    """Return the origin of answers that `--as` and `--task` state."""
    from piecework.campaign.assembling import load_campaign
    from piecework.hit_templates.tasks import load_task
    from piecework.results.large.answer_files import UNKNOWN_TASK, Origin

    if campaign is None:
        return Origin(task=load_task(task_name) if task_name else UNKNOWN_TASK)
    if task_name:
        raise click.UsageError("--as already states the task; leave out --task")
    loaded = load_campaign(campaign)
    return Origin(task=loaded.task, campaign=loaded)


@contextmanager
def runner(dask: str) -> Iterator["PartRunner"]:
    """Yield what runs the parts: this process, or Dask if an address is given."""
    from piecework.results.large.work_folder import here, on_dask

    with _progress() as report:
        if not dask:
            yield here(report)
            return
        with on_dask(dask, report) as run_parts:
            yield run_parts


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """Yield what shows each step: a bar on a terminal, otherwise a line."""
    if not sys.stderr.isatty():
        yield (
            lambda step, done, of: (
                click.echo(f"{step}: {plural(of, 'part')}", err=True) if done == of else None
            )
        )
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bars = {}

        def show(step: str, done: int, of: int) -> None:
            if step not in bars:
                bars[step] = progress.add_task(step, total=of)
            progress.update(bars[step], completed=done)

        yield show
