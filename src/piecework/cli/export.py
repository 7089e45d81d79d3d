"""`export`: writes dataset and report again, or the tables of Parquet files."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.clean import origin_of, runner
from piecework.cli.options import (
    AS_CAMPAIGN,
    DASK,
    FILES_IN_PARTS,
    JSON,
    REHEARSAL_NUMBER,
    TASK,
    load_results,
)
from piecework.cli.output import also_sent_lines, say_changes
from piecework.domain.errors import StoreError
from piecework.domain.text import plural, shell_word

if TYPE_CHECKING:
    from piecework.campaign.opened import OpenedCampaign
    from piecework.results.large.answer_files import Origin


def _table_file(_ctx: click.Context, _param: click.Parameter, path: Path | None) -> Path | None:
    """Return the file of answers to write; its ending says which table."""
    if path is not None and path.suffix not in {".csv", ".parquet"}:
        raise click.BadParameter(f"{path}: the file's name ends in .parquet or .csv")
    return path


@click.command()
@click.argument(
    "what", metavar="CAMPAIGNS|FILES", type=click.Path(path_type=Path), nargs=-1, required=True
)
@click.option(
    "--answers",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=_table_file,
    help="Write just all answers: to .parquet, as `data assess` and `export` read it, or to "
    ".csv, with the columns of MTurk's batch results.",
)
@click.option(
    "--items-for",
    metavar="TASK FILE",
    type=(str, click.Path(path_type=Path, dir_okay=False)),
    help="Write just the items of a next campaign of TASK, from this campaign's "
    "labels; for which_word, from words that cleaning doubts.",
)
@click.option("--report-only", is_flag=True, help="With CAMPAIGNS: leave the dataset as it is.")
@TASK
@FILES_IN_PARTS
@AS_CAMPAIGN
@REHEARSAL_NUMBER
@DASK
@JSON
def export(  # noqa: PLR0913 - an argument for each option
    what: tuple[Path, ...],
    *,
    answers: Path | None,
    items_for: tuple[str, Path] | None,
    report_only: bool,
    task: str | None,
    into: Path | None,
    campaign: Path | None,
    dask: str,
    as_json: bool,
) -> None:
    """Write the dataset and report again.

    The campaign may still run: the files show the work so far, with clean texts and
    pseudonyms.

    With --to FOLDER it exports Parquet FILES of answers, of any size, in parts: answers
    that count, those set aside, and items with labels.

    Examples:
      piecework export birds.toml
      piecework export birds.toml --answers batch_results.csv
      piecework export answers/ --to dataset --task caption --dask
    """
    one_file = {"--answers": answers, "--items-for": items_for}
    asked_for = [name for name, path in one_file.items() if path is not None]
    if report_only:
        asked_for.append("--report-only")
    if fault := _fault(what, asked_for, is_in_parts=into is not None):
        raise click.UsageError(fault)
    if into is not None:
        origin = origin_of(campaign=campaign, task_name=task or "")
        _export_files(what, into=into, origin=origin, dask=dask, as_json=as_json)
        return
    if dask or campaign or task:
        raise click.UsageError("--dask, --as and --task are for FILES, with --to FOLDER")
    if items_for is not None:
        _export_items(what[0], *items_for, as_json=as_json)
        return
    written = [
        _report_of_campaign(path) if report_only else _of_campaign(path, answers) for path in what
    ]
    if as_json:
        click.echo(json.dumps({"campaigns": written}, indent=2))
        return
    for facts in written:
        _say(facts)


def _export_files(
    files: Sequence[Path], *, into: Path, origin: "Origin", dask: str, as_json: bool
) -> None:
    """Write a dataset's tables in parts, each a folder of Parquet files."""
    from piecework.results.large.exporting import export_files

    with runner(dask) as run_parts:
        done = export_files(
            files,
            run_parts,
            into=into,
            facts=origin.facts(name=into.name),
            key=secrets.token_bytes(),
            items=origin.items,
        )
    if as_json:
        click.echo(json.dumps({**asdict(done), "folder": str(done.folder)}, indent=2))
        return
    for name, number in done.rows.items():
        click.echo(f"{number:>12,}  {done.folder / name}")
    click.echo(f"from {plural(done.answers, 'answer')}")


def _export_items(path: Path, task_name: str, file: Path, *, as_json: bool) -> None:
    """Write the items file of the next campaign, and say what is not in it."""
    from piecework.engine.opening import open_to_look
    from piecework.hit_templates.tasks import load_task
    from piecework.results.follow_up_items import WORD_TASK, write_next_items

    with open_to_look(load_results(path)) as opened:
        task = load_task(task_name, beside=Path())
        if task.name == WORD_TASK:
            _export_words(opened, file, as_json=as_json)
            return
        items = write_next_items(opened, task, file)
    if as_json:
        facts = asdict(items)
        facts["rows"] = len(items.rows)
        click.echo(json.dumps({**facts, "file": str(file)}, indent=2))
        return
    click.echo(f"{plural(len(items.rows), 'item')} for {task.name} in {file}")
    for label, number in items.other_labels.items():
        click.echo(f"not taken: {plural(number, 'item')} labelled {label}")
    if items.unlabelled:
        click.echo(f"without a label: {plural(items.unlabelled, 'item')}")
    for name in items.missing:
        click.echo(f"fill in the column {name}, which no item has")


