"""`clean`: the texts of answers in files, mended by edits."""

from pathlib import Path

import click

from piecework.cli.options import DASK, JSON


@click.command()
@click.argument(
    "files", metavar="FILES", type=click.Path(path_type=Path), nargs=-1, required=True
)
@click.option(
    "--to",
    "into",
    metavar="FOLDER",
    required=True,
    type=click.Path(path_type=Path),
    help="Write Parquet into this new folder.",
)
@DASK
@JSON
def clean(files: tuple[Path, ...], *, into: Path, dask: str, as_json: bool) -> None:
    """Clean the texts of answers in Parquet FILES, all together.

    FILES are in piecework's own columns (docs/partitions.md). They are worked on in
    parts, by this process or by a Dask cluster, with the same edits. A campaign's own
    answers are cleaned when its dataset is written.

    Example:  piecework clean answers/ --to clean --dask
    """
    from piecework.cli.work import partitions

    partitions.clean(files, into=into, dask=dask, as_json=as_json)
