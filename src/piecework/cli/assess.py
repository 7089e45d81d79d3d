"""`assess`: runs heuristics on a file of another tool or on imported answers."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from piecework.cli.clean import origin_of, runner
from piecework.cli.options import (
    AS_CAMPAIGN,
    COLUMNS,
    DASK,
    FILES_IN_PARTS,
    JSON,
    TABLE_COLUMNS,
    TASK,
)
from piecework.cli.output import say_sections
from piecework.domain.imported import NamedColumns
from piecework.domain.text import plural

if TYPE_CHECKING:
    from piecework.importing.assessing import Assessed
    from piecework.results.large.assessing import AssessedParts

_MOST_ROWS = 12
"""Rows of a table on a terminal; --html and --parquet have all rows."""


@click.command()
@click.argument(
    "what", metavar="CAMPAIGN|FILES", type=click.Path(path_type=Path), nargs=-1, required=True
)
@TABLE_COLUMNS
@COLUMNS
@TASK
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the result as one self-contained page.",
)
@click.option(
    "--parquet",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the findings as a Parquet table.",
)
@FILES_IN_PARTS
@AS_CAMPAIGN
@DASK
@JSON
def assess(  # noqa: PLR0913 - an argument for each option
    what: tuple[Path, ...],
    *,
    stated: NamedColumns,
    columns: Path | None,
    task: str | None,
    html: Path | None,
    parquet: Path | None,
    into: Path | None,
    campaign: Path | None,
    dask: str,
    as_json: bool,
) -> None:
    """Run every heuristic on collected answers.

    For FILES in the formats of `piecework data import`, or any table whose columns
    options name, the command prints the findings and stores nothing.

    For a CAMPAIGN that `piecework data import` made, it stores them and applies the
    campaign's rules. What no rule flags is kept; the rest waits for a person.

    With --to FOLDER it judges answers in parts.

    Examples:
      piecework data assess stance.toml
      piecework data assess captions.csv --text caption --item image --worker who
      piecework data assess answers/ --to findings --task caption --dask
    """
    if into is not None:
        if columns or html or parquet:
            raise click.UsageError("--columns, --html and --parquet do not go with --to")
        in_parts = _assess_in_parts(
            what, stated, into=into, campaign=campaign, task_name=task or "", dask=dask
        )
        _say_parts(in_parts, as_json=as_json)
        return
    if dask or campaign:
        raise click.UsageError(f"{'--dask' if dask else '--as'} needs --to FOLDER")
    if columns and stated:
        raise click.UsageError("--columns FILE names all columns; leave out the other options")
    assessed = _assess(what, columns, task, stated)
    _write(assessed, html=html, parquet=parquet)
    if as_json:
        click.echo(json.dumps(_as_dict(assessed), indent=2, ensure_ascii=False))
        return
    say_sections(assessed.page, most_rows=_MOST_ROWS)
    for path in filter(None, (html, parquet)):
        click.echo(f"written: {path}")
    _say_end(assessed)


def _assess(
    what: Sequence[Path], columns: Path | None, task: str | None, stated: NamedColumns
) -> "Assessed":
    """Judge the campaign or the files."""
    from piecework.config.shared_files import read_reading
    from piecework.domain.imported import Reading
    from piecework.importing.assessing import assess_campaign, assess_files

    if not any(path.suffix == ".toml" for path in what):
        reading = read_reading(columns) if columns else Reading()
        return assess_files(what, reading, task_name=task or "", stated=stated)
    if len(what) > 1:
        raise click.UsageError("give one CAMPAIGN and no FILES beside it")
    if columns or task or stated:
        raise click.UsageError("--columns, --task and options for columns are for FILES")
    return assess_campaign(what[0])


def _assess_in_parts(
    paths: Sequence[Path],
    stated: NamedColumns,
    *,
    into: Path,
    campaign: Path | None,
    task_name: str,
    dask: str,
) -> "AssessedParts":
    """Judge answers in parts, and write the findings as Parquet to a folder."""
    from piecework.importing.opened_sources import write_answers_of
    from piecework.results.large.answer_files import Tables, are_answers
    from piecework.results.large.assessing import assess_in_parts, assess_tables

    if campaign and stated:
        raise click.UsageError("--as is for files of answers, whose columns are known")
    key = secrets.token_bytes()
    with runner(dask) as run_parts:
        if campaign or (not stated and are_answers(paths)):
            origin = origin_of(campaign=campaign, task_name=task_name)
            return assess_in_parts(
                paths,
                run_parts,
                into=into,
                key=key,
                task=origin.task,
                settings=origin.settings,
                seed=origin.seed,
                items=origin.items,
            )
        tables = Tables(
            paths=paths,
            read_as={"columns": asdict(stated), "task": task_name},
            write=partial(write_answers_of, paths, stated, task_name),
        )
        say = partial(click.echo, err=True)
        return assess_tables(tables, run_parts, into=into, key=key, say=say)


def _say_parts(assessed: "AssessedParts", *, as_json: bool) -> None:
    from piecework.qc.registry import TITLES

    if as_json:
        document = {
            "folder": str(assessed.folder),
            "answers": assessed.answers,
            "findings": assessed.findings,
            "flagged": dict(assessed.flagged),
        }
        click.echo(json.dumps(document, indent=2))
        return
    for name, number in assessed.flagged.items():
        click.echo(f"{number:>12,}  {TITLES.get(name, name)} ({name})")
    click.echo(
        f"{plural(assessed.answers, 'answer')} in {plural(assessed.files, 'file')}; "
        f"{plural(assessed.findings, 'finding')} in {assessed.folder}"
    )


def _write(assessed: "Assessed", *, html: Path | None, parquet: Path | None) -> None:
    from piecework.importing.assessing import write_findings
    from piecework.report.page import render_sections

    if html is not None:
        html.write_text(render_sections(assessed.page), encoding="utf-8")
    if parquet is not None:
        write_findings(assessed.findings, parquet)


def _as_dict(assessed: "Assessed") -> dict[str, object]:
    document: dict[str, object] = {"findings": assessed.findings.to_dict("records")}
    if assessed.remarks:
        document["remarks"] = [*assessed.remarks]
    if assessed.columns:
        document["columns"] = asdict(assessed.columns)
    if assessed.progress is not None:
        document["progress"] = assessed.progress.as_dict()
    return document


def _say_end(assessed: "Assessed") -> None:
    progress = assessed.progress
    if progress is None:
        click.echo("nothing was stored or decided")
        return
    click.echo(
        f"{plural(progress.accepted, 'answer')} kept, {progress.dropped:,} dropped; "
        f"{plural(progress.to_decide, 'decision')} wait for a person"
    )
    if assessed.drawn:
        click.echo(
            f"{plural(assessed.drawn, 'answer')} drawn at random for a person to "
            "check, flagged or not (random_sample)"
        )