def _export_words(opened: "OpenedCampaign", file: Path, *, as_json: bool) -> None:
    """Write the items file of a campaign about words that cleaning doubts."""
    from piecework.results.cleaning import clean_answers
    from piecework.results.follow_up_items import word_questions, write_word_items

    clean_answers(opened)
    questions = word_questions(opened)
    write_word_items(questions, file)
    if as_json:
        click.echo(json.dumps({"rows": len(questions), "file": str(file)}, indent=2))
        return
    click.echo(f"{plural(len(questions), 'word')} that cleaning doubts in {file}")


def _fault(what: Sequence[Path], asked_for: list[str], *, is_in_parts: bool) -> str:
    """Return why this cannot be exported and what to type instead; "" if it can."""
    campaigns = [path for path in what if path.suffix == ".toml"]
    files = [path for path in what if path not in campaigns]
    if len(asked_for) > 1:
        return f"{' and '.join(asked_for)}: give only one of them"
    if is_in_parts and asked_for:
        return f"{asked_for[0]} is for a CAMPAIGN, --to for FILES"
    if is_in_parts and campaigns:
        return (
            f"--to is for FILES; {campaigns[0]} is a CAMPAIGN, which has an output "
            f"folder of its own. To export FILES by its rules: --as {shell_word(campaigns[0])}"
        )
    if files and not is_in_parts:
        return _fault_of_files(files)
    if asked_for and asked_for != ["--report-only"] and len(campaigns) > 1:
        return f"{asked_for[0]} FILE holds the answers of one CAMPAIGN"
    return ""


def _fault_of_files(files: Sequence[Path]) -> str:
    named = f"{files[0]} is"
    if len(files) > 1:
        named = f"{files[0]} and {plural(len(files) - 1, 'other')} are"
    if all(path.suffix == ".parquet" or path.is_dir() for path in files):
        return (
            f"{named} not a CAMPAIGN; answers in Parquet need a new folder for their "
            "tables: piecework export FILES --to FOLDER"
        )
    return (
        f"{named} not a CAMPAIGN (NAME.toml); to make one from another tool's files: "
        "piecework data import FILES --as NAME.toml, then piecework export NAME.toml"
    )


_Written = dict[str, str | int | dict[str, int]]
"""Paths and counts by name; `also_sent` has the answers by name."""


def _say(written: _Written) -> None:
    for name in ("answer", "assignment"):
        if f"{name}s" in written:
            number = plural(int(str(written[f"{name}s"])), name)
            click.echo(f"{number} in {written['file']}")
            return
    if "dataset" in written:
        click.echo(f"dataset: {written['dataset']}")
    click.echo(f"report: {written['report']}")
    if isinstance(also_sent := written.get("also_sent"), dict):
        for line in also_sent_lines(also_sent):
            click.echo(line)
    if "release" in written:
        click.echo(f"latest release: {written['release']} in {written['releases']}")


def _of_campaign(path: Path, answers: Path | None) -> "_Written":
    """Write the files of a campaign; return their paths and counts by name."""
    from piecework.engine.opening import open_to_look
    from piecework.results.cleaning import clean_answers
    from piecework.results.export import export as write_files
    from piecework.results.export import write_answers, write_batch_results
    from piecework.results.releases import FOLDER, latest_release
    from piecework.store import assignments

    with open_to_look(load_results(path)) as opened:
        if not assignments.count_assignments(opened.store):
            raise StoreError(
                f"{path}: no answers came in yet, so nothing was written",
                next_step=f"piecework status {shell_word(path)}",
            )
        if answers is not None and answers.suffix == ".csv":
            number = write_batch_results(opened, answers)
            return {"campaign": str(path), "assignments": number, "file": str(answers)}
        clean_answers(opened)
        if answers is not None:
            number = write_answers(opened, answers)
            return {"campaign": str(path), "answers": number, "file": str(answers)}
        report = write_files(opened)
        say_changes(opened)
        out = opened.campaign.out
        facts: _Written = {
            "campaign": str(path),
            "dataset": str(out / "dataset"),
            "report": str(report),
        }
        if also_sent := assignments.names_also_sent(opened.store):
            facts["also_sent"] = also_sent
        if opened.campaign.has_releases:
            facts["releases"] = str(out / FOLDER)
            facts["release"] = latest_release(out / FOLDER)
        return facts


def _report_of_campaign(path: Path) -> "_Written":
    """Write the report of a campaign; return its path by name."""
    from piecework.engine.opening import open_to_look
    from piecework.results.export import write_report

    with open_to_look(load_results(path)) as opened:
        report = write_report(opened)
        say_changes(opened)
    return {"campaign": str(path), "report": str(report)}
