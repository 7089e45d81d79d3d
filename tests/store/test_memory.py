import json
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from piecework.domain.assignment import Answer, Assignment
from piecework.domain.clock import FixedClock
from piecework.domain.edit import Edit
from piecework.domain.errors import StoreError
from piecework.domain.hit import PlannedHit
from piecework.domain.ids import AnswerId, AssignmentId, HitId, HitKey, HitTypeId, ItemId, WorkerId
from piecework.domain.store_address import StoreAddress
from piecework.domain.verdicts import Decision, Finding, SubjectKind
from piecework.store import assignments, bound, decisions, findings, hits, results
from piecework.store.database import Store, open_store
from tests.store.answered import answered_hits
from tests.store.raw_answers import documents

HIT = PlannedHit(
    hit_key=HitKey("birds.b0001.r00.000001"),
    batch=1,
    round=0,
    max_assignments=5,
    reward_cents=100,
    fee_cents=20,
    item_ids=(ItemId("a"), ItemId("b")),
)


def _posted(store: Store, clock: FixedClock) -> None:
    hits.plan(store, [HIT])
    with store.db.atomic():
        hits.mark_posted(
            store,
            HIT.hit_key,
            hit_type_id=HitTypeId("T"),
            hit_id=HitId("H"),
            at=clock.now(),
            lifetime_seconds=86_400,
            duration_seconds=3_600,
            auto_approval_seconds=3_600,
        )


def _assignment(clock: FixedClock, raw: str) -> Assignment:
    return Assignment(
        assignment_id=AssignmentId("S1"),
        hit_id=HitId("H"),
        worker_id=WorkerId("A1"),
        status="Submitted",
        accepted_at=clock.now(),
        submitted_at=clock.now() + timedelta(minutes=5),
        raw=raw,
        fields={"caption.1": "ünïcode \U0001f426"},
    )


def test_a_hit_moves_from_planned_to_posted_to_collected(store: Store, clock: FixedClock) -> None:
    """Each list holds the HIT exactly while it is in that state."""
    hits.plan(store, [HIT])
    assert hits.unposted(store) == [HIT]
    with store.db.atomic():
        hits.mark_posted(
            store,
            HIT.hit_key,
            hit_type_id=HitTypeId("T"),
            hit_id=HitId("H"),
            at=clock.now(),
            lifetime_seconds=86_400,
            duration_seconds=3_600,
            auto_approval_seconds=3_600,
        )
    assert hits.unposted(store) == []
    assert [hit.hit_id for hit in hits.uncollected(store)] == ["H"]
    with store.db.atomic():
        hits.mark_collected(store, HitId("H"), at=clock.now())
    assert hits.uncollected(store) == []
    assert hits.load_hits(store)[0].collected_at == clock.now()


def test_a_plan_is_stored_whole_or_not_at_all(store: Store) -> None:
    """A HIT planned twice refuses the whole plan that holds it."""
    hits.plan(store, [HIT])
    other = PlannedHit(
        hit_key=HitKey("birds.b0001.r00.000002"),
        batch=1,
        round=0,
        max_assignments=5,
        reward_cents=100,
        fee_cents=20,
        item_ids=(ItemId("c"),),
    )
    with pytest.raises((sqlite3.IntegrityError, psycopg.IntegrityError)):
        hits.plan(store, [other, HIT])
    assert hits.load_hits(store) == [HIT]


def test_what_a_worker_sent_is_kept_verbatim_and_once(store: Store, clock: FixedClock) -> None:
    """Keeping again, even with another text, changes nothing."""
    _posted(store, clock)
    answer = Answer(
        answer_id=AnswerId("S1.1"),
        assignment_id=AssignmentId("S1"),
        item_id=ItemId("a"),
        position=1,
        values={"caption": "x", "flaws": ("blur", "dark")},
        shown_ms=12_000,
        problems=("caption_min_words",),
    )
    for raw in ("<Answer>\x85\r\n</Answer>", "something else"):
        with store.db.atomic():
            assignments.keep_collected(store, (_assignment(clock, raw), [answer]))
    assert documents(store) == {"S1": "<Answer>\x85\r\n</Answer>"}
    assert assignments.load_assignments(store) == [
        replace(_assignment(clock, ""), fields={})  # documents are asked for apart
    ]
    ((answer_id, position, fields, problems),) = store.db.execute(
        "SELECT answer_id, position, fields, problems FROM answers"
    ).fetchall()
    assert (answer_id, position) == ("S1.1", 1)
    assert json.loads(fields) == {
        "values": {"caption": "x", "flaws": ["blur", "dark"]},
        "shown_ms": 12_000,
        "pastes": None,
        "keystrokes": None,
        "focus_losses": None,
    }
    assert json.loads(problems) == ["caption_min_words"]


def test_work_is_due_from_the_moment_on_at_which_it_is_old_enough(
    store: Store, clock: FixedClock
) -> None:
    """Each assignment is due, or is the next to become so: ann's at nine, bob's a minute later."""
    nine, minute = clock.now(), timedelta(minutes=1)
    answered_hits(store, {"H": (1, ["p1"])}, ["ann", "bob"], at=nine)
    store.db.execute("UPDATE assignments SET judge_by = submitted_at")
    for now, due, then in (
        (nine - minute, set(), nine),
        (nine, {"H-ann"}, nine + minute),
        (nine + minute, {"H-ann", "H-bob"}, None),
    ):
        assert assignments.undecided(store, due_at=now) == due
        assert assignments.next_due(store, now) == then


