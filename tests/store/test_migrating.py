"""A store of the release before running totals, opened by this one."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from piecework.domain.ids import AssignmentId, HitKey
from piecework.store import (
    assignments,
    decisions,
    findings,
    hits,
    intents,
    item_totals,
    last_pass,
    ledger,
)
from piecework.store.answers_table import last_number
from piecework.store.database import Store, get_setting, open_store
from tests.flows.campaigns import campaign
from tests.store.earlier_release import Rows, earlier_store, write
from tests.store.raw_answers import documents

MONDAY = "2026-01-05T09:00:00.000000+00:00"
TUESDAY = "2026-01-06T09:00:00.000000+00:00"
TWO = replace(campaign(1).posting, assignments=2)
NOTHING_SHOWN = dict.fromkeys(("shown_ms", "pastes", "keystrokes", "focus_losses"))


def _hit(number: int, batch: int, **cells: object) -> dict[str, object]:
    return {
        "hit_key": f"k{number}",
        "batch": batch,
        "round": 0,
        "max_assignments": 4,
        "reward_cents": 50,
        "fee_cents": 10,
        "item_ids": json.dumps([f"i{number}"]),
        **cells,
    }


def _posted(number: int, **cells: object) -> dict[str, object]:
    return {"hit_type_id": "T", "hit_id": f"H{number}", "posted_at": MONDAY, **cells}


def _assignment(name: str, hit_id: str, worker_id: str) -> dict[str, object]:
    return {
        "assignment_id": name,
        "hit_id": hit_id,
        "worker_id": worker_id,
        "status_when_collected": "Submitted",
        "accepted_at": MONDAY,
        "submitted_at": MONDAY,
        "raw": f"<Answer>of {name}\x85</Answer>",
        "fields": json.dumps({"caption.1": f"by {worker_id}"}),
    }


def _answer(name: str, item_id: str) -> dict[str, object]:
    return {
        "answer_id": f"{name}.1",
        "assignment_id": name,
        "item_id": item_id,
        "position": 1,
        "fields": json.dumps({"values": {"caption": f"of {name}"}, **NOTHING_SHOWN}),
        "problems": "[]",
    }


def _decision(kind: str, subject: str, verdict: str, by: str) -> dict[str, object]:
    return {
        "subject_kind": kind,
        "subject_id": subject,
        "verdict": verdict,
        "decided_by": by,
        "decided_at": MONDAY,
        "because": f"{by} says so",
    }


def _intent(
    operation: str, subject: str, outcome: str | None = "done"
) -> dict[str, object]:
    return {
        "intent_key": f"{operation}:{subject}",
        "operation": operation,
        "arguments": json.dumps({"subject": subject}),
        "amount_cents": 60,
        "made_at": MONDAY,
        "done_at": MONDAY if outcome else None,
        "outcome": outcome,
    }


def _entry(
    key: str, credit: str, debit: str, cents: int, at: str = MONDAY
) -> dict[str, object]:
    return {
        "intent_key": key,
        "credit": credit,
        "debit": debit,
        "amount_cents": cents,
        "at": at,
    }


def _finding(subject: str, heuristic: str) -> dict[str, object]:
    return {
        "subject_kind": "answer",
        "subject_id": subject,
        "heuristic": heuristic,
        "version": 3,
        "suspicion": 0.9,
        "flag": 1,
        "evidence": f"what {heuristic} saw",
    }


# Batch 1 is collected: HIT 1 about item i1 with four assignments of three workers.
# S1 approved and paid; S2 rejected; S3 rejected, then taken back on Tuesday; S4, ann's
# second about i1, was to be rejected, and the marketplace had paid it before. S5, in
# batch 2, is approved and not yet paid; S6 nobody has decided about. HIT 3 is planned.
ROWS: Rows = {
    "about": [
        {"key": "name", "value": "0123456789abcdef"},
        {"key": "world", "value": "http://127.0.0.1:8080"},
    ],
    "hits": [
        _hit(1, 1, **_posted(1, collected_at=MONDAY)),
        _hit(2, 2, **_posted(2, looked_at=TUESDAY)),
        _hit(3, 2),
    ],
    "intents": [
        {**_intent("publish", "k1", "H1"), "amount_cents": 240},
        {**_intent("publish", "k2", "H2"), "amount_cents": 240},
        _intent("approve", "S1"),
        _intent("reject", "S2"),
        _intent("reject", "S3"),
        _intent("unreject", "S3"),
        _intent("reject", "S4", "approved by the platform before"),
        _intent("approve", "S5", None),
        _intent("exclude", "bob"),
    ],
    "assignments": [
        _assignment("S1", "H1", "ann"),
        _assignment("S2", "H1", "bob"),
        _assignment("S3", "H1", "cat"),
        _assignment("S4", "H1", "ann"),
        _assignment("S5", "H2", "ann"),
        _assignment("S6", "H2", "cat"),
    ],
    "answers": [
        *(_answer(name, "i1") for name in ("S1", "S2", "S3", "S4")),
        *(_answer(name, "i2") for name in ("S5", "S6")),
    ],
    "findings": [
        _finding("S1.1", "capitals"),
        _finding("S2.1", "scale_still"),
        _finding("S3.1", "beyond_asked"),
        _finding("S4.1", "outvoted"),
        _finding("S5.1", "lone_canned"),
    ],
    "decisions": [
        _decision("assignment", "S1", "approve", "policy:birds"),
        _decision("answer", "S1.1", "keep", "policy:birds"),
        _decision("assignment", "S2", "reject", "policy:birds"),
        _decision("answer", "S2.1", "drop", "policy:birds"),
        _decision("assignment", "S3", "reject", "policy:birds"),
        _decision("answer", "S3.1", "drop", "policy:birds"),
        _decision("assignment", "S4", "reject", "policy:birds"),
        _decision("answer", "S4.1", "keep", "policy:birds"),
        _decision("worker", "bob", "exclude", "policy:birds"),
        _decision("assignment", "S3", "approve", "ada"),
        _decision("answer", "S3.1", "keep", "ada"),
        _decision("assignment", "S5", "approve", "policy:birds"),
        _decision("answer", "S5.1", "keep", "policy:birds"),
    ],
    "ledger": [
        _entry("publish:k1", "requester", "held", 240),
        _entry("publish:k2", "requester", "held", 240),
        _entry("approve:S1", "held", "rewards", 50),
        _entry("approve:S1", "held", "fees", 10),
        _entry("reject:S2", "held", "requester", 60),
        _entry("reject:S3", "held", "requester", 60),
        _entry("reject:S4", "held", "rewards", 50),
        _entry("reject:S4", "held", "fees", 10),
        _entry("unreject:S3", "requester", "rewards", 50, TUESDAY),
        _entry("unreject:S3", "requester", "fees", 10, TUESDAY),
    ],
    "standing": [
        {"only_one": 1, "asked": "request", "tally": "{}", "progress": "{}"},
    ],
    "polls": [{"only_one": 1, "asked_at": MONDAY, "wait_seconds": 90.0}],
    "scores": [{"worker_id": "ann", "score": 38, "seen_at": MONDAY}],
    "agreements": [{"amount_cents": 2000, "agreed_at": MONDAY}],
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of such a store, closed."""
    path = tmp_path / "piecework.db"
    with earlier_store(path) as connection:
        write(connection, ROWS)
    return path


