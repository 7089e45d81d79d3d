"""Runs the reviews that are due, and records their results and actions.

Submitting an assignment or making a HIT Reviewable marks it for review. The review runs
before the next transaction, with the time of the mark. A policy's actions are approve,
reject and extend. If an action fails (insufficient funds, wrong state), the review
reports it and continues.
"""

import json
import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

from piecework.marketplace.exceptions import TURK, Refusal, wrong_state
from piecework.marketplace.state import assignments, events, hits, review_policies
from piecework.marketplace.state.clock import SECOND
from piecework.marketplace.state.review_policies import Actions
from piecework.marketplace.state.transaction import Transaction, next_number

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
        self.transaction.insert(
            "reviews",
            hit=self.hit,
            level=self.level,
            kind=kind,
            action_id=self.transaction.id_generator.entity("review", number),
            subject_id=subject[0],
            subject_type=subject[1],
            question=question,
            name=name,
            value=value,
            status=status,
            done_ms=self.transaction.now_ms,
            error_code=error_code or None,
        )


def _approve(transaction: Transaction, assignment: int, actions: Actions) -> str:
    """Pay for an assignment, unless it is already approved.

    Raises:
        Refusal: the assignment was rejected.
    """
    row = assignments.find(transaction, assignment)
    if row["status"] == "Approved":
        return "Already approved"
    _check_submitted(row)
    assignments.approve(transaction, row, at_ms=transaction.now_ms, feedback=actions.approve_reason)
    return "Approved"


def _reject(transaction: Transaction, assignment: int, actions: Actions) -> str:
    """Reject an assignment, unless it is already rejected.

    Raises:
        Refusal: the assignment was approved.
    """
    row = assignments.find(transaction, assignment)
    if row["status"] == "Rejected":
        return "Already rejected"
    _check_submitted(row)
    assignments.reject(transaction, row, feedback=actions.reject_reason)
    return "Rejected"


def _extend_hit(transaction: Transaction, hit: int, actions: Actions) -> str:
    """Add one assignment, up to the policy's own limit.

    Raises:
        Refusal: funds are insufficient, or a HIT created with fewer would get its tenth
            assignment.
    """
    row = hits.find(transaction, hit)
    most = row["max_assignments"] + 1
    if most > actions.maximum:
        return f"The HIT has {row['max_assignments']} assignments already"
    hits.check_increase(row, most)
    expires_ms = max(row["expires_ms"], transaction.now_ms + actions.seconds * SECOND)
    transaction.execute(
        "UPDATE hits SET max_assignments = ?, expires_ms = ?, is_expired = ? WHERE id = ?",
        most,
        expires_ms,
        expires_ms <= transaction.now_ms,
        hit,
    )
    events.record(transaction, "HITExtended", row)
    hits.settle(transaction, hit)
    return "Extended by one assignment"


def _check_submitted(row: sqlite3.Row) -> None:
    if row["status"] != "Submitted":
        key, state = row["assignment_id"], row["status"]
        raise wrong_state("Assignment", key, state=state, allowed="Submitted")


_NEXT_ASSIGNMENT = (
    "SELECT * FROM assignments WHERE review_ms IS NOT NULL ORDER BY review_ms, id LIMIT 1"
)
_NEXT_HIT = "SELECT * FROM hits WHERE review_ms IS NOT NULL ORDER BY review_ms, id LIMIT 1"


def run_due_reviews(transaction: Transaction) -> bool:
    """Do all waiting reviews, and return whether there were any."""
    was_busy = False
    while _review_next(transaction):
        was_busy = True
    return was_busy


def _review_next(transaction: Transaction) -> bool:
    assignment = transaction.first_row(_NEXT_ASSIGNMENT)
    if assignment is not None:
        then = replace(transaction, now_ms=assignment["review_ms"])
        transaction.execute(
            "UPDATE assignments SET review_ms = NULL WHERE id = ?", assignment["id"]
        )
        _review_assignment(then, assignment)
        return True
    hit = transaction.first_row(_NEXT_HIT)
    if hit is None:
        return False
    then = replace(transaction, now_ms=hit["review_ms"])
    transaction.execute("UPDATE hits SET review_ms = NULL WHERE id = ?", hit["id"])
    if hit["status"] == "Reviewable":
        _review_hit(then, hit)
    return True


