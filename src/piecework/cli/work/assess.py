"""Prints findings and writes them down where that was asked for."""

import json
from collections.abc import Sequence
from pathlib import Path

import click
import pyarrow as pa

from piecework.cli.sections import say_sections
from piecework.config.campaign_file import parse
from piecework.config.imported_file import read_reading
from piecework.domain.counts import plural
from piecework.domain.errors import ConfigError
from piecework.domain.imported import Reading
from piecework.domain.verdicts import RANDOM_SAMPLE
from piecework.importing import assessing
from piecework.importing.assessing import Assessed
from piecework.postprocess.datasets.file_table import NUMBER, TEXT, WHOLE, FileTable
from piecework.postprocess.datasets.parquet_file import write_parquet
from piecework.report.sections_page import render_sections

_MOST_ROWS = 12
"""What a terminal shows; --html and --parquet have all."""

_TYPES: dict[str, pa.DataType] = dict.fromkeys(assessing.COLUMNS, TEXT) | {
    "version": WHOLE,
    "touched": WHOLE,
    "suspicion": NUMBER,
}


def assess_files(
    paths: Sequence[Path], *, columns: Path | None, task_name: str
) -> Assessed:
    """Look at files together; nothing is kept."""
    reading = read_reading(columns) if columns else Reading()
    return assessing.assess_files(paths, reading, task_name=task_name)


def assess_campaign(path: Path) -> Assessed:
    """Judge imported answers by the campaign's rules.

    Raises:
        ConfigError: the campaign collects its answers itself.
    """
    if parse(path).tables.imported is None:
        raise ConfigError(
            [f"{path}: its passes assess what they collect; nothing is to be done"],
            next_step=f"piecework status {path}",
        )
    return assessing.assess_campaign(path)


def say(
    found: Assessed, *, html: Path | None, parquet: Path | None, as_json: bool
) -> None:
    """Print what was found; a page and a table where they are asked for."""
    if html is not None:
        html.write_text(render_sections(found.page), encoding="utf-8")
    if parquet is not None:
        with parquet.open("wb") as file:
            write_parquet(FileTable(cells=found.findings, types=_TYPES), file)
    if as_json:
        document = {"findings": found.findings.to_dict("records")}
        if found.progress is not None:
            document["progress"] = found.progress.as_dict()  # type: ignore[assignment]
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return
    say_sections(found.page, most_rows=_MOST_ROWS)
    for path in (html, parquet):
        if path is not None:
            click.echo(f"written: {path}")
    _end(found)


def _end(found: Assessed) -> None:
    progress = found.progress
    if progress is None:
        click.echo("nothing was kept, and nothing decided")
        return
    click.echo(
        f"{plural(progress.accepted, 'answer')} kept, {progress.dropped:,} dropped; "
        f"{plural(progress.to_decide, 'decision')} wait for a person"
    )
    if found.drawn:
        click.echo(
            f"{plural(found.drawn, 'answer')} drawn by chance for a person to look at, "
            f"flagged or not ({RANDOM_SAMPLE})"
        )
