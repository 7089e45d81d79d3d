"""`prolific`: what a person does about an account at Prolific."""

import click

from piecework.cli.lazy_group import LazyCommand, LazyGroup

_COMMANDS = [
    LazyCommand(
        "doctor",
        "prolific_doctor",
        "Look whether an account can be worked with; nothing is written or paid.",
    ),
    LazyCommand(
        "reconcile",
        "prolific_reconcile",
        "Compare all studies with Prolific, and take in what was changed there by "
        "hand.",
    ),
    LazyCommand(
        "settle",
        "prolific_settle",
        "Say whether BATCH of bonuses was paid, where the file does not know.",
    ),
    LazyCommand(
        "status",
        "prolific_status",
        "Show a marketplace's studies: places, submissions, money, what waits for "
        "whom.",
    ),
]


@click.group(cls=LazyGroup, commands=_COMMANDS)
def prolific() -> None:
    """Inspect and manage a Prolific account.

    The account's token is read from PROLIFIC_TOKEN or from a file, and never shown.

    Example:  piecework prolific doctor
    """
