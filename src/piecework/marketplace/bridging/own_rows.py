"""SQL conditions that keep a bridge to the rows of its own market.

Several bridges work on one marketplace's database, each with the studies and the people
of one market.
"""


def in_own_study(market: str) -> str:
    """Return the condition that the column `study` is of a market.

    >>> in_own_study("connect")
    "study IN (SELECT id FROM studies WHERE market = 'connect')"
    """
    return f"study IN (SELECT id FROM studies WHERE market = '{market}')"


def of_own_person(market: str) -> str:
    """Return the condition that the column `worker` is a person from a market."""
    return f"worker IN (SELECT worker FROM participants WHERE market = '{market}')"
