"""Bonuses that the other market has to pay, one line for each."""

from piecework.marketplace.state.transaction import Transaction


def list_bonuses(transaction: Transaction) -> None:
    """Add a line for each bonus that a requester sent to a participant.

    Bonuses for people from all markets with a bridge are listed together, in their
    order, by the first bridge that looks.
    """
    transaction.execute(
        "INSERT INTO bonus_lines (visit, bonus, cents) "
        "SELECT visits.id, bonuses.id, bonuses.cents FROM bonuses "
        "LEFT JOIN assignments ON assignments.id = bonuses.assignment "
        "JOIN visits "
        "ON visits.id = coalesce(assignments.visit, bonuses.paid_visit) "
        "JOIN studies ON studies.id = visits.study "
        "JOIN outside_markets ON outside_markets.name = studies.market "
        "WHERE has_bridge AND bonuses.id > "
        "(SELECT coalesce(max(bonus), 0) FROM bonus_lines) ORDER BY bonuses.id"
    )
