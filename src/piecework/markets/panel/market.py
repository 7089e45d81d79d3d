"""Any panel, as piecework knows it before its code is needed."""

from piecework.markets.registry import Command, Market

MARKET = Market(
    name="panel",
    summary="Prepare panels and write their pay lists.",
    help="""
    A panel sends people by a link and pays them from a list. `piecework market serve --crowd
    panel` serves them.

    Examples:
      piecework market panel example external > panel.toml
      piecework market panel pay-list panel.toml monday.csv
    """,
    page="docs/how-to/panel.md",
    commands=(
        Command("example", "commands.lists:panel_example", "Print a ready-made panel file."),
        Command("link", "commands.lists:panel_link", "Print a person's link, to try it."),
        Command("pay-list", "commands.lists:panel_pay_list", "Write whom the panel must pay."),
    ),
    has_bridge=False,
    files=("panel.toml", "panel.secret"),
    rehearsed_crowd="panel_crowd:rehearsed_crowd",
)