def _review_assignment(transaction: Transaction, assignment: sqlite3.Row) -> None:
    hit = hits.find(transaction, assignment["hit"])
    policy = review_policies.read_known_answers(json.loads(hit["assignment_policy"]))
    right, score = review_policies.score_known_answers(
        policy.key, review_policies.read_values(assignment["answer"])
    )
    report = Report(transaction, hit["id"], "Assignment")
    subject = (assignment["assignment_id"], "Assignment")
    for question, is_right in right.items():
        report.result(subject, "KnownAnswerCorrect", str(int(is_right)), question=question)
    report.result(subject, "KnownAnswerScore", str(score))
    report.action(
        "review",
        subject,
        f"Reviewed {len(right)} known answers; {sum(right.values())}/{len(right)} correct",
    )
    _judge_assignment(report, assignment["id"], score, policy.actions)
    _extend_if_unclear(report, hit, score, policy.actions)


def _review_hit(transaction: Transaction, hit: sqlite3.Row) -> None:
    policy = review_policies.read_plurality(json.loads(hit["hit_policy"]))
    considered = {row["id"]: row for row in _considered(transaction, hit, policy)}
    answers = {key: review_policies.read_values(row["answer"]) for key, row in considered.items()}
    agreed = {
        question: review_policies.score_agreement(
            list(answers.values()), question, threshold=policy.threshold
        )
        for question in policy.questions
    }
    agreed_count = sum(agreement.answer is not None for agreement in agreed.values())
    score = agreed_count * 100 // len(agreed)
    report = Report(transaction, hit["id"], "HIT")
    subject = (hit["hit_id"], "HIT")
    for question, agreement in agreed.items():
        for name, value in _findings(agreement):
            report.result(subject, name, value, question=question)
    report.result(subject, "HitAgreementScore", str(score))
    for key, row in considered.items():
        if agreed_count:
            _review_worker(report, row, review_policies.agreeing(answers[key], agreed), policy)
    _extend_if_unclear(report, hit, score, policy.actions)


def _considered(
    transaction: Transaction, hit: sqlite3.Row, policy: review_policies.Plurality
) -> Iterable[sqlite3.Row]:
    known = None
    if hit["assignment_policy"] and policy.without_known_below is not None:
        known = review_policies.read_known_answers(json.loads(hit["assignment_policy"])).key
    for row in transaction.all(
        "SELECT * FROM assignments WHERE hit = ? "
        "AND status IN ('Submitted', 'Approved', 'Rejected') ORDER BY submitted_ms, id",
        hit["id"],
    ):
        if row["status"] == "Rejected" and policy.without_rejected:
            continue
        if known is not None:
            _, score = review_policies.score_known_answers(
                known, review_policies.read_values(row["answer"])
            )
            if score < (policy.without_known_below or 0):
                continue
        yield row


def _findings(agreement: review_policies.Agreement) -> Iterable[tuple[str, str]]:
    yield "AgreedAnswerFound", "false" if agreement.answer is None else "true"
    if agreement.answer is not None:
        yield "AgreedAnswer", review_policies.show_values(agreement.answer)
        yield "AnswerAgreementScore", str(agreement.score)


def _review_worker(
    report: Report, row: sqlite3.Row, counts: tuple[int, int], policy: review_policies.Plurality
) -> None:
    right, wrong = counts
    score = right * 100 // (right + wrong)
    subject = (row["assignment_id"], "Assignment")
    report.result(subject, "WorkerAgreementScore", str(score))
    report.result(subject, "PluralityAnswersCorrect", str(right))
    report.result(subject, "PluralityAnswersIncorrect", str(wrong))
    _judge_assignment(report, row["id"], score, policy.actions)


def _judge_assignment(report: Report, assignment: int, score: int, actions: Actions) -> None:
    subject = (assignments.find(report.transaction, assignment)["assignment_id"], "Assignment")
    if actions.approve_from is not None and score >= actions.approve_from:
        deed = partial(_approve, report.transaction, assignment, actions)
        report.attempt("approve", subject, deed)
    if actions.reject_below is not None and score < actions.reject_below:
        deed = partial(_reject, report.transaction, assignment, actions)
        report.attempt("reject", subject, deed)


def _extend_if_unclear(report: Report, hit: sqlite3.Row, score: int, actions: Actions) -> None:
    if actions.extend_below is not None and score < actions.extend_below:
        deed = partial(_extend_hit, report.transaction, hit["id"], actions)
        report.attempt("extend", (hit["hit_id"], "HIT"), deed)
