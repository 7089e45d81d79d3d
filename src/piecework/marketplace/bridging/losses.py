"""Suspect that answers are lost, when a file was restored from a copy.

What came in after the copy was made is missing from the file, while the market shows
that its participant ended there, with a code or without. Such a submission is not paid
by itself, since codes get shared, and not rejected, since its participant may have done
the work. A person decides, who can look into the campaign's store.
"""

from collections.abc import Mapping
from datetime import datetime

from piecework.marketplace.state import clock
from piecework.marketplace.state.transaction import Transaction

_WITHOUT_ANSWERS = (
    "SELECT id, submission_id FROM visits WHERE study = ?1 AND outcome IS NULL "
    "AND stage IN ('Left', 'Late') AND loss = '' AND return_asked_ms IS NULL "
    # A visit that its participant left while the file knew of it can have no answers.
    "AND NOT (stage = 'Left' AND began_ms < closed_ms AND closed_ms < ?2)"
)


def suspect(
    transaction: Transaction,
    *,
    study: int,
    undecided: Mapping[str, datetime | None],
    before_ms: int,
    trouble: str,
) -> None:
    """Leave submissions to a person if a restored copy may lack their answers.

    Args:
        transaction: the open one.
        study: row id.
        undecided: by submission id, when each submission began that has ended at the
            market and waits for a decision; None if that is unknown.
        before_ms: when this start of the server began; what began later is in the file.
        trouble: what a person is told, with `{submission}` for the id.
    """
    for visit in transaction.all(_WITHOUT_ANSWERS, study, before_ms):
        submission = visit["submission_id"]
        if submission not in undecided:
            continue
        began = undecided[submission]
        if began is None or clock.to_ms(began) < before_ms:
            transaction.execute(
                "UPDATE visits SET loss = 'Suspected', trouble = ? WHERE id = ?",
                trouble.format(submission=submission),
                visit["id"],
            )


def state(transaction: Transaction, study_id: str) -> int:
    """Record a person's word that a study's suspected losses are lost: they are paid.

    Args:
        transaction: the open one.
        study_id: the study's id at the market.

    Returns:
        How many submissions.
    """
    rows = transaction.all(
        "UPDATE visits SET loss = 'Stated', trouble = '' WHERE loss = 'Suspected' "
        "AND outcome IS NULL "
        "AND study = (SELECT id FROM studies WHERE study_id = ?) RETURNING id",
        study_id,
    )
    return len(rows)
