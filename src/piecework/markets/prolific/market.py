"""Prolific, as piecework knows it before its code is needed."""

from piecework.markets.registry import Command, Market

MARKET = Market(
    name="prolific",
    summary="Inspect and manage a Prolific account.",
    help="""
    The commands read the account's token from PROLIFIC_TOKEN or from a file. They never
    show it.

    Examples:
      piecework market prolific doctor
      piecework market prolific status --database marketplace.db
    """,
    page="docs/how-to/prolific.md",
    commands=(
        Command("doctor", "commands.account:doctor", "Check that an account is ready."),
        Command("filters", "commands.account:filters", "Find filters that a campaign can ask for."),
        Command("reconcile", "commands.studies:reconcile", "Compare all studies with Prolific."),
        Command("settle", "commands.studies:settle", "Record whether bonuses were paid."),
        Command("status", "commands.studies:status", "Show a marketplace's studies."),
        Command("try", "commands.campaign:try_visit", "Do one visit as a test participant."),
        Command(
            "emulator",
            "commands.emulator:emulator",
            "Run an offline Prolific on this machine.",
            page="docs/how-to/clients.md",
            extra="offline-markets",
        ),
    ),
    token_variable="PROLIFIC_TOKEN",  # noqa: S106 - a variable's name
    # https://researcher-help.prolific.com, "Prolific's payment principles", 2026-09.
    least_per_hour=(("GBP", 600), ("USD", 800)),
    needs=(("offline_markets", "offline-markets"), ("pycountry", "prolific")),
    files=("prolific.db",),
    estimate="commands.campaign:estimate_if_possible",
)
