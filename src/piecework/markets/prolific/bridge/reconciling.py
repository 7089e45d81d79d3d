"""Compare the books with Prolific's, and report or book what differs."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from piecework.foundation.client.errors import NoAccess
from piecework.marketplace.state.transaction import Transaction
from piecework.markets.bridging.losses import undecided
from piecework.markets.bridging.settling import paid_rejections
from piecework.markets.prolific.bridge import reading
from piecework.markets.prolific.bridge.bridge import LOG, NAME, Bridge
from piecework.markets.prolific.bridge.reading import read_prolific


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
    f"JOIN studies ON studies.id = visits.study WHERE visits.market = '{NAME}'"
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
    reading.look(bridge)
    compare_bonuses(bridge)
    return (
        status_changes
        + _paid_rejections(bridge)
        + _unknown(bridge)
        + _lost(bridge)
        + _costs(bridge)
    )


def _paid_rejections(bridge: Bridge) -> list[Difference]:
    """Return studies with rejected work that Prolific paid, as the books have it."""
    with bridge.backend.reading() as transaction:
        paid = paid_rejections(transaction, NAME, bridge.market, bridge.terms.money)
    return [
        Difference(study_id=study_id, sentence=sentence, is_taken_in=True)
        for study_id, sentence in paid.items()
    ]


def _unknown(bridge: Bridge) -> list[Difference]:
    with bridge.backend.reading() as transaction:
        waiting = undecided(transaction, NAME)
    return [
        Difference(
            study_id=each.study_id,
            sentence=reading.unknown_sentence(bridge, each),
            is_taken_in=False,
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
            f"AND visits.market = '{NAME}' GROUP BY studies.id"
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


_PUBLISHED = (
    "SELECT id, study_id, unbooked_bonus_cents, (SELECT coalesce(sum(total_cents), 0) "
    "FROM bonus_batches WHERE study = studies.id AND stage IN ('Paying', 'Paid')) "
    "AS booked_cents FROM studies WHERE study_id IS NOT NULL "
    f"AND market = '{NAME}' AND stage IN ('Published', 'Retired') ORDER BY id"
)


def compare_studies(bridge: Bridge) -> None:
    """Compare studies and bonuses once per bridge; later, only what waits for a person.

    Raises:
        ApiError: the call failed, so nothing may be published or paid.
    """
    bridge.listed = None
    if not bridge.is_compared:
        with bridge.backend.reading() as transaction:
            bridge.began_ms = transaction.counted_ms
        reading.look(bridge)
        reading.warn(bridge)
        compare_bonuses(bridge)
        bridge.is_compared = True
        return
    with bridge.backend.reading() as transaction:
        is_waiting = undecided(transaction, NAME)
    if is_waiting:
        reading.look(bridge)


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


_BOOKED_BONUSES = (
    "SELECT cents FROM bonus_lines JOIN bonus_batches "
    "ON bonus_batches.id = bonus_lines.batch WHERE visit = ? AND stage = 'Paid'"
)


def unbooked(transaction: Transaction, visit: int, there: Iterable[int]) -> Counter[int]:
    """Return the amounts of bonuses at Prolific that are not booked for a visit.

    Args:
        transaction: the open transaction.
        visit: the visit of the submission.
        there: the amounts of all bonuses of the submission.
    """
    booked = Counter[int](line["cents"] for line in transaction.all(_BOOKED_BONUSES, visit))
    return Counter(there) - booked


def perhaps_paid(transaction: Transaction, line: sqlite3.Row, there: Iterable[int]) -> Counter[int]:
    """Return the amounts at Prolific that may be the bonus of a line.

    They are not booked, and no person has said that they are other bonuses.

    Args:
        transaction: the open transaction.
        line: the waiting bonus.
        there: the amounts of all bonuses of its submission.
    """
    others = Counter[int](json.loads(line["other_bonuses"]))
    return unbooked(transaction, line["visit"], there) - others


def perhaps_paid_before(transaction: Transaction, line: sqlite3.Row) -> Counter[int]:
    """Return what may have been a line's bonus when its submission was last read."""
    return perhaps_paid(transaction, line, json.loads(line["paid_before"] or "[]"))


def keep_other_bonuses(transaction: Transaction, line: sqlite3.Row, others: Counter[int]) -> None:
    """Record a person's statement that a line is not among these bonuses.

    Another line of the submission may still be among them.
    """
    known = json.loads(line["other_bonuses"])
    transaction.execute(
        "UPDATE bonus_lines SET other_bonuses = ? WHERE id = ?",
        json.dumps([*known, *others.elements()]),
        line["id"],
    )


def keep_paid_before(transaction: Transaction, there: Mapping[int, Sequence[int]]) -> None:
    """Record, for each line, the bonuses its submission has before the line is paid."""
    transaction.conn.executemany(
        "UPDATE bonus_lines SET paid_before = ? WHERE id = ?",
        [(json.dumps(amounts), line) for line, amounts in there.items()],
    )
