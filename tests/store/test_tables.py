"""The table of answers, and the verdict about each answer, checked by hand."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from piecework.domain.assignment import Answer, Assignment, typing_record
from piecework.domain.clock import FixedClock
from piecework.domain.ids import AnswerId, AssignmentId, HitId, HitKey, ItemId, WorkerId
from piecework.domain.tables import COLLECTED, faults, task_columns
from piecework.domain.verdicts import Decision, SubjectKind, Verdict
from piecework.hit_templates.tasks import load_task
from piecework.results.table import surplus as beyond
from piecework.store import assignments, decisions, hits, intents, tables, workers
from piecework.store.database import Store
from piecework.store.intents import Intent
from piecework.store.tables import last_numbers, read_answers, read_verdicts
from tests.store.answered import answered_hits
from tests.typing_records import record

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
TASK = load_task("caption")
HITS = {"H1": (1, "ab"), "H2": (2, "ba")}


@pytest.fixture
def answered(store: Store) -> Store:
    """Two HITs of two items, each answered by ann at nine and by bob a minute later."""
    answered_hits(store, HITS, ["ann", "bob"], at=START)
    return store


def _keep(store: Store, *answers: Answer) -> None:
    """Add dan's assignment of the first HIT."""
    assignment = Assignment(
        assignment_id=answers[0].assignment_id,
        hit_id=HitId("H1"),
        worker_id=WorkerId("dan"),
        status="Submitted",
        accepted_at=START,
        submitted_at=START + timedelta(seconds=90),
    )
    with store.db.atomic():
        assignments.keep_collected(store, (assignment, answers))


def _answer(position: int) -> Answer:
    return Answer(
        answer_id=AnswerId(f"S9.{position}"),
        assignment_id=AssignmentId("S9"),
        item_id=ItemId("ab"[position - 1]),
        position=position,
        values={"caption": "A cup.", "has_text": "no", "flaws": ("blur", "dark")},
        shown_ms=10_000 * position,
        pastes=1,
        keystrokes=6,
        focus_losses=0,
        typing={"caption": record()},
        problems=("caption_min_words",),
        place=3 - position,
    )


def test_an_empty_store_gives_an_empty_table_with_every_column(store: Store) -> None:
    """Heuristics and exports need not check whether answers came."""
    table = read_answers(store, TASK)
    assert len(table) == 0
    assert faults(table, {**COLLECTED, **task_columns(TASK)}) == []
    assert last_numbers(store) == (0, 0)
    assert len(read_verdicts(store)) == 0


def test_rows_are_in_the_order_of_keeping_with_what_they_are_part_of(answered: Store) -> None:
    """Eight answers: HIT by HIT, worker by worker, by position."""
    table = read_answers(answered, TASK)
    assert faults(table, {**COLLECTED, **task_columns(TASK)}) == []
    assert table.index.tolist() == [
        *("H1-ann.1", "H1-ann.2", "H1-bob.1", "H1-bob.2"),
        *("H2-ann.1", "H2-ann.2", "H2-bob.1", "H2-bob.2"),
    ]
    last = table.loc["H2-bob.1"]
    assert (last["batch"], last["round"], last["position"]) == (2, 0, 1)
    assert (last["hit_id"], last["worker_id"], last["item_id"]) == ("H2", "bob", "b")
    assert last["text"] == "bob sees b"
    assert last["submitted_at"] == pd.Timestamp(START + timedelta(minutes=1))
    # Five minutes from accepting to submitting, over two items.
    assert last["market_seconds"] == 150
    # The page measured no times.
    assert table[["shown_seconds", "page_seconds"]].isna().all(axis=None)
    assert (table["typing"] == "").all()


