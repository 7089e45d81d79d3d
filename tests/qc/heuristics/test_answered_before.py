"""Laws of second answers by the same worker."""

from datetime import timedelta

from piecework.qc.heuristics.answered_before import Params, score
from tests.qc.tables import START, evidence, flagged, row, table


def test_only_the_later_answers_are_flagged() -> None:
    """The first stays; the second and the third name it."""
    same = {"worker_id": "w", "item_id": "i"}
    rows = table(
        row("z", **same, submitted_at=START),
        row("b", **same, submitted_at=START + timedelta(days=2)),
        row("a", **same, submitted_at=START + timedelta(days=1)),
        row("c", worker_id="w", item_id="j"),
        row("d", worker_id="v", item_id="i"),
    )
    scores = score(rows, Params())
    assert flagged(scores) == {"a", "b"}
    assert evidence(scores, "b").endswith("answer z")


def test_unknown_workers_are_not_one_worker() -> None:
    """Two answers without a worker are no repetition."""
    same = {"worker_id": "", "item_id": "i"}
    assert flagged(score(table(row("a", **same), row("b", **same)), Params())) == set()


def test_an_empty_table_has_no_answers() -> None:
    """No answers, no rows."""
    assert score(table(), Params()).empty
