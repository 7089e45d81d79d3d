"""Runs the reviews that are due, and records their results and actions.

Submitting an assignment or making a HIT Reviewable marks it for review. The review runs
before the next transaction, with the time of the mark. If an action fails (insufficient
funds, wrong state), the review reports it and continues.
"""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from piecework.marketplace.reviewing import policies, review_actions, scoring
from piecework.marketplace.reviewing.policies import Actions
from piecework.marketplace.reviewing.report import Report
from piecework.marketplace.state import assignments, hits
from piecework.marketplace.state.transaction import Transaction

_NEXT_ASSIGNMENT = (
    "SELECT * FROM assignments WHERE review_ms IS NOT NULL ORDER BY review_ms, id LIMIT 1"
)
_NEXT_HIT = "SELECT * FROM hits WHERE review_ms IS NOT NULL ORDER BY review_ms, id LIMIT 1"


def catch_up(transaction: Transaction) -> bool:
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
    policy = policies.known_answers(json.loads(hit["assignment_policy"]))
    right, score = scoring.known_score(policy.key, scoring.read_values(assignment["answer"]))
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
    _judge(report, assignment["id"], score, policy.actions)
    _extend(report, hit, score, policy.actions)


def _review_hit(transaction: Transaction, hit: sqlite3.Row) -> None:
    policy = policies.plurality(json.loads(hit["hit_policy"]))
    considered = {row["id"]: row for row in _considered(transaction, hit, policy)}
    answers = {key: scoring.read_values(row["answer"]) for key, row in considered.items()}
    agreed = {
        question: scoring.agreement(list(answers.values()), question, threshold=policy.threshold)
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
            _review_worker(report, row, scoring.agreeing(answers[key], agreed), policy)
    _extend(report, hit, score, policy.actions)


def _considered(
    transaction: Transaction, hit: sqlite3.Row, policy: policies.Plurality
) -> Iterable[sqlite3.Row]:
    known = None
    if hit["assignment_policy"] and policy.without_known_below is not None:
        known = policies.known_answers(json.loads(hit["assignment_policy"])).key
    for row in transaction.all(
        "SELECT * FROM assignments WHERE hit = ? "
        "AND status IN ('Submitted', 'Approved', 'Rejected') ORDER BY submitted_ms, id",
        hit["id"],
    ):
        if row["status"] == "Rejected" and policy.without_rejected:
            continue
        if known is not None:
            _, score = scoring.known_score(known, scoring.read_values(row["answer"]))
            if score < (policy.without_known_below or 0):
                continue
        yield row


def _findings(agreement: scoring.Agreement) -> Iterable[tuple[str, str]]:
    yield "AgreedAnswerFound", "false" if agreement.answer is None else "true"
    if agreement.answer is not None:
        yield "AgreedAnswer", scoring.shown(agreement.answer)
        yield "AnswerAgreementScore", str(agreement.score)


def _review_worker(
    report: Report, row: sqlite3.Row, counts: tuple[int, int], policy: policies.Plurality
) -> None:
    right, wrong = counts
    score = right * 100 // (right + wrong)
    subject = (row["assignment_id"], "Assignment")
    report.result(subject, "WorkerAgreementScore", str(score))
    report.result(subject, "PluralityAnswersCorrect", str(right))
    report.result(subject, "PluralityAnswersIncorrect", str(wrong))
    _judge(report, row["id"], score, policy.actions)


def _judge(report: Report, assignment: int, score: int, actions: Actions) -> None:
    subject = (assignments.find(report.transaction, assignment)["assignment_id"], "Assignment")
    if actions.approve_from is not None and score >= actions.approve_from:
        deed = partial(review_actions.approve, report.transaction, assignment, actions)
        report.attempt("approve", subject, deed)
    if actions.reject_below is not None and score < actions.reject_below:
        deed = partial(review_actions.reject, report.transaction, assignment, actions)
        report.attempt("reject", subject, deed)


def _extend(report: Report, hit: sqlite3.Row, score: int, actions: Actions) -> None:
    if actions.extend_below is not None and score < actions.extend_below:
        deed = partial(review_actions.extend, report.transaction, hit["id"], actions)
        report.attempt("extend", (hit["hit_id"], "HIT"), deed)
