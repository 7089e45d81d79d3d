"""`export`: dataset and report again."""

from pathlib import Path

import click

from cli.options import CAMPAIGN


@click.command()
@CAMPAIGN
@click.option(
    "--answers",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Instead, write all answers into one Parquet file, as `assess FILES` reads "
    "them.",
)
def export(campaign: Path, *, answers: Path | None) -> None:
    """Write the dataset and the report again, as far as the campaign has come.

    \b
    Example:  piecework export config/campaigns/demo.toml
              piecework export config/campaigns/demo.toml --answers answers.parquet
    """  # noqa: D301 - click's mark for lines that stay lines
    from domain.counts import plural  # noqa: PLC0415
    from flows.assembling import load_campaign  # noqa: PLC0415
    from flows.opening import open_to_look  # noqa: PLC0415
    from flows.results.answers_file import write_answers  # noqa: PLC0415
    from flows.results.clean import clean  # noqa: PLC0415 - dictionaries cost a second
    from flows.results.export import export as write_files  # noqa: PLC0415

    with open_to_look(load_campaign(campaign)) as run:
        clean(run)
        if answers is not None:
            click.echo(f"{plural(write_answers(run, answers), 'answer')} in {answers}")
            return
        report = write_files(run)
        click.echo(f"dataset: {run.campaign.out / 'dataset'}")
        click.echo(f"report: {report}")