def test_work_is_of_the_round_that_had_asked_for_it_when_it_was_accepted(answered: Store) -> None:
    """Ann accepted at 8:55 and bob at 8:56; slots were added between, and both sent work later."""
    first = hits.load_hits(answered)[0]
    more = replace(first, hit_key=HitKey("more"), extends=first.hit_key, round=1, hit_id=None)
    hits.plan(answered, [replace(more, posted_at=None, collected_at=None)])
    added = Intent(key="publish:more", operation="publish", subject=("hit", "more"))
    with answered.db.atomic():
        intents.declare(answered, added, FixedClock(START - timedelta(minutes=4, seconds=30)))
    rounds = read_answers(answered, TASK)["round"]
    assert rounds[["H1-ann.1", "H1-bob.1", "H2-bob.1"]].tolist() == [0, 1, 0]


def test_a_type_of_hit_belongs_to_the_batch_that_had_it_first(answered: Store) -> None:
    """What is charged for the type is a cost of that batch."""
    assert hits.batches_of_types(answered) == {"T": 1}


@pytest.mark.parametrize("last", ["H1", "H2"])
def test_a_worker_is_of_the_market_of_their_latest_work(answered: Store, last: str) -> None:
    """Whose fees a compensation costs; HITs without a market say nothing."""
    at = (START + timedelta(minutes=9)).isoformat(timespec="microseconds")
    with answered.db.atomic():
        for hit_id in HITS:
            answered.db.execute(
                "UPDATE hits SET market = ? WHERE hit_id = ?", [f"market of {hit_id}", hit_id]
            )
        answered.db.execute(
            "UPDATE assignments SET submitted_at = ? WHERE assignment_id = ?", [at, f"{last}-ann"]
        )
    assert workers.market_of_worker(answered, "ann") == f"market of {last}"
    assert workers.market_of_worker(answered, "stranger") == ""
    with answered.db.atomic():
        answered.db.execute("UPDATE hits SET market = '' WHERE hit_id = ?", [last])
    (other,) = {*HITS} - {last}
    assert workers.market_of_worker(answered, "ann") == f"market of {other}"


def test_what_was_measured_and_typed_stands_in_its_column(answered: Store) -> None:
    """10 and 20 seconds on two items are 15 each of the page; 90 in all are 45."""
    _keep(answered, _answer(1), _answer(2))
    row = read_answers(answered, TASK).loc["S9.1"]
    assert (row["shown_seconds"], row["page_seconds"]) == (10, 15)
    assert row["market_seconds"] == 45
    assert (row["pastes"], row["keystrokes"], row["focus_losses"]) == (1, 6, 0)
    assert (row["position"], row["place"], row["n_items"]) == (1, 2, 2)
    assert (row["value.has_text"], row["value.flaws"]) == ("no", ("blur", "dark"))
    assert row["problems"] == ("caption_min_words",)
    assert typing_record(str(row["typing"])) == record()


def test_an_item_that_was_not_measured_leaves_the_page_unknown(answered: Store) -> None:
    """The second item's time is missing; the first item's time is still known."""
    _keep(answered, _answer(1), replace(_answer(2), shown_ms=None))
    rows = read_answers(answered, TASK).loc[["S9.1", "S9.2"]]
    assert rows["shown_seconds"].isna().tolist() == [False, True]
    assert rows["page_seconds"].isna().all()


def test_a_table_is_read_on_from_where_it_ended(answered: Store) -> None:
    """Each row comes exactly once, the same as when read at once."""
    before, number = read_answers(answered, TASK), last_numbers(answered)[0]
    assert len(read_answers(answered, TASK, after=number)) == 0
    _keep(answered, _answer(1), _answer(2))
    news = read_answers(answered, TASK, after=number)
    assert news.index.tolist() == ["S9.1", "S9.2"]
    pd.testing.assert_frame_equal(pd.concat([before, news]), read_answers(answered, TASK))


