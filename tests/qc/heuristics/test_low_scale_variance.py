"""Laws of a scale on which nothing moves."""

import random

from piecework.qc.heuristics.low_scale_variance import Params, score
from tests.qc.rated import choice, ratings, scale, task_of
from tests.qc.tables import cells, flagged, row, table

TASK = task_of(scale("s"))
WIDE = [("a", f"{n}", float(n * 10)) for n in range(9)]


def test_a_narrow_band_beside_wide_ones_is_flagged() -> None:
    """48 to 52 all along, while another uses 0 to 80: 8 to 72 from tenth to tenth."""
    still = [("still", f"{n}", 50.0 + n % 3 - 1) for n in range(9)]
    scores = score(ratings(TASK, still + WIDE), Params())
    assert flagged(scores) == {"still"}
    # nine places from 49 to 51: the tenth per cent is 49, the ninetieth 51.
    sentence = cells(scores, "still")[2]
    assert "within 2.0 %" in sentence
    assert "1 other worker spread over 64.0 % or more" in sentence


def test_one_jump_does_not_hide_the_habit() -> None:
    """One of twelve at the end of the scale: the tenths still lie together."""
    still = [("still", f"{n}", 100.0 if n == 5 else 50.0) for n in range(12)]
    assert flagged(score(ratings(TASK, still + WIDE), Params())) == {"still"}


def test_two_values_are_no_scale() -> None:
    """Whoever meets no item with the rare label is right to give the usual one."""
    for field in (scale("s"), choice("s", "0", "1"), choice("s", "0", "1", "2", is_nominal=True)):
        rare, usual = (100.0, 0.0) if field.kind == "number" else ("1", "0")
        rows = [
            (worker, f"{n}", rare if n % 4 == 0 else usual) for n in range(40) for worker in "abcd"
        ]
        rows += [("honest", f"{n}", usual) for n in range(40) if n % 4]
        assert flagged(score(ratings(task_of(field), rows), Params())) == set()


def test_a_rare_grade_is_not_asked_of_who_met_none() -> None:
    """Most items are graded 0 and one in seven 70 to 90: many workers of eight items meet none."""
    chance = random.Random(1)  # noqa: S311 - no secret
    truth = {f"{n}": 0.0 if n % 7 else 70.0 + n % 3 * 10 for n in range(140)}
    rows = [
        (f"w{worker}", item, truth[item])
        for worker in range(60)
        for item in chance.sample(sorted(truth), 8 if worker else 100)
    ]
    rows += [("still", item, 0.0) for item in truth]
    assert flagged(score(ratings(TASK, rows), Params(others_width=0.0))) == {"still"}


def test_where_everything_is_alike_nobody_is_suspected() -> None:
    """All use a narrow band, so it is the items and not the workers."""
    rows = [(worker, f"{n}", 50.0) for n in range(9) for worker in "abc"]
    assert flagged(score(ratings(TASK, rows), Params())) == set()


def test_few_items_alone_or_nothing_say_nothing() -> None:
    """Seven items, nobody else, no scale."""
    few = [("still", f"{n}", 50.0) for n in range(7)]
    assert flagged(score(ratings(TASK, few + WIDE), Params())) == set()
    alone = [("still", f"{n}", 50.0) for n in range(9)]
    assert flagged(score(ratings(TASK, alone), Params())) == set()
    assert score(table(row("a")), Params())["suspicion"].tolist() == [0.0]
    assert score(table(), Params()).empty
