"""What is lost with a marketplace that was put back to a copy.

Here alone stands which comparisons leave something out because of it:

- answers, verdicts, HITs and messages that came after the copy was made;
- bonuses at Prolific of which the file knows nothing: they count as taken, and stand
  for no bonus of the file;
- submissions of studies that were left to Prolific, and rewards of submissions whose
  answers or verdicts are lost.
"""

import sqlite3
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SENT = ("Submitted", "Approved", "Rejected")
_MEANT = (
    "SELECT batch_id, submission_id, coalesce(bonuses.reason, 'reward') AS meaning "
    "FROM bonus_lines JOIN visits ON visits.id = bonus_lines.visit "
    "JOIN bonus_batches ON bonus_batches.id = bonus_lines.batch "
    "LEFT JOIN bonuses ON bonuses.id = bonus_lines.bonus WHERE batch_id IS NOT NULL"
)
_WANTED = (
    "SELECT submission_id, coalesce(bonuses.reason, 'reward') AS meaning, "
    "sum(bonus_lines.cents) AS cents FROM bonus_lines "
    "JOIN visits ON visits.id = bonus_lines.visit "
    "LEFT JOIN bonuses ON bonuses.id = bonus_lines.bonus GROUP BY 1, 2"
)
_ANSWERED = "SELECT submission_id FROM visits WHERE stage = 'Done'"
_LINES = (
    "SELECT submission_id, coalesce(bonuses.reason, 'reward') AS meaning, "
    "batch_id, bonus_batches.stage FROM bonus_lines "
    "JOIN visits ON visits.id = bonus_lines.visit "
    "LEFT JOIN bonus_batches ON bonus_batches.id = bonus_lines.batch "
    "LEFT JOIN bonuses ON bonuses.id = bonus_lines.bonus"
)
_WITHOUT_REWARD = "SELECT submission_id, loss FROM visits WHERE loss <> '' AND outcome = 'Paid'"
_OF_VISITS = (
    "SELECT assignment_id, submission_id, paid_cents FROM assignments "
    "JOIN visits ON visits.id = assignments.visit"
)
_NOT_HERE = (
    "SELECT (SELECT coalesce(sum(spent_cents), 0) FROM unknown_studies) "
    "+ (SELECT coalesce(sum(unbooked_bonus_cents), 0) FROM studies)"
)


@dataclass(slots=True)
class Losses:
    """What is lost, and what bonuses at Prolific were paid for.

    Attributes:
        ids: HITs, and assignments with their answers, that the marketplace once had and
            lacks since it was put back; a store of any age may have them.
        verdicts: assignments whose verdict is lost.
        answers: submissions whose answers are lost.
        meanings: of bonuses, by Prolific's batch and submission: the reason that a
            requester gave, or "reward".
        wanted: the most that was ever wanted, by submission and meaning.
    """

    ids: set[str] = field(default_factory=set)
    verdicts: set[str] = field(default_factory=set)
    answers: set[str] = field(default_factory=set)
    meanings: dict[tuple[str, str], str] = field(default_factory=dict)
    wanted: dict[str, dict[str, int]] = field(default_factory=dict)
    _hits: set[str] = field(default_factory=set)
    _statuses: dict[str, str] = field(default_factory=dict)
    _answered: set[str] = field(default_factory=set)

    def note(self, market: sqlite3.Connection) -> None:
        """Read what would be lost, if the file were put back now."""
        self._hits = _hits(market)
        self._statuses, self._answered = _statuses(market), _answered(market)
        for row in market.execute(_MEANT):
            key = (row["batch_id"], row["submission_id"])
            self.meanings[key] = row["meaning"]
        for row in market.execute(_WANTED):
            wanted = self.wanted.setdefault(row["submission_id"], {})
            most = max(row["cents"], wanted.get(row["meaning"], 0))
            wanted[row["meaning"]] = most

    def put_back(self, market: sqlite3.Connection) -> None:
        """The file was put back; what it has of this now."""
        now = _statuses(market)
        self.ids |= self._hits | _sent(self._statuses)
        self.ids -= _hits(market) | _sent(now)
        self.verdicts |= {
            key
            for key, status in self._statuses.items()
            if status in ("Approved", "Rejected") and now.get(key) != status
        }
        self.answers |= self._answered - _answered(market)
        self._hits, self._statuses = _hits(market), now
        self._answered = _answered(market)

    def is_paid(self, market: sqlite3.Connection, books: Any, batch_id: str) -> bool:  # noqa: ANN401 - JSON
        """Whether Prolific has paid all bonuses of a batch, be it by another batch."""
        lines = [dict(row) for row in market.execute(_LINES)]
        booked = Counter(
            (line["submission_id"], line["meaning"]) for line in lines if line["stage"] == "Paid"
        )
        paid = self._paid(books)
        return all(
            paid[line["submission_id"], line["meaning"]]
            > booked[line["submission_id"], line["meaning"]]
            for line in lines
            if line["batch_id"] == batch_id
        )

    def without_lost(self, market: sqlite3.Connection, books: Any) -> Any:  # noqa: ANN401 - JSON
        """Prolific's books without what stands for nothing in the file."""
        open_lines = Counter(
            (row["submission_id"], row["meaning"]) for row in market.execute(_LINES)
        )
        bonuses = []
        for payment in books["bonus_payments"]:
            key = (payment["submission"], self.meaning(payment))
            if open_lines[key] > 0:
                open_lines[key] -= 1
                bonuses.append(payment)
        known = {row[0] for row in market.execute("SELECT study_id FROM studies")}
        without = {row["submission_id"] for row in market.execute(_WITHOUT_REWARD)}
        earned: Counter[str] = Counter()
        lost = {*self.answers}
        for row in market.execute(_OF_VISITS):
            earned[row["submission_id"]] += row["paid_cents"]
            if row["assignment_id"] in self.verdicts:
                lost.add(row["submission_id"])
        without |= {submission for submission in lost if not earned[submission]}
        return {
            **books,
            "bonus_payments": bonuses,
            "submissions": [
                {**each, "reward_paid": 0} if each["id"] in without else each
                for each in books["submissions"]
                if each["study"] in known
            ],
        }

    def _paid(self, books: Any) -> Counter[tuple[str, str]]:  # noqa: ANN401 - JSON
        return Counter(
            (payment["submission"], self.meaning(payment)) for payment in books["bonus_payments"]
        )

    def meaning(self, payment: Any) -> str:  # noqa: ANN401 - JSON
        """What a bonus at Prolific was paid for."""
        return self.meanings[payment["batch"], payment["submission"]]


def taken_beside_the_file(market: sqlite3.Connection) -> int:
    """What Prolific took of which the ledger of the file knows nothing."""
    cents: int = market.execute(_NOT_HERE).fetchone()[0]
    return cents


def _statuses(market: sqlite3.Connection) -> dict[str, str]:
    rows = market.execute("SELECT assignment_id, status FROM assignments")
    return {row["assignment_id"]: row["status"] for row in rows}


def _sent(statuses: Mapping[str, str]) -> set[str]:
    """Assignments whose answers are there."""
    return {key for key, status in statuses.items() if status in SENT}


def _hits(market: sqlite3.Connection) -> set[str]:
    return {row["hit_id"] for row in market.execute("SELECT hit_id FROM hits")}


def _answered(market: sqlite3.Connection) -> set[str]:
    """Submissions whose answers are there."""
    return {row["submission_id"] for row in market.execute(_ANSWERED)}
