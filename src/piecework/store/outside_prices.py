"""What another market charges beside the prices of HITs: what is booked, what is open.

The ledger books it as fees, each with an intent that names the HIT type.
"""

from piecework.domain.ids import HitTypeId
from piecework.store import pass_notes
from piecework.store.database import Store

OPERATION = "outside-price"


def booked(store: Store) -> dict[HitTypeId, tuple[int, int]]:
    """Return how often fees were booked for each HIT type, and how much in all."""
    return {
        HitTypeId(row["hit_type_id"]): (row["times"], row["cents"])
        for row in store.db.query(
            "SELECT subject_id AS hit_type_id, count(*) AS times, "
            "sum(CAST(json_extract(arguments, '$.cents') AS BIGINT)) AS cents "
            "FROM intents WHERE operation = ? GROUP BY subject_id ORDER BY subject_id",
            [OPERATION],
        )
    }


def unsettled(store: Store) -> int:
    """Return how many visits and bonuses were unsettled there at the last check."""
    return pass_notes.read(store).outside_unsettled


def keep_unsettled(store: Store, number: int) -> None:
    """Record how many there are, in a separate transaction."""
    pass_notes.keep(store, "outside_unsettled", number)
