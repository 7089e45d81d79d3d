"""The section on items whose answer is known."""

from dataclasses import replace

import pandas as pd

from piecework.qc.gold import contradicted, gold_scores
from piecework.qc.silence import silences
from piecework.report.components import Code
from piecework.report.model import report_model
from piecework.report.sections import known_answers
from piecework.report.sections.known_answers import Gold
from tests.qc.rated import choice, ratings, task_of
from tests.report.campaign import by_hand

TASK = task_of(choice("fit", "yes", "no"))
ITEMS = {f"i{n}": {"gold.fit": "yes"} for n in range(10)}

NONE = contradicted(ratings(TASK, [("ann", "other", "no")]), 0.25)


def scores() -> pd.DataFrame:
    """Eight of ten right, one of two, and one who met none of them."""
    rows = [("ann", f"i{n}", "yes" if n < 8 else "no") for n in range(10)]
    rows += [("bob", "i0", "yes"), ("bob", "i1", "no"), ("cat", "other", "no")]
    return gold_scores(ratings(TASK, rows, items=ITEMS), 0.25)


def test_only_who_met_known_answers_is_counted() -> None:
    """Right and met, over all fields."""
    by_worker = scores()
    assert by_worker.index.tolist() == ["ann", "bob"]
    assert by_worker[["met", "right"]].to_numpy().tolist() == [[10, 8], [2, 1]]


def test_the_worst_stand_first_and_too_few_is_said() -> None:
    """Wilson's interval of eight of ten is by a table 49.0 to 94.3 %."""
    known = Gold(items=10, mixed_in=4, least=4, scores=scores(), contradicted=NONE)
    section = known_answers.gold_section(
        report_model(replace(by_hand.small(), of_sections=(known,)))
    )
    assert section is not None
    assert "known for 10 images, 4 of them added for that purpose" in section.lead[0]
    assert "gave the known answer in 9 of 12 answers" in section.lead[0]
    assert "1 of 2 workers (50.0 %) answered fewer than 4" in section.lead[1]
    assert section.tables[0].rows == (
        (Code("bob"), "2", "1", "50.0 %", "9% to 91%", "too few"),
        (Code("ann"), "10", "8", "80.0 %", "49% to 94%", "yes"),
    )


def test_before_anybody_met_one_it_says_so() -> None:
    """No share of nothing."""
    known = Gold(items=10, mixed_in=0, least=4, scores=scores().iloc[:0], contradicted=NONE)
    section = known_answers.gold_section(
        report_model(replace(by_hand.small(), of_sections=(known,)))
    )
    assert section is not None
    assert section.lead == (
        ("The right answer is known for 10 images, and no worker has answered any of them yet."),
    )
    assert section.tables[0].rows == ()
    assert known_answers.gold_section(report_model(by_hand.small())) is None


def test_known_answers_that_most_contradict_are_shown() -> None:
    """All four say no to i0 and three to i1; of i2 two of four, i3 has two workers."""
    votes = {"i0": "nnnn", "i1": "nnny", "i2": "nnyy", "i3": "nn"}
    rows = [
        (f"w{n}", item, {"n": "no", "y": "yes"}[letter])
        for item, own in votes.items()
        for n, letter in enumerate(own)
    ]
    table = ratings(TASK, rows, items=ITEMS)
    known = Gold(
        items=4,
        mixed_in=4,
        least=4,
        scores=gold_scores(table, 0.25),
        contradicted=contradicted(table, 0.25),
    )
    section = known_answers.gold_section(
        report_model(replace(by_hand.small(), of_sections=(known,)))
    )
    assert section is not None
    assert "Most workers contradict 2 known answers: check" in section.lead[1]
    assert section.tables[1].rows == (
        (Code("i0"), "fit", "4", "4", "100.0 %"),
        (Code("i1"), "fit", "4", "3", "75.0 %"),
    )
    assert section.tables[0].rows[0][2:5] == ("0", "0.0 %", "0% to 49%")


def test_what_is_enough_is_counted_by_field_as_the_heuristic_does() -> None:
    """Two fields of two items are four answers, and `gold_failed` wants four of one."""
    table = ratings(TASK, [("ann", "i0", "no"), ("ann", "i1", "no")], items=ITEMS)
    for kind in ("rated", "gold"):
        table[f"{kind}.true"] = table[f"{kind}.fit"]
    scores = gold_scores(table, 0.25)
    assert scores[["met", "right", "most"]].to_numpy().tolist() == [[4, 0, 2]]
    assert "no worker has answered 4" in silences(table, {})["gold_failed"]
    known = Gold(items=2, mixed_in=0, least=4, scores=scores, contradicted=NONE)
    section = known_answers.gold_section(
        report_model(replace(by_hand.small(), of_sections=(known,)))
    )
    assert section is not None
    assert section.tables[0].rows[0][-1] == "too few"
