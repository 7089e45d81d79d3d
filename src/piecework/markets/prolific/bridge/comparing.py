"""Compare studies and bonuses with Prolific before a bridge publishes or pays.

A file restored from a copy is as old as the copy. Studies that it lacks and bonuses
that its books lack are found here, and a person decides about them. The studies that it
has are read in every step anyway.
"""

from piecework.foundation.client.errors import NoAccess
from piecework.markets.bridging.losses import undecided
from piecework.markets.prolific.bridge import unknown
from piecework.markets.prolific.bridge.bridge import LOG, Bridge
from piecework.markets.prolific.bridge.terms import NAME

_PUBLISHED = (
    "SELECT id, study_id, unbooked_bonus_cents, (SELECT coalesce(sum(total_cents), 0) "
    "FROM bonus_batches WHERE study = studies.id AND stage IN ('Paying', 'Paid')) "
    "AS booked_cents FROM studies WHERE study_id IS NOT NULL "
    f"AND market = '{NAME}' AND stage IN ('Published', 'Retired') ORDER BY id"
)


def compare(bridge: Bridge) -> None:
    """Compare studies and bonuses once per bridge; later, only what waits for a person.

    Raises:
        ApiError: the call failed, so nothing may be published or paid.
    """
    bridge.listed = None
    if not bridge.is_compared:
        with bridge.backend.reading() as transaction:
            bridge.began_ms = transaction.steady_ms
        unknown.look(bridge)
        unknown.warn(bridge)
        compare_bonuses(bridge)
        bridge.is_compared = True
        return
    with bridge.backend.reading() as transaction:
        is_waiting = undecided(transaction, NAME)
    if is_waiting:
        unknown.look(bridge)


def compare_bonuses(bridge: Bridge) -> None:
    """Store the cost of each study's bonuses that the books lack; the cap counts it."""
    with bridge.backend.reading() as transaction:
        studies = transaction.all(_PUBLISHED)
    for study in studies:
        try:
            there = bridge.prolific.studies.cost(study["study_id"]).bonuses.minor
        except NoAccess:
            continue  # Reading reports it.
        more = max(0, there - study["booked_cents"])
        if more:
            LOG.warning(
                "bonuses of the study %s cost %s at Prolific, and %s in the books",
                study["study_id"],
                bridge.terms.money(there),
                bridge.terms.money(study["booked_cents"]),
            )
        if more != study["unbooked_bonus_cents"]:
            with bridge.backend.transaction() as transaction:
                transaction.execute(
                    "UPDATE studies SET unbooked_bonus_cents = ? WHERE id = ?", more, study["id"]
                )
