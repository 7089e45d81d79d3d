"""Add an unknown study to the file, and pay participants with lost answers.

The study itself contains everything the bridge needs: codes, groups, reward and times.
Answers sent after the copy was made are lost. Those participants did the work, so they
are paid; the HITs are still open.
"""

import sqlite3
from collections.abc import Iterable

from piecework.foundation.client.errors import Unusable
from piecework.marketplace.state import clock, visits
from piecework.marketplace.state.transaction import Transaction, next_number
from piecework.markets.bridging import losses
from piecework.markets.bridging.studies import StudyName
from piecework.markets.prolific.bridge import requirements
from piecework.markets.prolific.bridge.bridge import NAME, Bridge
from piecework.markets.prolific.bridge.reading import AWAITING, ENDED, PAID, check_unknown
from piecework.markets.prolific.resources.studies import SetCode, StudyWhole
from piecework.markets.prolific.resources.submissions import Submission

_WITHOUT_ANSWERS = (
    "SELECT id FROM visits WHERE submission_id = ? AND study = ? "
    "AND outcome IS NULL AND loss <> 'Stated' AND stage IN ('Open', 'Left', 'Late')"
)


def adopt(bridge: Bridge, study_id: str, *, hit_type_id: str = "") -> int:
    """Add an unknown study to the file; return how many are paid for lost answers.

    Args:
        bridge: the bridge.
        study_id: the study.
        hit_type_id: the HIT type of its HITs; "" takes it from the study's name.

    Raises:
        Unusable: there is no such study, or it cannot be added; the message says why.
    """
    with bridge.backend.reading() as transaction:
        unknown = check_unknown(transaction, study_id)
        name = StudyName.read(unknown["internal_name"])
        hit_type = _hit_type(transaction, hit_type_id or (name.hit_type_id if name else ""))
        test = _test(transaction, name.qualification_type_id if name else "")
    there = bridge.prolific.studies.get_whole(study_id)
    submissions = list(bridge.prolific.submissions.of_study(study_id))
    values = {
        **_values(there, hit_type, test),
        "currency": bridge.terms.currency,
        "cost_cents": _cost_cents(bridge, there.reward_minor or 0),
    }
    if values["screen_out_cents"]:
        values["screen_out_cost_cents"] = _cost_cents(bridge, int(str(values["screen_out_cents"])))
    with bridge.backend.transaction() as transaction:
        check_unknown(transaction, study_id)  # It may have been adopted meanwhile.
        study = _write(transaction, values)
        transaction.execute("DELETE FROM unknown_studies WHERE study_id = ?", study_id)
        return _state_losses(transaction, study, submissions)


def pay_lost(bridge: Bridge, study_id: str) -> int:
    """Pay participants with lost answers in a study of the file; return their number.

    Raises:
        Unusable: there is no such study.
    """
    with bridge.backend.reading() as transaction:
        study = _study(transaction, study_id)
    submissions = list(bridge.prolific.submissions.of_study(study_id))
    with bridge.backend.transaction() as transaction:
        by_code = _state_losses(transaction, study, submissions)
        return by_code + losses.state_losses(transaction, study_id)


def _state_losses(
    transaction: Transaction, study: sqlite3.Row, submissions: Iterable[Submission]
) -> int:
    """Mark submissions ended by the study's code but without answers as lost."""
    losses = 0
    for each in submissions:
        has_code = each.code in (study["code"], study["own_code"])
        if not has_code or each.status not in (AWAITING, *PAID):
            continue
        if each.participant_id is not None:
            ended = each.completed_at
            visits.never_begun(
                transaction,
                study=study,
                participant_id=each.participant_id,
                submission_id=each.id,
                status=each.status,
                ended_ms=transaction.now_ms if ended is None else clock.to_ms(ended),
            )
        for visit in transaction.all(_WITHOUT_ANSWERS, each.id, study["id"]):
            visits.close_visit(transaction, visit["id"], stage="Left")
            transaction.execute(
                "UPDATE visits SET loss = 'Stated', trouble = '' WHERE id = ?", visit["id"]
            )
            losses += 1
    return losses


def _study(transaction: Transaction, study_id: str) -> sqlite3.Row:
    row = transaction.first_row("SELECT * FROM studies WHERE study_id = ?", study_id)
    if row is None:
        raise Unusable(
            f"the study {study_id} is not in this file",
            next_step="piecework market prolific status",
        )
    return row


