"""Laws of drafts that a worker leaves as they are."""

from collections.abc import Sequence

import pandas as pd

from piecework.domain.field import Aggregate, Field
from piecework.qc.heuristics.drafts_kept import Params, score
from tests.qc.rated import ratings, task_of
from tests.qc.tables import cells, flagged, row, table

DRAFT = "A man plays a  guitar."
TASK = task_of(
    Field(name="correction", kind="text", label="c"),
    columns=("id", "draft"),
    aggregates=(Aggregate(field="correction", kind="best_edit", column="draft"),),
)
ITEMS = {f"i{n}": {"draft": DRAFT} for n in range(20)}


def corrections(worker: str, letters: str) -> list[tuple[str, str, str]]:
    """One answer an item: k keeps the draft, c changes it."""
    texts = {"k": " A man plays a guitar.\n", "c": "A man plays a violin."}
    return [(worker, f"i{n}", texts[letter]) for n, letter in enumerate(letters)]


def scores_of(rows: Sequence[tuple[str, str, str]], params: Params | None = None) -> pd.DataFrame:
    """The scores of answers about items with a draft."""
    return score(ratings(TASK, rows, items=ITEMS), params or Params())


def test_who_keeps_what_others_change_is_flagged() -> None:
    """Three others change each of ten: each is kept with a chance of (0 + 1) / 5."""
    others = [each for worker in ("a", "b", "d") for each in corrections(worker, "c" * 10)]
    scores = scores_of([*corrections("lazy", "k" * 10), *others])
    assert flagged(scores) == {"lazy"}
    # A fifth to the tenth is 10^-6.99; at 10^-7 it is no longer rare enough.
    at = [
        scores_of([*corrections("lazy", "k" * 10), *others], Params(rarer_than=limit))
        for limit in (6.9, 7.0)
    ]
    assert [flagged(each) for each in at] == [{"lazy"}, set()]
    sentence = cells(scores, "lazy")[2]
    assert sentence.startswith("leaves 10 of 10 drafts as they are; other workers ")
    assert "0.0 %" in sentence


def test_what_all_leave_alone_is_no_suspicion() -> None:
    """Right drafts need no change, however many there are."""
    rows = [each for worker in "abcd" for each in corrections(worker, "k" * 20)]
    scores = scores_of(rows)
    assert flagged(scores) == set()
    assert max(scores["suspicion"]) < 0.2


def test_a_careful_worker_with_some_right_drafts_is_not_flagged() -> None:
    """The worker keeps what the others keep, and changes what they change."""
    same = "kkkkkcccccckkkkccckc"
    rows = [each for worker in "abc" for each in corrections(worker, same)]
    assert flagged(scores_of(rows)) == set()


def test_few_drafts_other_answers_or_second_answers_do_not_count() -> None:
    """Seven are too few; so are drafts that no other worker had."""
    others = [each for w in "abd" for each in corrections(w, "c" * 20)]
    seven = corrections("lazy", "k" * 7)
    assert flagged(scores_of([*seven, *others])) == set()
    assert flagged(scores_of([*seven, *seven, *others])) == set()
    assert flagged(scores_of(corrections("lazy", "k" * 20))) == set()
    eight = corrections("lazy", "k" * 8)
    assert flagged(scores_of([*eight, *others])) == {"lazy"}


def test_items_without_a_draft_and_empty_answers_do_not_count() -> None:
    """Neither is a draft that was kept."""
    others = [each for w in "abd" for each in corrections(w, "c" * 10)]
    empty = [("lazy", f"i{n}", "") for n in range(10)]
    assert flagged(scores_of([*empty, *others])) == set()
    without = score(ratings(TASK, [*corrections("lazy", "k" * 10), *others]), Params())
    assert flagged(without) == set()


def test_what_does_not_apply_says_nothing() -> None:
    """A frame without drafts, and an empty table: no flag, a row a worker."""
    assert score(table(row("a")), Params())["suspicion"].tolist() == [0.0]
    assert score(table(), Params()).empty
