"""`prolific`: commands about an account at Prolific."""

import click

from piecework.cli.lazy_group import LazyCommand, LazyGroup

_COMMANDS = [
    LazyCommand("doctor", "prolific_doctor", "Check that an account is ready."),
    LazyCommand("estimate", "prolific_estimate", "Ask who is eligible, cost and time."),
    LazyCommand("filters", "prolific_filters", "Find filters that a campaign can ask for."),
    LazyCommand("reconcile", "prolific_reconcile", "Compare all studies with Prolific."),
    LazyCommand("settle", "prolific_settle", "Record whether bonuses were paid."),
    LazyCommand("status", "prolific_status", "Show a marketplace's studies."),
    LazyCommand("try", "prolific_try", "Do one visit as a test participant."),
]


@click.group(cls=LazyGroup, commands=_COMMANDS)
def prolific() -> None:
    """Inspect and manage a Prolific account.

    The commands read the account's token from PROLIFIC_TOKEN or from a file. They never
    show it.

    Examples:
      piecework prolific doctor
      piecework prolific status --database marketplace.db
    """
