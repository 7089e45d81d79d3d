"""Compare a marketplace with Prolific study by study, and take over differences.

Steps read changes, including those made by hand, and act on them. Here everything is
read again, and what Prolific says each study cost is compared with what the marketplace
booked. Nothing is changed at Prolific. The results are stored in the same kind of
transaction as in a step, so this needs no lock and is safe while a server runs. That
server, or the next one, acts on the results.
"""

from dataclasses import asdict, dataclass
from typing import Any

from piecework.markets.bridging.losses import undecided
from piecework.markets.prolific.bridge import unknown
from piecework.markets.prolific.bridge.bridge import Bridge
from piecework.markets.prolific.bridge.comparing import compare_bonuses
from piecework.markets.prolific.bridge.reading import read_prolific
from piecework.markets.prolific.bridge.terms import NAME
from piecework.markets.prolific.bridge.unbooked import unbooked


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference between a study at Prolific and in the marketplace.

    Attributes:
        study_id: the study.
        sentence: what differs.
        is_taken_in: whether it was taken over; otherwise a person must act.
    """

    study_id: str
    sentence: str
    is_taken_in: bool

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for `--json`."""
        return asdict(self)


_BEFORE = (
    "SELECT studies.study_id, visits.id, visits.status FROM visits "
    f"JOIN studies ON studies.id = visits.study WHERE market = '{NAME}'"
)
_BOOKED = (
    "SELECT (SELECT coalesce(sum(iif(visits.status = 'SCREENED OUT', "
    "screen_out_cost_cents, cost_cents)), 0) FROM visits "
    "WHERE visits.study = studies.id AND outcome = 'Paid') AS rewards, "
    "(SELECT coalesce(sum(total_cents), 0) FROM bonus_batches "
    "WHERE bonus_batches.study = studies.id AND stage = 'Paid') AS bonuses, "
    "studies.study_id FROM studies WHERE study_id IS NOT NULL "
    f"AND market = '{NAME}' AND stage IN ('Published', 'Retired') "
    "AND status IS NOT 'DELETED' ORDER BY id"
)


def reconcile(bridge: Bridge) -> list[Difference]:
    """Read everything, take over changes made at Prolific, and compare the money."""
    before = _states(bridge)
    with bridge.backend.transaction() as transaction:
        # If the file is a copy, submissions begun before now may have lost answers.
        bridge.suspects_before_ms = transaction.now_ms
        # Retired studies are read again: someone may have changed them by hand.
        transaction.execute(
            "UPDATE studies SET stage = 'Published' WHERE stage = 'Retired' "
            f"AND study_id IS NOT NULL AND status <> 'DELETED' AND market = '{NAME}'"
        )
    bridge.counts.clear()
    read_prolific(bridge)
    status_changes = [
        Difference(
            study_id=study_id,
            sentence=f"a submission that was {before[visit][1] or 'new'} is now {status}",
            is_taken_in=True,
        )
        for visit, (study_id, status) in _states(bridge).items()
        if visit in before and before[visit][1] != status
    ]
    bridge.listed = None
    unknown.look(bridge)
    compare_bonuses(bridge)
    return status_changes + _unknown(bridge) + _lost(bridge) + _costs(bridge)


def _unknown(bridge: Bridge) -> list[Difference]:
    with bridge.backend.reading() as transaction:
        waiting = undecided(transaction, NAME)
    return [
        Difference(
            study_id=each.study_id, sentence=unknown.sentence(bridge, each), is_taken_in=False
        )
        for each in waiting
    ]


def _lost(bridge: Bridge) -> list[Difference]:
    """Return studies with submissions that ended but may have lost their answers."""
    with bridge.backend.reading() as transaction:
        suspected = transaction.all(
            "SELECT study_id, count(*) AS visits FROM visits "
            "JOIN studies ON studies.id = visits.study "
            "WHERE loss = 'Suspected' AND outcome IS NULL "
            f"AND market = '{NAME}' GROUP BY studies.id"
        )
    return [
        Difference(
            study_id=row["study_id"],
            sentence=f"{row['visits']} submissions have ended, but their answers are "
            "not in this file. Was the file restored from a "
            f"copy? --pay-lost {row['study_id']} pays them now; Prolific pays them "
            "after 21 days unless you reject them there",
            is_taken_in=False,
        )
        for row in suspected
    ]


def _states(bridge: Bridge) -> dict[int, tuple[str, str]]:
    with bridge.backend.reading() as transaction:
        return {row["id"]: (row["study_id"], row["status"]) for row in transaction.all(_BEFORE)}


def _costs(bridge: Bridge) -> list[Difference]:
    with bridge.backend.transaction() as transaction:
        booked = transaction.all(_BOOKED)
    differences = []
    for study in booked:
        cost = bridge.prolific.studies.cost(study["study_id"])
        for what, part in (("rewards", cost.rewards), ("bonuses", cost.bonuses)):
            if part.minor == study[what]:
                continue
            differences.append(
                Difference(
                    study_id=study["study_id"],
                    sentence=f"{what} cost {bridge.terms.money(part.minor)} at "
                    f"Prolific, but {bridge.terms.money(study[what])} in the books",
                    is_taken_in=False,
                )
            )
        if cost.bonuses.minor > study["bonuses"]:
            differences.extend(_unbooked(bridge, study["study_id"]))
    return differences


def _unbooked(bridge: Bridge, study_id: str) -> list[Difference]:
    """Return bonuses that the books lack; this reads each submission of the study."""
    with bridge.backend.reading() as transaction:
        visits = transaction.all(
            "SELECT visits.id, submission_id FROM visits "
            "JOIN studies ON studies.id = visits.study WHERE study_id = ?",
            study_id,
        )
    differences = []
    for visit in visits:
        there = bridge.prolific.submissions.get(visit["submission_id"]).bonuses_minor
        with bridge.backend.transaction() as transaction:
            amounts = unbooked(transaction, visit["id"], there).elements()
        more = ", ".join(str(bridge.terms.money(cents)) for cents in amounts)
        if more:
            differences.append(
                Difference(
                    study_id=study_id,
                    sentence="the books lack these bonuses of the submission "
                    f"{visit['submission_id']}: {more}",
                    is_taken_in=False,
                )
            )
    return differences
