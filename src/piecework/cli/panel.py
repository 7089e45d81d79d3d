"""`panel`: commands for panels that send people by a link."""

import click

from piecework.cli.lazy_group import LazyCommand, LazyGroup

_COMMANDS = [
    LazyCommand("example", "panel_example", "Print a ready-made panel file."),
    LazyCommand("link", "panel_link", "Print a person's link, to try it."),
    LazyCommand("pay-list", "panel_pay_list", "Write whom the panel must pay."),
]


@click.group(cls=LazyGroup, commands=_COMMANDS)
def panel() -> None:
    """Prepare panels and write their pay lists.

    A panel sends people by a link and pays them from a list. `piecework serve --crowd
    panel` serves them.

    Examples:
      piecework panel example external > panel.toml
      piecework panel pay-list panel.toml monday.csv
    """
