"""What another market took beside the prices of HITs: what of it is booked, and open.

The ledger's entries have it as fees, each with an intent that names the HIT type.
"""

from piecework.domain.ids import HitTypeId
from piecework.store import pass_notes
from piecework.store.database import Store

OPERATION = "outside-price"


def booked(store: Store) -> dict[HitTypeId, tuple[int, int]]:
    """How often something was booked for a HIT type, and how much in all."""
    return {
        HitTypeId(row["hit_type_id"]): (row["times"], row["cents"])
        for row in store.db.query(
            "SELECT subject_id AS hit_type_id, count(*) AS times, "
            "sum(json_extract(arguments, '$.cents')) AS cents "
            "FROM intents WHERE operation = ? GROUP BY subject_id",
            [OPERATION],
        )
    }


def unsettled(store: Store) -> int:
    """How many visits and bonuses were not settled there when it was asked last."""
    return pass_notes.read(store).outside_unsettled


def keep_unsettled(store: Store, number: int) -> None:
    """Write down how many there are; part of no other transaction."""
    pass_notes.keep(store, "outside_unsettled", number)