@pytest.fixture
def opened(path: Path) -> Iterator[Store]:
    """The same, opened by this release."""
    with closing(open_store(path)) as store:
        yield store


def test_verdicts_are_the_latest_and_outcomes_those_of_their_acts(
    opened: Store,
) -> None:
    """S3's rejection was taken back; S5's approval is still to be carried out."""
    known = {
        name: assignments.verdict_and_outcome(opened, AssignmentId(name))
        for name in ("S1", "S2", "S3", "S4", "S5", "S6")
    }
    assert known == {
        "S1": ("approve", "done"),
        "S2": ("reject", "done"),
        "S3": ("approve", "done"),
        "S4": ("reject", "approved by the platform before"),
        "S5": ("approve", None),
        "S6": (None, None),
    }
    assert assignments.undecided(opened) == {"S6"}
    (unpaid,) = decisions.unsettled(opened, "approve")
    assert (unpaid.subject_id, unpaid.decided_by) == ("S5", "policy:birds")
    assert decisions.unsettled(opened, "reject") == []
    assert decisions.unsettled(opened, "exclude") == []
    assert decisions.count_unsettled(opened) == 1
    counts = assignments.count_verdicts(
        opened, paid_already="approved by the platform before"
    )
    # Of three rejections one was taken back, and one came too late.
    assert (counts.rejected, counts.dropped, counts.excluded) == (1, 1, 1)


