"""Bonuses that the other market has to pay, one line for each."""

from piecework.marketplace.state.transaction import Transaction


def list_bonuses(transaction: Transaction) -> None:
    """Add a line for each bonus that a requester sent to a participant."""
    transaction.execute(
        "INSERT INTO bonus_lines (visit, bonus, cents) "
        "SELECT coalesce(assignments.visit, bonuses.paid_visit) AS visit_of_bonus, "
        "bonuses.id, bonuses.cents FROM bonuses "
        "LEFT JOIN assignments ON assignments.id = bonuses.assignment "
        "WHERE visit_of_bonus IS NOT NULL AND bonuses.id > "
        "(SELECT coalesce(max(bonus), 0) FROM bonus_lines) ORDER BY bonuses.id"
    )
