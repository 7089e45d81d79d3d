"""What the market that pays visits charged for HIT types beyond their HITs' prices.

It pays whole visits and rounds each payment. The difference from the HITs' rewards and
fees is booked as "outside price" after it has paid.
"""

import sqlite3

from piecework.marketplace.state.transaction import Transaction

_OF_HIT_TYPES = (
    "WITH booked AS (SELECT subject, sum(entries.cents) AS cents FROM transfers "
    "JOIN entries ON entries.transfer = transfers.id "
    "JOIN accounts ON accounts.id = entries.account "
    "WHERE reason = 'outside price' AND kind = 'fees' GROUP BY subject) "
    "SELECT hit_types.hit_type_id, coalesce(sum(booked.cents), 0) AS cents, "
    "sum((SELECT count(*) FROM visits WHERE study = studies.id AND outcome IS NULL) + "
    "(SELECT count(*) FROM bonus_lines JOIN visits ON visits.id = bonus_lines.visit "
    "LEFT JOIN bonus_batches ON bonus_batches.id = bonus_lines.batch "
    "WHERE visits.study = studies.id AND coalesce(bonus_batches.stage, '') <> 'Paid')) "
    "AS unsettled FROM studies JOIN hit_types ON hit_types.id = studies.hit_type "
    "LEFT JOIN booked ON booked.subject = studies.internal_name "
    "WHERE hit_types.requester = ? GROUP BY hit_types.id ORDER BY hit_types.id"
)


def of_hit_types(transaction: Transaction, requester: int) -> list[sqlite3.Row]:
    """Return price in cents and unsettled rest for each HIT type with studies."""
    return transaction.all(_OF_HIT_TYPES, requester)
