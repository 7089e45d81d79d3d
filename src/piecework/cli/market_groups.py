"""`panel`, `connect` and `prolific`: the commands of each market, none of them imported."""

import click

from piecework.cli.lazy_group import LazyCommand, LazyGroup

_PANEL = [
    LazyCommand("example", "panel:panel_example", "Print a ready-made panel file."),
    LazyCommand("link", "panel:panel_link", "Print a person's link, to try it."),
    LazyCommand("pay-list", "panel:panel_pay_list", "Write whom the panel must pay."),
]


@click.group(cls=LazyGroup, commands=_PANEL)
def panel() -> None:
    """Prepare panels and write their pay lists.

    A panel sends people by a link and pays them from a list. `piecework serve --crowd
    panel` serves them.

    Examples:
      piecework panel example external > panel.toml
      piecework panel pay-list panel.toml monday.csv
    """


_CONNECT = [
    LazyCommand("doctor", "connect:connect_doctor", "Check an account, and what is assumed."),
    LazyCommand(
        "reconcile", "connect:connect_reconcile", "Decide about projects that the file lacks."
    ),
    LazyCommand("settle", "connect:connect_settle", "Record whether bonuses were paid."),
    LazyCommand("status", "connect:connect_status", "Show a marketplace's projects."),
]


@click.group(cls=LazyGroup, commands=_CONNECT)
def connect() -> None:
    """Inspect and manage a Connect account.

    The commands read the account's key from CONNECT_API_KEY or from a file. They never
    show it. No command was tried on a real account yet.

    Examples:
      piecework connect doctor
      piecework connect status --database marketplace.db
    """


_PROLIFIC = [
    LazyCommand("doctor", "prolific:prolific_doctor", "Check that an account is ready."),
    LazyCommand(
        "estimate", "prolific_campaign:prolific_estimate", "Ask who is eligible, cost and time."
    ),
    LazyCommand(
        "filters", "prolific:prolific_filters", "Find filters that a campaign can ask for."
    ),
    LazyCommand(
        "reconcile", "prolific_studies:prolific_reconcile", "Compare all studies with Prolific."
    ),
    LazyCommand("settle", "prolific_studies:prolific_settle", "Record whether bonuses were paid."),
    LazyCommand("status", "prolific_studies:prolific_status", "Show a marketplace's studies."),
    LazyCommand("try", "prolific_campaign:prolific_try", "Do one visit as a test participant."),
]


@click.group(cls=LazyGroup, commands=_PROLIFIC)
def prolific() -> None:
    """Inspect and manage a Prolific account.

    The commands read the account's token from PROLIFIC_TOKEN or from a file. They never
    show it.

    Examples:
      piecework prolific doctor
      piecework prolific status --database marketplace.db
    """
