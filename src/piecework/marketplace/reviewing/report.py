"""The report of a review: results, actions, and actions that failed."""

from collections.abc import Callable
from dataclasses import dataclass

from piecework.marketplace.exceptions import TURK, Refusal
from piecework.marketplace.state.ids import next_number
from piecework.marketplace.state.transaction import Transaction

Subject = tuple[str, str]
"""An id, and `Assignment` or `HIT`."""


@dataclass(frozen=True, slots=True)
class Report:
    """The report on one HIT at one level; lines are only added."""

    transaction: Transaction
    hit: int
    level: str

    def result(
        self, subject: Subject, name: str, value: str, *, question: str | None = None
    ) -> None:
        """Record a result of the policy."""
        self._add("Result", subject, name, value, question=question)

    def action(self, name: str, subject: Subject, outcome: str, *, error_code: str = "") -> None:
        """Record an action that the policy took or (with an error code) could not."""
        self._add("Action", subject, name, outcome, error_code=error_code)

    def attempt(self, name: str, subject: Subject, deed: Callable[[], str]) -> None:
        """Try an action; if it fails, undo it completely and report it."""
        self.transaction.execute("SAVEPOINT deed")
        try:
            outcome = deed()
        except Refusal as refusal:
            self.transaction.execute("ROLLBACK TO deed")
            code = refusal.turk_code or refusal.kind
            self.action(name, subject, refusal.message, error_code=TURK + code)
        else:
            self.action(name, subject, outcome)
        finally:
            self.transaction.execute("RELEASE deed")

    def _add(
        self,
        kind: str,
        subject: Subject,
        name: str,
        value: str,
        *,
        question: str | None = None,
        error_code: str = "",
    ) -> None:
        status = None
        if kind == "Action":
            status = "Failed" if error_code else "Succeeded"
        number = next_number(self.transaction.conn, "reviews")
        self.transaction.execute(
            "INSERT INTO reviews (hit, level, kind, action_id, subject_id, "
            "subject_type, question, name, value, status, done_ms, error_code) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            self.hit,
            self.level,
            kind,
            self.transaction.id_generator.entity("review", number),
            *subject,
            question,
            name,
            value,
            status,
            self.transaction.now_ms,
            error_code or None,
        )
