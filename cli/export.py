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
    from flows.steps.clean import clean  # noqa: PLC0415 - dictionaries cost a second
    from flows.steps.export import export as write_files  # noqa: PLC0415
    from flows.wiring import stored_place  # noqa: PLC0415

    with stored_place(load_campaign(campaign)) as place:
        clean(place)
        click.echo(f"report: {write_files(place)}")
