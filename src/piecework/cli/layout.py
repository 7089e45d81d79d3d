"""`layout`: pages with placeholders, which programs name by an id (HITLayoutId)."""

import json
from pathlib import Path

import click

from piecework.cli.lazy_group import LazyGroup
from piecework.cli.marketplace_file import transaction_in
from piecework.cli.options import DATABASE, JSON, WholeNumber
from piecework.config.user_files import read_text
from piecework.domain.errors import ConfigError
from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.requester import questions

_TALLEST = 999_999


@click.group(cls=LazyGroup)
def layout() -> None:
    """Manage HIT layouts for other programs.

    A program names a layout by its id (HITLayoutId). The commands change the
    marketplace's file. You need not stop or restart the server.

    Examples:
      piecework layout add page.html
      piecework layout list
    """


@layout.command()
@click.argument("page", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--frame-height",
    type=WholeNumber(0, _TALLEST),
    default=0,
    show_default=True,
    help="Height of the page in pixels; 0 lets the worker site decide.",
)
@DATABASE
@JSON
def add(*, page: Path, frame_height: int, database: Path, as_json: bool) -> None:
    """Store a layout and print its id.

    PAGE is an HTML file with placeholders like ${image_url}. The same page always gets
    the same id.

    Examples:
      piecework layout add page.html
      piecework layout add page.html --frame-height 600
    """
    try:
        html = read_text(page)
        with transaction_in(database, must_exist=False) as transaction:
            layout_id = questions.add_layout(
                transaction, name=page.name, html=html, frame_height=frame_height
            )
    except Refusal as refusal:
        raise ConfigError([f"{page}: {refusal.message}"]) from refusal
    names = questions.layout_gaps(html)
    if as_json:
        click.echo(json.dumps({"layout_id": layout_id, "parameters": names}))
        return
    click.echo(layout_id)
    click.echo(f"HITLayoutParameters: {', '.join(names) or 'none'}", err=True)


@layout.command(name="list")
@DATABASE
@JSON
def list_(*, database: Path, as_json: bool) -> None:
    """List all layouts and their parameters.

    Examples:
      piecework layout list
      piecework layout list --json
    """
    with transaction_in(database) as transaction:
        rows = [
            {
                "layout_id": row["layout_id"],
                "name": row["name"],
                "parameters": questions.layout_gaps(row["html"]),
            }
            for row in questions.list_layouts(transaction)
        ]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    for row in rows:
        click.echo(f"{row['layout_id']}  {row['name']}  {', '.join(row['parameters'])}")
