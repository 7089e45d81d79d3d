"""The report of a review: what was found, what was done, what could not be done."""

from collections.abc import Callable
from dataclasses import dataclass

from piecework.marketplace.exceptions import TURK, Refusal
from piecework.marketplace.state.ids import next_number
from piecework.marketplace.state.transaction import Transaction

Subject = tuple[str, str]
"""An id, and `Assignment` or `HIT`."""


@dataclass(frozen=True, slots=True)
class Report:
    """The report on one HIT at one level; lines are added, never changed."""

    transaction: Transaction
    hit: int
    level: str

    def result(
        self, subject: Subject, name: str, value: str, *, question: str | None = None
    ) -> None:
        """Something that the policy found."""
        self._add("Result", subject, name, value, question=question)

    def action(
        self, name: str, subject: Subject, outcome: str, *, error_code: str = ""
    ) -> None:
        """Something that the policy did, or (with an error code) could not do."""
        self._add("Action", subject, name, outcome, error_code=error_code)

    def attempt(self, name: str, subject: Subject, deed: Callable[[], str]) -> None:
        """Do something that may be impossible; then it has not happened at all."""
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
