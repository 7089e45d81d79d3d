"""`assess`: what heuristics find, in a file of another tool or in imported answers."""

from pathlib import Path

import click

from piecework.cli.options import AS_CAMPAIGN, COLUMNS, DASK, FILES_IN_PARTS, JSON, TASK


@click.command()
@click.argument(
    "what",
    metavar="CAMPAIGN|FILES",
    type=click.Path(path_type=Path),
    nargs=-1,
    required=True,
)
@COLUMNS
@TASK
@click.option(
    "--html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the findings as one self-contained page.",
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
def assess(  # noqa: PLR0913 - an argument an option
    what: tuple[Path, ...],
    *,
    columns: Path | None,
    task: str | None,
    html: Path | None,
    parquet: Path | None,
    into: Path | None,
    campaign: Path | None,
    dask: str,
    as_json: bool,
) -> None:
    """Let every heuristic look at answers that another tool collected.

    Of FILES, nothing is kept and nothing decided: they are read as `import` reads
    them, together, judged and told. Of a CAMPAIGN that `piecework import` made,
    findings are kept and the rules of its file are followed: what nothing speaks
    against is kept, the rest waits for a person.
    FILES in piecework's own columns may outgrow memory: with --to FOLDER they are
    judged in parts, by this process or by a Dask cluster, with the same findings.

    \b
    Example:  piecework assess Batch_*.csv --html findings.html
              piecework assess stance.toml
              piecework assess answers/ --to findings --task caption --dask
              piecework assess answers/ --to findings --as birds.toml
    """  # noqa: D301 - click's mark for lines that stay lines
    from piecework.cli.work.assess import assess_campaign, assess_files, say

    if into is not None:
        if columns or html or parquet:
            raise click.UsageError("--columns, --html, --parquet are not of --to")
        from piecework.cli.work import partitions

        asked = partitions.asked(campaign=campaign, task_name=task or "")
        partitions.assess(what, into=into, asked=asked, dask=dask, as_json=as_json)
        return
    if dask or campaign:
        raise click.UsageError(f"{'--dask' if dask else '--as'} needs --to FOLDER")
    if any(path.suffix == ".toml" for path in what):
        if len(what) > 1:
            raise click.UsageError("one CAMPAIGN at a time, and no FILES beside it")
        if columns or task:
            raise click.UsageError("--columns and --task are of FILES")
        found = assess_campaign(what[0])
    else:
        found = assess_files(what, columns=columns, task_name=task or "")
    say(found, html=html, parquet=parquet, as_json=as_json)