@pytest.mark.parametrize("at_once", [1, 2, 3, 5, 7])
def test_no_assignment_is_parted_however_many_rows_are_read_at_once(
    answered: Store, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """Counts over an assignment include all its answers."""
    _keep(answered, _answer(1), _answer(2))
    whole = read_answers(answered, TASK)
    monkeypatch.setattr(tables, "_AT_ONCE", at_once)
    pd.testing.assert_frame_equal(read_answers(answered, TASK), whole)


def _decide(store: Store, verdicts: Sequence[tuple[str, str]]) -> None:
    with store.db.atomic():
        decisions.overrule(
            store,
            [
                Decision(
                    subject_kind="answer",
                    subject_id=answer_id,
                    verdict=verdict,  # type: ignore[arg-type]  # of the literal's own
                    decided_by="ada",
                    decided_at=START,
                    because=f"{verdict} it",
                )
                for answer_id, verdict in verdicts
            ],
        )


@pytest.mark.parametrize(
    ("wanted", "kept", "surplus"),
    [
        # Item a: ann at nine and bob a minute later in H1; each of them again in H2.
        (2, ["H1-ann.1", "H1-bob.1"], []),
        (1, ["H1-ann.1", "H1-bob.1"], ["H1-bob.1"]),
        # The earlier assignment counts, in any order of decisions.
        (1, ["H1-bob.1", "H1-ann.1"], ["H1-bob.1"]),
        # A worker's second answer is surplus, even where one more is wanted.
        (3, ["H1-ann.1", "H2-ann.2", "H1-bob.1"], ["H2-ann.2"]),
        # It does not displace another: ann's second came before bob's, and bob's
        # counts.
        (2, ["H1-ann.1", "H2-ann.2", "H1-bob.1"], ["H2-ann.2"]),
        # Other items are counted separately.
        (1, ["H1-ann.1", "H1-ann.2"], []),
    ],
)
def test_what_is_kept_beyond_what_an_item_takes_is_surplus(
    answered: Store, wanted: int, kept: list[str], surplus: list[str]
) -> None:
    """One answer per worker, the earliest first, and no more than wanted."""
    _decide(answered, [(answer_id, "keep") for answer_id in kept])
    table, verdicts = read_answers(answered, TASK), read_verdicts(answered)
    assert sorted(verdicts.index) == sorted(kept)
    is_kept = table.index.to_series().isin(kept)
    is_surplus = beyond(table, is_kept, least=wanted, wanted={})
    assert table.index[is_surplus].tolist() == surplus
    assert set(verdicts["verdict"]) == {"keep"}


@pytest.mark.parametrize("first_id", ["H1-ann", "H2-ann"])
def test_the_earliest_answer_counts_whatever_its_id_is(answered: Store, first_id: str) -> None:
    """Of ann's two and of all, by when they were submitted; ids are drawn by chance."""
    _decide(answered, [(name, "keep") for name in ("H1-ann.1", "H2-ann.2", "H1-bob.1")])
    minutes = {"H1-ann": 3, "H2-ann": 4, "H1-bob": 9} | {first_id: 1}
    for assignment_id, minute in minutes.items():
        at = (START + timedelta(minutes=minute)).isoformat(timespec="microseconds")
        answered.db.execute(
            "UPDATE assignments SET submitted_at = ? WHERE assignment_id = ?", [at, assignment_id]
        )
    table = read_answers(answered, TASK)
    is_kept = table.index.to_series().isin(["H1-ann.1", "H2-ann.2", "H1-bob.1"])
    of_item = table.index[is_kept]
    both = {"H1-ann": ["H2-ann.2"], "H2-ann": ["H1-ann.1"]}[first_id]
    for least, wanted, surplus in (
        (2, {}, both),
        (1, {}, [*both, "H1-bob.1"]),
        (1, {ItemId("a"): 2}, both),
        (2, {ItemId("a"): 1}, [*both, "H1-bob.1"]),
    ):
        is_surplus = beyond(table, is_kept, least=least, wanted=wanted)
        assert set(table.index[is_surplus]) == set(surplus) <= set(of_item)


def test_of_answers_of_the_same_moment_the_first_by_id_counts(answered: Store) -> None:
    """Wherever the item stood in its HIT: the choice is the same at every export."""
    kept = ["H1-bob.2", "H2-bob.1"]  # both about item b
    _decide(answered, [(name, "keep") for name in kept])
    table = read_answers(answered, TASK)
    is_kept = table.index.to_series().isin(kept)
    is_surplus = beyond(table, is_kept, least=2, wanted={})
    assert table.index[is_surplus].tolist() == ["H2-bob.1"]


def test_the_latest_decision_holds_and_undecided_answers_have_none(answered: Store) -> None:
    """Ann's was dropped and taken back; bob's was kept and then dropped."""
    _decide(answered, [("H1-ann.1", "drop"), ("H1-bob.1", "keep")])
    _decide(answered, [("H1-ann.1", "keep"), ("H1-bob.1", "drop")])
    verdicts = read_verdicts(answered)
    assert verdicts["verdict"].to_dict() == {"H1-ann.1": "keep", "H1-bob.1": "drop"}
    assert verdicts["because"].to_dict() == {"H1-ann.1": "", "H1-bob.1": "drop it"}
    assert verdicts.dtypes.astype(str).to_dict() == {"verdict": "str", "because": "str"}


def _about(
    kind: SubjectKind, name: str, verdict: Verdict, *, hours: int, by: str = "ada"
) -> Decision:
    return Decision(
        subject_kind=kind,
        subject_id=name,
        verdict=verdict,
        decided_by=by,
        decided_at=START + timedelta(hours=hours),
        because="So.",
    )


def test_of_people_the_last_word_counts_and_the_policy_is_nobody(answered: Store) -> None:
    """Ada dropped an answer and kept it; then the policy dropped both."""
    with answered.db.atomic():
        for made in (
            _about("answer", "H1-ann.1", "drop", hours=0),
            _about("answer", "H1-ann.1", "keep", hours=1),
            _about("answer", "H1-ann.1", "drop", hours=2, by="policy:birds"),
            _about("answer", "H1-bob.1", "drop", hours=2, by="policy:birds"),
            _about("worker", "bob", "block", hours=2),
        ):
            decisions.overrule(answered, [made])
    assert decisions.by_people(answered, "answer") == {("answer", "H1-ann.1"): "keep"}
    assert decisions.by_people(answered, "answer", "worker") == {
        ("answer", "H1-ann.1"): "keep",
        ("worker", "bob"): "block",
    }


def test_a_worker_who_was_kept_may_be_judged_again_when_more_has_come(answered: Store) -> None:
    """The last HIT of the batch came after two hours; who is shut out stays so."""
    at = (START + timedelta(hours=2)).isoformat(timespec="microseconds")
    with answered.db.atomic():
        answered.db.execute("UPDATE hits SET batch = 1, collected_at = ? WHERE hit_id = 'H2'", [at])
        for name, verdict, hours in (
            ("ann", "keep", 1),
            ("bob", "keep", 2),
            ("cat", "exclude", 0),
        ):
            decisions.overrule(answered, [_about("worker", name, verdict, hours=hours)])  # type: ignore[arg-type]
    assert decisions.decided_workers(answered, 1) == {"bob", "cat"}


def test_what_a_person_decided_since_is_not_proposed(answered: Store) -> None:
    """A worker may be proposed again after an earlier word; answers may not."""
    with answered.db.atomic():
        for made in (
            _about("worker", "ann", "keep", hours=1),
            _about("worker", "bob", "keep", hours=2),
            _about("answer", "H1-ann.1", "keep", hours=1),
        ):
            decisions.overrule(answered, [made])
        decisions.keep_proposals(
            answered,
            [
                *(_about("worker", name, "exclude", hours=2) for name in ("ann", "bob", "cat")),
                *(_about("answer", f"H1-{name}.1", "drop", hours=2) for name in ("ann", "bob")),
            ],
        )
    assert set(decisions.proposed(answered)) == {
        ("worker", "ann"),
        ("worker", "cat"),
        ("answer", "H1-bob.1"),
    }
