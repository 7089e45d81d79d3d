"""`new-task`: a task of one's own that runs at once, to be changed from there."""

from pathlib import Path

import click

from piecework.hit_templates.starters import STARTER_KINDS, StarterKind, write_starter


@click.command("new-task")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(STARTER_KINDS),
    default="choice",
    show_default=True,
    help="The question about an item: a sentence, one option, several options, or a "
    "place on a scale.",
)
def new_task(path: Path, kind: StarterKind) -> None:
    """Create a task of your own.

    The command writes the task into the folder PATH, and items and a campaign file
    beside it. The files have comments, and you can rehearse the campaign at once.

    \b
    Example:  piecework new-task dog --kind choice
              piecework rehearse dog.toml
    """  # noqa: D301 - click's mark for lines that stay lines
    campaign = write_starter(path, kind)
    click.echo(f"written: {path}/ (the task), {campaign} and its items")
    click.echo(f"next: piecework preview {campaign}")
