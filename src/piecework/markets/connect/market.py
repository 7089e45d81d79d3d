"""Connect, as piecework knows it before its code is needed."""

from piecework.markets.registry import Command, Market

MARKET = Market(
    name="connect",
    summary="Inspect and manage a Connect account.",
    help="""
    The commands read the account's key from CONNECT_API_KEY or from a file. They never
    show it. No command was tried on a real account yet.

    Examples:
      piecework market connect doctor
      piecework market connect status --database marketplace.db
    """,
    page="docs/how-to/connect.md",
    commands=(
        Command("doctor", "commands.account:doctor", "Check an account, and what is assumed."),
        Command(
            "reconcile", "commands.account:reconcile", "Decide about projects that the file lacks."
        ),
        Command("settle", "commands.account:settle", "Record whether bonuses were paid."),
        Command("status", "commands.account:status", "Show a marketplace's projects."),
        Command(
            "emulator",
            "commands.emulator:emulator",
            "Run an offline CloudResearch Connect.",
            page="docs/how-to/clients.md",
            extra="offline-markets",
        ),
    ),
    token_variable="CONNECT_API_KEY",  # noqa: S106 - a variable's name
    needs=(("offline_markets", "offline-markets"),),
    files=("connect.db",),
    estimate="commands.campaign:estimate",
)
