"""Comparing a marketplace with Prolific study by study, and taking in what differs.

Steps read what changed and act on it, also on what was changed by hand. Here everything
is read once more, and money is added up: what Prolific says a study has cost, beside
what the marketplace booked for it. Nothing is changed at Prolific, and what is read is
noted in the same transactions as a step's, so it needs no lock and may be done while a
server works; that one, or the next, acts on what was found.
"""

from dataclasses import asdict, dataclass
from typing import Any

from piecework.prolific.bridge import unknown
from piecework.prolific.bridge.bridge import Bridge
from piecework.prolific.bridge.comparing import compare_bonuses
from piecework.prolific.bridge.reading import read_prolific
from piecework.prolific.bridge.unbooked import unbooked


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
    "AND stage IN ('Published', 'Retired') AND status IS NOT 'DELETED' ORDER BY id"
)


def reconcile(bridge: Bridge) -> list[Difference]:
    """Read everything, take over what was changed there, and compare the money."""
    before = _states(bridge)
    with bridge.backend.transaction() as transaction:
        # Whoever began before now may have lost answers, if the file was a copy.
        bridge.suspects_before_ms = transaction.now_ms
        # Also what is over is read once more: a hand may have changed it.
        transaction.execute(
            "UPDATE studies SET stage = 'Published' WHERE stage = 'Retired' "
            "AND study_id IS NOT NULL AND status <> 'DELETED'"
        )
    bridge.counts.clear()
    read_prolific(bridge)
    status_changes = [
        Difference(
            study_id=study_id,
            sentence=f"a submission that was {before[visit][1] or 'new'} is {status}",
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
    with bridge.backend.transaction() as transaction:
        waiting = unknown.undecided(transaction)
    return [
        Difference(
            study_id=each.study_id,
            sentence=unknown.sentence(bridge, each),
            is_taken_in=False,
        )
        for each in waiting
    ]


def _lost(bridge: Bridge) -> list[Difference]:
    """Where answers may be lost: submissions were ended by a study's code."""
    with bridge.backend.transaction() as transaction:
        suspected = transaction.all(
            "SELECT study_id, count(*) AS visits FROM visits "
            "JOIN studies ON studies.id = visits.study "
            "WHERE loss = 'Suspected' AND outcome IS NULL GROUP BY studies.id"
        )
    return [
        Difference(
            study_id=row["study_id"],
            sentence=f"{row['visits']} submissions were ended by the study's code, and "
            "their answers are not here. Was the file brought back from a copy? "
            f"--pay-lost {row['study_id']} pays them; Prolific does in 21 days, if you "
            "do not reject them there",
            is_taken_in=False,
        )
        for row in suspected
    ]


def _states(bridge: Bridge) -> dict[int, tuple[str, str]]:
    with bridge.backend.transaction() as transaction:
        return {
            row["id"]: (row["study_id"], row["status"])
            for row in transaction.all(_BEFORE)
        }


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
                    sentence=f"{what} cost {bridge.terms.money(part.minor)} there, and "
                    f"{bridge.terms.money(study[what])} here",
                    is_taken_in=False,
                )
            )
        if cost.bonuses.minor > study["bonuses"]:
            differences.extend(_unbooked(bridge, study["study_id"]))
    return differences


def _unbooked(bridge: Bridge, study_id: str) -> list[Difference]:
    """Whose bonuses there are not in the books; each submission is read for it."""
    with bridge.backend.transaction() as transaction:
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
                    sentence=f"bonuses of the submission {visit['submission_id']} "
                    f"that the books do not have: {more}",
                    is_taken_in=False,
                )
            )
    return differences
