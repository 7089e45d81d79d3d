"""`import`: results that other tools collected, as a campaign of their own."""

from pathlib import Path

import click

from piecework.cli.options import COLUMNS, JSON, TASK


@click.command("import")
@click.argument("files", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--as",
    "campaign",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The campaign file to write, or to add to if it is there.",
)
@click.option(
    "--map",
    "only_map",
    is_flag=True,
    help="Only show what was understood; write nothing.",
)
@COLUMNS
@TASK
@JSON
def import_results(
    files: tuple[Path, ...],
    *,
    campaign: Path | None,
    only_map: bool,
    columns: Path | None,
    task: str | None,
    as_json: bool,
) -> None:
    """Make a campaign of results that another tool collected.

    MTurk's batch results, API answers, and what other tools make of them are
    recognised by their content; of any other CSV or JSON Lines say with --columns
    which column is what. Nothing can be posted or paid from such a campaign. Reading a
    file again adds nothing twice.

    \b
    Example:  piecework import Batch_*.csv --as stance.toml
              piecework import answers.csv --columns columns.toml --map
              piecework import --as stance.toml      (after a change of its fields)
    """  # noqa: D301 - click's mark for lines that stay lines
    if campaign is None and not only_map:
        raise click.UsageError("say --as CAMPAIGN.toml, or --map to only look")
    if campaign is not None and campaign.suffix != ".toml":
        raise click.UsageError(f"--as {campaign}: a campaign file ends in .toml")
    from piecework.cli.work.import_results import bring_in

    bring_in(
        files,
        into=campaign,
        columns=columns,
        task=task or "",
        only_map=only_map,
        as_json=as_json,
    )