def _hit_type(transaction: Transaction, hit_type_id: str) -> sqlite3.Row:
    row = transaction.first_row("SELECT * FROM hit_types WHERE hit_type_id = ?", hit_type_id)
    if row is None:
        raise Unusable(
            f"the HIT type {hit_type_id} is not in this file",
            next_step="name the HIT type for the study's participants with --hit-type",
        )
    return row


def _test(transaction: Transaction, qualification_type_id: str) -> sqlite3.Row | None:
    if not qualification_type_id:
        return None
    row = transaction.first_row(
        "SELECT * FROM qualification_types WHERE qualification_type_id = ?", qualification_type_id
    )
    if row is None:
        raise Unusable(
            f"the study is for the test of {qualification_type_id}, which is not in this file",
            next_step="leave it with --leave",
        )
    return row


def _cost_cents(bridge: Bridge, reward_cents: int) -> int:
    return bridge.prolific.studies.calculated_cost_minor(reward_minor=reward_cents, places=1)


def _values(
    there: StudyWhole, hit_type: sqlite3.Row, test: sqlite3.Row | None
) -> dict[str, object]:
    """Return the columns of `studies`, read from the study itself."""
    reward = there.reward_minor or 0
    hits = 0 if test else reward // hit_type["reward_cents"]
    if reward <= 0 or (not test and reward != hits * hit_type["reward_cents"]):
        raise Unusable(
            f"a place of the study pays {reward}, which is not a multiple of "
            f"{hit_type['reward_cents']}, the reward of a HIT of "
            f"{hit_type['hit_type_id']}",
            next_step="name another HIT type with --hit-type, or leave it with --leave",
        )
    codes = {(code.code_type, code.actor): code for code in there.codes}
    done = codes.get(("COMPLETED", "participant"))
    own = codes.get(("OTHER", "researcher"))
    if done is None or done.code is None:
        raise Unusable(
            "the study's codes are not those that piecework creates",
            next_step="leave it with --leave",
        )
    groups = {each.filter_id: each.values for each in there.filters or ()}
    screen_out = codes.get(("FIXED_SCREENOUT", "researcher"))
    return {
        "hit_type": hit_type["id"],
        "qualification_type": test and test["id"],
        "internal_name": there.internal_name,
        "market": NAME,
        "study_id": there.id,
        "status": there.status,
        "stage": "Published",
        # Who adopts a study wants it to go on.
        "halted_by": "Bridge" if there.status in ENDED else "",
        "hits_per_visit": hits,
        "reward_cents": reward,
        "minutes": there.minutes,
        "most_minutes": max(there.minutes, there.most_minutes or 0),
        "places": there.places,
        "code": done.code,
        # A study that Prolific accepted only without this code never enters it.
        "own_code": own.code if own else f"R{there.id}",
        "has_own_code": int(own is not None),
        "keep_out_group": next(iter(groups.get(requirements.KEPT_OUT, ())), None),
        "let_in_group": next(iter(groups.get(requirements.LET_IN, ())), None),
        **_screen_out(screen_out),
    }


def _screen_out(code: SetCode | None) -> dict[str, object]:
    action = code.actions[0] if code and code.actions else None
    return {
        "screen_out_code": code and code.code,
        "screen_out_cents": (action and action.fixed_screen_out_reward) or 0,
        "screen_out_slots": (action and action.slots) or 0,
    }


def _write(transaction: Transaction, values: dict[str, object]) -> sqlite3.Row:
    """Insert the study's row, or complete the dropped one with its name.

    Raises:
        Unusable: another study pays for the same test.
    """
    test = values["qualification_type"]
    transaction.execute(
        "UPDATE studies SET stage = 'Retired', status = 'DELETED' "
        "WHERE qualification_type = ? AND stage = 'Wanted'",
        test,
    )
    if transaction.first_row(
        "SELECT 1 FROM studies WHERE qualification_type = ? AND stage <> 'Retired'", test
    ):
        raise Unusable(
            "another study already pays for the same test",
            next_step=f"piecework market prolific reconcile --leave {values['study_id']}",
        )
    next_number(transaction.conn, "studies")  # As if it had been created here.
    row = transaction.first_row(
        "SELECT id FROM studies WHERE internal_name = ?", values["internal_name"]
    )
    values = {"made_ms": transaction.now_ms, **values}
    if row is None:
        columns, marks = ", ".join(values), ", ".join("?" * len(values))
        transaction.execute(f"INSERT INTO studies ({columns}) VALUES ({marks})", *values.values())
    else:
        changes = ", ".join(f"{column} = ?" for column in values)
        transaction.execute(
            f"UPDATE studies SET {changes}, trouble = '' WHERE id = ?", *values.values(), row["id"]
        )
    return _study(transaction, str(values["study_id"]))
