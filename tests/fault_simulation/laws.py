"""The laws that hold after every step of a simulation, and those of its end.

They are read out of the files, by connections that nobody's program has, and so change
nothing and wait for nobody.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from piecework.marketplace.state.ledger import LAWS
from piecework.store.campaign_facts import OUTSIDE_PRICE
from tests.crash.campaign import _ledger
from tests.fault_simulation.losses import SENT, Losses, taken_beside_the_file
from tests.fault_simulation.parts import AGREED_CENTS, KEYS, Served
from tests.fault_simulation.requester import RequesterProgram
from tests.markets.prolific.bridge.long_campaign import check_answers, check_pay, check_studies

SPENT = ("rewards", "bonuses", "fees", "vat")
_OWN = (
    "FROM hits JOIN requesters ON requesters.id = hits.requester "
    f"WHERE access_key = '{KEYS.access_key}'"
)
_PAID_OUT = (
    "SELECT coalesce(sum(paid_cents + assignments.fee_cents), 0) FROM assignments "
    "JOIN hits ON hits.id = assignments.hit "
    "JOIN requesters ON requesters.id = hits.requester "
    f"WHERE access_key = '{KEYS.access_key}'"
)
_BESIDE = (
    "SELECT coalesce(sum(entries.cents), 0) FROM transfers "
    "JOIN entries ON entries.transfer = transfers.id "
    "JOIN accounts ON accounts.id = entries.account "
    "WHERE reason = 'outside price' AND kind = 'fees' AND subject IN "
    "(SELECT internal_name FROM studies "
    "JOIN hit_types ON hit_types.id = studies.hit_type "
    "JOIN requesters ON requesters.id = hit_types.requester "
    f"WHERE access_key = '{KEYS.access_key}')"
)
_BOOKED_BESIDE = (
    "SELECT coalesce(sum(iif(debit = 'fees', ledger.amount_cents, "
    "-ledger.amount_cents)), 0) FROM ledger JOIN intents USING (intent_key) "
    f"WHERE operation = '{OUTSIDE_PRICE}'"
)
_HELD = f"SELECT coalesce(sum(held_cents), 0) {_OWN}"
_INSTEAD = (
    "SELECT submission_id, coalesce(sum(cents), 0) AS cents FROM visits "
    "LEFT JOIN bonus_lines ON bonus_lines.visit = visits.id AND bonus IS NULL "
    "GROUP BY visits.id"
)
_UNDECIDED = "SELECT study_id FROM unknown_studies WHERE is_left = 0"
_LEFT = "SELECT study_id FROM unknown_studies WHERE is_left"


class BrokenLawError(AssertionError):
    """Something that must hold does not."""


def _law(sentence: str, *, holds: bool, evidence: object = "") -> None:
    if not holds:
        raise BrokenLawError(f"{sentence}: {evidence}")


@dataclass(slots=True)
class Books:
    """The books of all four, and what people and programs were told.

    Attributes:
        theirs: Prolific's books.
        messages: that came, by participant and subject.
        now_ms: the latest moment that the marketplace may have believed.
        acknowledged: assignments whose answers were acknowledged.
        is_restored: whether a file is older than the others, and nobody has reconciled
            them yet.
        is_compared: whether the bridge has compared the file with Prolific since.
        losses: what is lost with files that were put back.
    """

    served: Served
    store: Path
    theirs: Callable[[], Any]
    programs: list[RequesterProgram]
    messages: Callable[[], Counter[tuple[str, str]]]
    now_ms: Callable[[], int]
    acknowledged: set[str] = field(default_factory=set)
    is_restored: bool = False
    is_compared: bool = True
    losses: Losses = field(default_factory=Losses)
    _published: set[str] = field(default_factory=set)
    _was_undecided: bool = False

    def check(self) -> None:
        """What holds after every step.

        Raises:
            BrokenLawError: a law is broken.
        """
        with closing(_looked_at(self.served.database)) as market:
            self._check_marketplace(market)
            self._check_acknowledged(market)
            self.losses.note(market)
            if self.served.terms is not None:
                self._check_prolific(market)
            if self.store.exists():
                with closing(_looked_at(self.store)) as store:
                    # A first pass that was killed early has made nothing yet.
                    if store.execute("SELECT 1 FROM sqlite_schema").fetchone():
                        self._check_store(market, store)

    def _check_marketplace(self, market: sqlite3.Connection) -> None:
        for law, query in LAWS.items():
            _law(law, holds=market.execute(query).fetchone() is None)
        annotations = Counter(
            row[0] for row in market.execute("SELECT annotation FROM hits ORDER BY id")
        )
        twice = [text for text, number in annotations.items() if number > 1]
        _law("every HIT exists once", holds=not twice, evidence=twice)
        reasons = Counter(row[0] for row in market.execute("SELECT reason FROM bonuses"))
        twice = [text for text, number in reasons.items() if number > 1]
        _law("each bonus is paid once", holds=not twice, evidence=twice)

    def _check_acknowledged(self, market: sqlite3.Connection) -> None:
        rows = market.execute(
            "SELECT assignment_id, status, answer IS NOT NULL AS is_there FROM assignments"
        )
        status, kept = {}, set()
        for row in rows:
            status[row["assignment_id"]] = row["status"]
            if row["is_there"] and row["status"] in ("Submitted", "Approved", "Rejected"):
                kept.add(row["assignment_id"])
        lost = self.acknowledged - kept
        _law("an acknowledged answer is there", holds=not lost, evidence=lost)
        for program in self.programs:
            for assignment_id, verdict in program.verdicts.items():
                _law(
                    "an acknowledged verdict holds",
                    holds=status[assignment_id] == verdict,
                    evidence=(assignment_id, verdict, status[assignment_id]),
                )
            self._check_approved(market, program)

    def _check_approved(self, market: sqlite3.Connection, program: RequesterProgram) -> None:
        rows = market.execute(
            "SELECT assignment_id FROM assignments "
            "JOIN hits ON hits.id = assignments.hit "
            "JOIN hit_types ON hit_types.id = hits.hit_type "
            "JOIN requesters ON requesters.id = hits.requester "
            "WHERE access_key = ? AND assignments.status = 'Approved' "
            "AND submitted_ms + auto_approval_seconds * 1000 > ?",
            (program.key, self.now_ms()),
        )
        early = {row[0] for row in rows} - program.approvals
        _law("only its requester approves", holds=not early, evidence=early)

    def _check_prolific(self, market: sqlite3.Connection) -> None:
        books = self.theirs()
        _law("Prolific's books", holds=not books["broken_laws"], evidence=books["broken_laws"])
        published = Counter(
            study["internal_name"]
            for study in books["studies"]
            if study["status"] not in ("UNPUBLISHED", "SCHEDULED")
        )
        twice = [name for name, number in published.items() if number > 1]
        _law("no study is published twice", holds=not twice, evidence=twice)
        names = {
            row[0]
            for row in market.execute(
                "SELECT internal_name FROM studies UNION SELECT internal_name FROM unknown_studies"
            )
        }
        is_known = set(published) <= names or not self.is_compared
        _law("each study is known", holds=is_known, evidence=(published, names))
        more = set(published) - self._published
        _law(
            "nothing is published while a study waits for a person",
            holds=not (more and self._was_undecided),
            evidence=more,
        )
        self._published = set(published)
        self._was_undecided = bool(market.execute(_UNDECIDED).fetchone())
        spent = sum(books["accounts"].get(name, 0) for name in SPENT)
        cap = self.served.terms.spend_at_most_cents if self.served.terms else 0
        _law("the cap is not exceeded", holds=spent <= cap, evidence=(spent, cap))
        self._check_paid(market, books)

    def _check_paid(self, market: sqlite3.Connection, books: Any) -> None:  # noqa: ANN401 - JSON
        rewards = {each["id"]: each["reward_paid"] for each in books["submissions"]}
        bonuses: Counter[str] = Counter()
        for each in books["bonus_payments"]:
            bonuses[each["submission"]] += each["amount"]
        instead = dict(map(tuple, market.execute(_INSTEAD)))
        for submission, cents in bonuses.items():
            wanted = self.losses.wanted.get(submission, {})
            _law(
                "no more is paid by bonuses than was wanted",
                holds=cents <= sum(wanted.values()),
                evidence=(submission, cents, wanted),
            )
            _law(
                "nothing is paid by reward and by bonus",
                holds=not rewards[submission] or not instead.get(submission),
                evidence=submission,
            )
        self._check_each_once(books)
        # What Prolific says by itself may come for each submission.
        messages = self.messages()
        subjects = {key[1] for program in self.programs for key in program.messages}
        twice = [key for key, number in messages.items() if number > 1 and key[1] in subjects]
        _law("no message comes twice", holds=not twice, evidence=twice)

    def _check_each_once(self, books: Any) -> None:  # noqa: ANN401 - JSON
        """Whatever was put back, Prolific has paid each bonus of a requester once."""
        paid = Counter(
            (payment["submission"], meaning)
            for payment in books["bonus_payments"]
            if (meaning := self.losses.meaning(payment)) != "reward"
        )
        twice = [key for key, number in paid.items() if number > 1]
        _law("each bonus is paid once at Prolific", holds=not twice, evidence=twice)

    def _check_store(self, market: sqlite3.Connection, store: sqlite3.Connection) -> None:
        there = {row[0]: row[1] for row in market.execute(f"SELECT hit_id, annotation {_OWN}")}
        here = {
            row[0]
            for row in store.execute(
                "SELECT hit_id FROM hits WHERE hit_id IS NOT NULL AND extends IS NULL"
            )
        }
        missing = here - set(there) - self.losses.ids
        _law("each HIT of the store is there", holds=not missing, evidence=missing)
        paid = market.execute(_PAID_OUT).fetchone()[0]
        held = market.execute(_HELD).fetchone()[0]
        _law(
            "the amount agreed to is not exceeded",
            holds=paid + held <= AGREED_CENTS,
            evidence=(paid, held),
        )
        ledger = _ledger(store)
        # What Prolific took beside is booked by another pass than it is taken.
        beside = store.execute(_BOOKED_BESIDE).fetchone()[0]
        _law(
            "the store books nothing that was not paid",
            holds=_spent(ledger) - beside <= paid or self.is_restored,
            evidence=(ledger, beside, paid),
        )
        _law("the store's ledger adds up", holds=not sum(ledger.values()), evidence=ledger)

    def check_end(self) -> None:
        """What holds when all is quiet.

        Raises:
            BrokenLawError: a law is broken.
        """
        self.check()
        with (
            closing(_looked_at(self.served.database)) as market,
            closing(_looked_at(self.store)) as store,
        ):
            self._check_campaign(market, store)
            self._check_programs(market)
            if self.served.terms is not None:
                self._check_pence(market)

    def _check_campaign(self, market: sqlite3.Connection, store: sqlite3.Connection) -> None:
        left = [
            row[0] for row in store.execute("SELECT intent_key FROM intents WHERE done_at IS NULL")
        ]
        _law("no intent is left open", holds=not left, evidence=left)
        there = {row[0] for row in market.execute(f"SELECT hit_id {_OWN}")}
        here = {row[0] for row in store.execute("SELECT hit_id FROM hits WHERE extends IS NULL")}
        _law(
            "store and marketplace have the same HITs",
            holds=there == here - self.losses.ids,
            evidence=(there, here),
        )
        sent = {
            row[0]
            for row in market.execute(
                "SELECT assignment_id FROM assignments "
                "JOIN hits ON hits.id = assignments.hit "
                "JOIN requesters ON requesters.id = hits.requester "
                f"WHERE access_key = '{KEYS.access_key}' AND assignments.status IN "
                "('Submitted', 'Approved', 'Rejected')"
            )
        }
        kept = {row[0] for row in store.execute("SELECT assignment_id FROM assignments")}
        _law(
            "the store has every answer, and none beside those that were lost",
            holds=sent <= kept and kept - sent <= self.losses.ids,
            evidence=sent ^ kept,
        )
        ledger = _ledger(store)
        paid = sum(market.execute(sum_).fetchone()[0] for sum_ in (_PAID_OUT, _BESIDE))
        _law(
            "store and marketplace have spent the same",
            holds=_spent(ledger) == paid,
            evidence=(ledger, paid),
        )
        _law("nothing is held", holds=not ledger.get("held", 0), evidence=ledger)
        undecided = market.execute(
            "SELECT assignment_id FROM assignments WHERE status = 'Submitted'"
        ).fetchall()
        _law("nothing waits for a verdict", holds=not undecided, evidence=[*map(tuple, undecided)])

    def _check_programs(self, market: sqlite3.Connection) -> None:
        posted = {row[0] for row in market.execute("SELECT annotation FROM hits")}
        paid = {row[0] for row in market.execute("SELECT reason FROM bonuses")}
        for program in self.programs:
            wanted = {posting.token for posting in program.postings}
            _law(
                "each HIT that was wanted is there",
                holds=wanted <= posted,
                evidence=wanted - posted,
            )
            owed = {bonus.token for bonus in program.bonuses}
            _law("each bonus was paid", holds=owed <= paid, evidence=owed - paid)
            if self.served.terms is not None:
                self._check_messages(program)

    def _check_messages(self, program: RequesterProgram) -> None:
        """Each message came, unless a person is told that it may not have come."""
        unsent = self.rows(
            "SELECT 1 FROM messages WHERE sent_there IS NULL OR sent_there <> 'Sent'"
        )
        participants = {
            row["worker_id"]: row["participant_id"]
            for row in self.rows(
                "SELECT worker_id, participant_id FROM participants "
                "JOIN workers ON workers.id = participants.worker"
            )
        }
        came = self.messages()
        lost = [
            (worker, subject)
            for worker, subject in program.messages
            if not came[participants[worker], subject]
        ]
        _law("each message came", holds=not lost or bool(unsent), evidence=lost)

    def _check_pence(self, market: sqlite3.Connection) -> None:
        books = self.theirs()
        theirs = sum(books["accounts"].get(name, 0) for name in SPENT)
        ours = market.execute(
            "SELECT coalesce(sum(balance_cents), 0) FROM accounts WHERE kind IN ('worker', 'fees')"
        ).fetchone()[0]
        _law(
            "marketplace and Prolific took the same",
            holds=ours + taken_beside_the_file(market) == theirs,
            evidence=(ours, taken_beside_the_file(market), theirs),
        )
        for check in (check_studies, check_answers, check_pay):
            check(self)  # type: ignore[arg-type] # of it they need these

    def forget_what_is_lost(self) -> None:
        """The marketplace was put back: let go of what its older file lacks."""
        with closing(_looked_at(self.served.database)) as market:
            self.losses.put_back(market)
            hits = {row[0] for row in market.execute("SELECT hit_id FROM hits")}
            paid = {row[0] for row in market.execute("SELECT reason FROM bonuses")}
            sent = {row[0] for row in market.execute("SELECT subject FROM messages")}
            status = {
                row["assignment_id"]: row["status"]
                for row in market.execute("SELECT assignment_id, status FROM assignments")
            }
        self.acknowledged = {key for key in self.acknowledged if status.get(key) in SENT}
        for program in self.programs:
            program.forget_what_is_lost(hits, paid, status, sent)
        self.is_restored, self.is_compared = True, self.served.terms is None
        self._was_undecided = False

    def assignments(self, status: str = "%") -> set[str]:
        """Assignments of the marketplace, all or of a status."""
        query = "SELECT assignment_id FROM assignments WHERE status LIKE ?"
        rows = self.rows(query, status)
        return {row["assignment_id"] for row in rows}

    def rows(self, query: str, *values: object) -> list[dict[str, Any]]:
        """Rows of the marketplace's database."""
        with closing(_looked_at(self.served.database)) as market:
            return [dict(row) for row in market.execute(query, values)]

    def studies(self) -> list[dict[str, Any]]:
        """All studies at Prolific."""
        return list(self.theirs()["studies"])

    @property
    def researcher(self) -> "Books":
        """Who has Prolific's books."""
        return self

    @property
    def bridge(self) -> Any:  # noqa: ANN401 - of it, terms are needed
        """The bridge, with its terms."""
        return self.served

    def books(self) -> Any:  # noqa: ANN401 - JSON
        """Prolific's books, without what is lost."""
        with closing(_looked_at(self.served.database)) as market:
            return self.losses.without_lost(market, self.theirs())

    def is_paid(self, books: Any, batch_id: str) -> bool:  # noqa: ANN401 - JSON
        """Whether a batch of bonuses was paid, as who looks at Prolific sees."""
        with closing(_looked_at(self.served.database)) as market:
            # A batch may have been made and paid since the laws were read last.
            self.losses.note(market)
            return self.losses.is_paid(market, books, batch_id)

    def unsettled(self) -> list[str]:
        """What is not at its end at Prolific, a sentence each."""
        left = {row["study_id"] for row in self.rows(_LEFT)}
        return [
            *(
                f"{what} {json.dumps(row, default=str)}"
                for what, query in _UNSETTLED.items()
                for row in self.rows(query)
            ),
            *(
                f"submission of a study that was left {json.dumps(each)}"
                for each in self.theirs()["submissions"]
                if each["study"] in left
                and each["status"] in ("RESERVED", "ACTIVE", "AWAITING REVIEW")
            ),
        ]

    def check_announced(self, trouble: str, troubles: tuple[str, ...]) -> None:
        """What a person has to decide is told them.

        Raises:
            BrokenLawError: it is not.
        """
        _law("what a person decides is announced", holds=trouble in troubles)


_UNSETTLED = {
    "visit": "SELECT submission_id, stage, status, outcome FROM visits WHERE outcome IS NULL",
    "batch": "SELECT * FROM bonus_batches WHERE stage <> 'Paid'",
    "bonus": "SELECT * FROM bonus_lines WHERE batch IS NULL",
    "study": "SELECT study_id, stage, status, trouble FROM studies WHERE stage <> 'Retired'",
    "unknown study": _UNDECIDED,
}


def _spent(ledger: dict[str, int]) -> int:
    return sum(ledger.get(account, 0) for account in ("rewards", "bonuses", "fees"))


def _looked_at(path: Path) -> sqlite3.Connection:
    market = sqlite3.connect(path, isolation_level=None)
    market.row_factory = sqlite3.Row
    return market
