"""Comparing a marketplace with Prolific study by study, and taking in what differs.

Steps read what changed and act on it, also on what was changed by hand. Here everything
is read once more, and money is added up: what Prolific says a study has cost, beside
what the marketplace booked for it. Nothing is changed at Prolific, and what is read is
noted in the same transactions as a step's, so it needs no lock and may be done while a
server works; that one, or the next, acts on what was found.
"""

from dataclasses import asdict, dataclass
from typing import Any

from prolific.bridge.bridge import Bridge
from prolific.bridge.reading import read


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What a study is there and here; sentences.

    Attributes:
        study_id: the study.
        sentence: what differs.
        is_taken_in: whether it was taken over, or is for a person.
    """

    study_id: str
    sentence: str
    is_taken_in: bool

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for `--json`."""
        return asdict(self)


_BEFORE = (
    "SELECT studies.study_id, visits.id, visits.status FROM visits "
    "JOIN studies ON studies.id = visits.study"
)
_BOOKED = (
    "SELECT (SELECT coalesce(sum(iif(visits.status = 'SCREENED OUT', "
    "screen_out_cost_cents, cost_cents)), 0) FROM visits "
    "WHERE visits.study = studies.id AND outcome = 'Paid') AS rewards, "
    "(SELECT coalesce(sum(total_cents), 0) FROM bonus_batches "
    "WHERE bonus_batches.study = studies.id AND stage = 'Paid') AS bonuses, "
    "studies.study_id FROM studies WHERE study_id IS NOT NULL "
    "AND stage IN ('Published', 'Retired') ORDER BY id"
)


def reconcile(bridge: Bridge) -> list[Difference]:
    """Read everything, take over what was changed there, and compare the money."""
    before = _states(bridge)
    with bridge.backend.transaction() as transaction:
        # Also what is over is read once more: a hand may have changed it.
        transaction.execute(
            "UPDATE studies SET stage = 'Published' WHERE stage = 'Retired' "
            "AND study_id IS NOT NULL AND status <> 'DELETED'"
        )
    bridge.counts.clear()
    read(bridge)
    found = [
        Difference(
            study_id=study_id,
            sentence=f"a submission that was {before[visit][1] or 'new'} is {status}",
            is_taken_in=True,
        )
        for visit, (study_id, status) in _states(bridge).items()
        if visit in before and before[visit][1] != status
    ]
    return found + _costs(bridge)


def _states(bridge: Bridge) -> dict[int, tuple[str, str]]:
    with bridge.backend.transaction() as transaction:
        return {
            row["id"]: (row["study_id"], row["status"])
            for row in transaction.all(_BEFORE)
        }


def _costs(bridge: Bridge) -> list[Difference]:
    with bridge.backend.transaction() as transaction:
        booked = transaction.all(_BOOKED)
    found = []
    for study in booked:
        cost = bridge.prolific.studies.cost(study["study_id"])
        for what, part in (("rewards", cost.rewards), ("bonuses", cost.bonuses)):
            there = part.rewards.minor + part.fees.minor + part.tax.minor
            if there == study[what]:
                continue
            found.append(
                Difference(
                    study_id=study["study_id"],
                    sentence=f"{what} cost {bridge.terms.money(there)} there, and "
                    f"{bridge.terms.money(study[what])} here",
                    is_taken_in=False,
                )
            )
    return found
