"""Laws of one sentence under many items."""

import pandas as pd
import pytest

from piecework.qc.batches import BatchScores
from piecework.qc.heuristics.sentence_off_items import Params, score
from piecework.qc.registry import HEURISTICS, Settings, assess
from tests.qc.tables import cells, flagged, row, table

SPAM = "a very wonderful view my friend"
HONEST = "a box of food"
ALONE: Settings = {
    heuristic.NAME: {} if heuristic.NAME == "sentence_off_items" else None
    for heuristic in HEURISTICS
}


def described(spam: int, *, worker: str) -> pd.DataFrame:
    """Thirty items: twelve show food, the rest fifteen other things; and a sentence."""
    rows = []
    for n in range(30):
        thing = "box of food" if n < 12 else f"thing{n % 15} on table{n % 15}"
        for who in range(3):
            text = f"a {thing}" if who else f"the {thing} here"
            rows.append(row(f"{n}.{who}", item_id=f"{n}", worker_id="", text=text))
    spammed = [row(f"s{n}", item_id=f"{n}", worker_id=worker, text=SPAM) for n in range(spam)]
    honest = [row(f"h{n}", item_id=f"{n}", worker_id="", text=f"{HONEST}.") for n in range(12)]
    return table(*rows, *spammed, *honest)


@pytest.mark.parametrize("worker", ["", "one"])
def test_spam_is_told_from_an_honest_repeat_without_worker_ids(worker: str) -> None:
    """Both stand on twelve items and more; only one is about them."""
    scores = score(described(25, worker=worker), Params())
    assert flagged(scores) == {f"s{n}" for n in range(25)}
    sentence = cells(scores, "s0")[2]
    assert " 25 items " in sentence
    assert sentence.endswith(f"“{SPAM}”")


def test_nine_items_are_too_few() -> None:
    """Below `min_items` repeats prove nothing."""
    assert flagged(score(described(9, worker=""), Params())) == set()


@pytest.mark.parametrize("n", [2, 5])
def test_batches_hide_nothing(n: int) -> None:
    """Each of several batches has too few of the sentence; the campaign has enough."""
    answers = described(25, worker="")
    items = answers["item_id"].astype("int64")
    dealt = answers.assign(batch=1 + items % n)
    known = BatchScores()
    of_spam = {
        finding.subject_id
        for last in range(1, n + 1)  # one pass after each batch
        for finding in assess(dealt[dealt["batch"] <= last], ALONE, seed=1, batches=known)
        if finding.heuristic == "sentence_off_items"
    }
    assert of_spam == {f"s{n}" for n in range(25)}


def test_no_others_no_suspicion() -> None:
    """Where nobody else wrote, nothing says what the items show."""
    rows = [row(f"{n}", text=SPAM, worker_id="w") for n in range(40)]
    assert flagged(score(table(*rows), Params())) == set()
    assert score(table(), Params()).empty
