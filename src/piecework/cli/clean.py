"""`clean`: cleans the texts of answers in Parquet files."""

import json
from dataclasses import asdict
from pathlib import Path

import click

from piecework.cli.in_parts import runner
from piecework.cli.options import DASK, JSON
from piecework.domain.counts import plural


@click.command()
@click.argument("files", metavar="FILES", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option(
    "--to",
    "into",
    metavar="FOLDER",
    required=True,
    type=click.Path(path_type=Path),
    help="Write Parquet to this new folder.",
)
@DASK
@JSON
def clean(files: tuple[Path, ...], *, into: Path, dask: str, as_json: bool) -> None:
    """Clean the texts in large Parquet files.

    FILES have piecework's own columns. This process or a Dask cluster cleans them in
    parts, with the same edits. For a campaign, `piecework export` cleans the texts.

    Examples:
      piecework clean answers/ --to clean
      piecework clean answers/ --to clean --dask
    """
    from piecework.bulk.cleaning import clean_files

    with runner(dask) as run_parts:
        done = clean_files(files, run_parts, into=into)
    if as_json:
        click.echo(json.dumps({**asdict(done), "folder": str(done.folder)}, indent=2))
        return
    click.echo(
        f"{plural(done.edits, 'edit')} in {done.changed:,} of "
        f"{plural(done.answers, 'answer')}, {plural(done.proposals, 'proposal')}; "
        f"in {done.folder}"
    )