def test_items_know_what_is_kept_and_of_how_many_workers(opened: Store) -> None:
    """Of i1 ann's two answers and cat's count as two; of i2 one; i3 has none."""
    rows = opened.db.execute("SELECT * FROM items ORDER BY item_id").fetchall()
    # What labels want is not known of a store that was begun before.
    assert rows == [
        ("i1", 1, 3, 2, None, None),
        ("i2", 2, 1, 1, None, None),
        ("i3", 2, 0, 0, None, None),
    ]
    assert item_totals.lacking(opened, 2, TWO) == {"i2": 1, "i3": 2}


def test_balances_costs_of_batches_and_promises_of_days_add_up(opened: Store) -> None:
    """Three times 60 cents were paid for, two HITs held, two rejections given back."""
    assert ledger.balances(opened) == {
        "requester": -(480 - 120 + 60),
        "held": 480 - 60 - 120 - 60,
        "rewards": 150,
        "bonuses": 0,
        "fees": 30,
    }
    # 240, less two rejections, and S3 paid after all; of batch 2 the HIT alone.
    taken = [ledger.taken_by_batch_cents(opened, batch) for batch in (1, 2, 3)]
    assert taken == [180, 240, 0]
    promised = [
        ledger.promised_on_day_cents(opened, datetime(2026, 1, day, 12, tzinfo=UTC))
        for day in (5, 6, 7)
    ]
    assert promised == [480, 60, 0]


def test_documents_are_kept_verbatim_and_apart(opened: Store) -> None:
    """As the platform returned them, control character and all."""
    kept = documents(opened)
    assert kept == {
        f"S{number}": f"<Answer>of S{number}\x85</Answer>" for number in range(1, 7)
    }
    columns = [row[1] for row in opened.db.execute("PRAGMA table_info(assignments)")]
    assert not {"raw", "fields"} & set(columns)


def test_findings_bear_the_names_that_heuristics_have_now(opened: Store) -> None:
    """Version, suspicion and evidence stay as they were found."""
    kept = findings.load(opened, only_flags=True)
    assert {finding.subject_id: finding.heuristic for finding in kept} == {
        "S1.1": "capitals",
        "S2.1": "low_scale_variance",
        "S3.1": "ignored_page_warnings",
        "S4.1": "low_agreement",
        "S5.1": "minority_canned",
    }
    assert {finding.version for finding in kept} == {3}
    assert "what outvoted saw" in {finding.evidence for finding in kept}


def test_hits_settings_and_the_order_of_answers_are_what_they_were(
    opened: Store,
) -> None:
    """What follows no new rule is not touched."""
    assert [hit.hit_key for hit in hits.load(opened)] == ["k1", "k2", "k3"]
    assert [hit.hit_key for hit in hits.uncollected(opened)] == ["k2"]
    assert get_setting(opened, "name") == intents.store_name(opened)
    assert get_setting(opened, "world") == "http://127.0.0.1:8080"
    assert last_number(opened) == 6
    assert intents.begun(opened, "approve").keys() == {"approve:S5"}


def test_nothing_of_the_last_pass_is_taken_over(path: Path, opened: Store) -> None:
    """It was found by other rules; the next pass finds it out again."""
    assert last_pass.recall(path.parent) is None
    tables = {
        row[0] for row in opened.db.execute("SELECT name FROM sqlite_master").fetchall()
    }
    assert not {"standing", "polls", "about"} & tables


def test_triggers_carry_on_from_the_sums_of_the_migration(opened: Store) -> None:
    """A HIT posted and an answer kept later are added to what was there."""
    with opened.db.atomic():
        ledger.move(
            opened,
            240,
            credit="requester",
            debit="held",
            intent_key="publish:k2",
            batch=2,
            at=datetime(2026, 1, 6, 12, tzinfo=UTC),
        )
        decisions.overrule(opened, [decisions.load(opened, "answer")[0]])
        opened.db.execute(
            "INSERT INTO decisions (subject_kind, subject_id, verdict, decided_by, "
            "decided_at, because) VALUES ('answer', 'S6.1', 'keep', 'ada', ?, '')",
            [TUESDAY],
        )
    assert ledger.taken_by_batch_cents(opened, 2) == 480
    assert item_totals.lacking(opened, 2, TWO) == {"i3": 2}
    hits.give_up(opened, [HitKey("k3")])
    assert hits.unposted(opened) == []


def _dump(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_opening_again_changes_nothing(path: Path) -> None:
    """Migrated once, it is only read."""
    open_store(path).close()
    once = _dump(path)
    open_store(path).close()
    assert _dump(path) == once
