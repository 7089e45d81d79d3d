"""`export`: dataset and report again."""

from pathlib import Path

import click

from cli.options import CAMPAIGN


@click.command()
@CAMPAIGN
def export(campaign: Path) -> None:
    """Write the dataset and the report again, as far as the campaign has come.

    Example:  piecework export config/campaigns/demo.toml
    """
    from flows.assembling import load_campaign  # noqa: PLC0415
    from flows.opening import open_to_look  # noqa: PLC0415
    from flows.results.clean import clean  # noqa: PLC0415 - dictionaries cost a second
    from flows.results.export import export as write_files  # noqa: PLC0415

    with open_to_look(load_campaign(campaign)) as run:
        clean(run)
        report = write_files(run)
        click.echo(f"dataset: {run.campaign.out / 'dataset'}")
        click.echo(f"report: {report}")