def test_work_is_judged_at_three_quarters_of_its_own_delay(clock: FixedClock) -> None:
    """If no delay is known, it is judged with its batch."""
    work = _assignment(clock, "")
    approved_at = work.submitted_at + timedelta(hours=4)
    assert replace(work, auto_approved_at=approved_at).judge_by == approved_at - timedelta(hours=1)
    assert work.judge_by is None


def test_work_without_a_deadline_is_judged_with_its_batch(store: Store, clock: FixedClock) -> None:
    """It is due at no time, and due when no time is named."""
    answered_hits(store, {"H": (1, ["p1"])}, ["ann"], at=clock.now())
    assert assignments.undecided(store, due_at=clock.now() + timedelta(days=9)) == frozenset()
    assert assignments.next_due(store, clock.now()) is None
    assert assignments.undecided(store) == {"H-ann"}


def test_a_decision_is_made_once(store: Store, clock: FixedClock) -> None:
    """A later verdict on the same answer is not stored."""

    def decision(verdict: str) -> Decision:
        return Decision(
            subject_kind="answer",
            subject_id="S1.1",
            verdict=verdict,  # type: ignore[arg-type]  # two of the literal's own
            decided_by="ada",
            decided_at=clock.now(),
            because="it is good",
        )

    assert decisions.keep_decisions(store, [decision("keep")]) == 1
    assert decisions.keep_decisions(store, [decision("drop")]) == 0
    assert [decision.verdict for decision in decisions.load_decisions(store)] == ["keep"]


def test_keep_of_a_worker_may_be_followed_by_exclude(store: Store, clock: FixedClock) -> None:
    """It was about one batch; an exclusion is permanent."""

    def decision(verdict: str) -> Decision:
        return Decision(
            subject_kind="worker",
            subject_id="A1",
            verdict=verdict,  # type: ignore[arg-type]  # of the literal's own
            decided_by="ada",
            decided_at=clock.now(),
            because="seen",
        )

    for verdict, new in (("keep", 1), ("exclude", 1), ("keep", 0)):
        assert decisions.keep_decisions(store, [decision(verdict)]) == new


def test_a_newer_finding_replaces_the_older(store: Store) -> None:
    """One row per heuristic and subject; without suspicion the old flag is deleted."""

    def finding(suspicion: float) -> Finding:
        return Finding(
            heuristic="capitals",
            version=1,
            subject_kind="answer",
            subject_id="S1.1",
            suspicion=suspicion,
            flag=suspicion > 0.5,
            evidence=f"{suspicion:.0%} capitals",
        )

    seen: dict[SubjectKind, list[str]] = {"answer": ["S1.1"]}
    for suspicion, kept in ((0.2, 1), (0.9, 1), (0.0, 0)):
        findings.replace(store, [finding(suspicion)], subjects=seen)
        assert findings.load_findings(store) == [finding(suspicion)] * kept


def test_edits_are_replaced_as_a_whole(store: Store, clock: FixedClock) -> None:
    """Cleaning again deletes all earlier edits."""
    _posted(store, clock)
    answer = Answer(
        answer_id=AnswerId("S1.1"),
        assignment_id=AssignmentId("S1"),
        item_id=ItemId("a"),
        position=1,
        values={},
    )
    with store.db.atomic():
        assignments.keep_collected(store, (_assignment(clock, "raw"), [answer]))
    edit = Edit(start=0, end=3, before="teh", after="the", rule="spelling", reason="r")
    doubtful = replace(edit, start=4, end=7, probability=0.4)
    results.replace_edits(store, {AnswerId("S1.1"): [edit]}, {AnswerId("S1.1"): [doubtful]})
    assert results.load_edits(store) == {"S1.1": (edit,)}
    assert results.load_proposed_edits(store) == {"S1.1": (doubtful,)}
    results.replace_edits(store, {}, {})
    assert results.load_edits(store) == results.load_proposed_edits(store) == {}


def test_a_store_belongs_to_one_world(store: Store) -> None:
    """A fact that was set once cannot become another."""
    bound.bind(store, "environment", "rehearsal")
    bound.bind(store, "environment", "rehearsal")
    with pytest.raises(StoreError, match="set differently"):
        bound.bind(store, "environment", "http://127.0.0.1:8080")
    assert bound.read_bound(store).environment == "rehearsal"


def test_opening_again_finds_everything(address: StoreAddress) -> None:
    """The state is in the database, not in the object."""
    first = open_store(address, create=True)
    hits.plan(first, [HIT])
    first.close()
    second = open_store(address)
    assert hits.load_hits(second) == [HIT]
    second.close()


def test_a_missing_or_broken_store_is_a_sentence(tmp_path: Path) -> None:
    """A missing file or one of another kind does not end in a traceback of SQLite."""
    with pytest.raises(StoreError, match="no store yet"):
        open_store(tmp_path / "piecework.db")
    broken = tmp_path / "broken.db"
    broken.write_bytes(b"this is no database" * 100)
    with pytest.raises(StoreError, match="is not an SQLite database"):
        open_store(broken)
