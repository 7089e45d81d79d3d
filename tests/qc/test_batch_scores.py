"""Judging on from what was judged before says the same as judging all anew."""

import pandas as pd
import pytest

from piecework.qc import registry
from piecework.qc.heuristics import capitals
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import assess
from piecework.qc.scores import BatchScores
from tests.qc.tables import row, table
from tests.qc.test_laws import ITEMS, TASK, rated_table

SETTINGS: registry.Settings = {name: {} for name in registry.OFF_BY_DEFAULT}


@pytest.mark.full
def test_a_campaign_that_grows_is_judged_as_if_it_were_new() -> None:
    """Also where answers of two batches come mixed, and a batch is judged twice."""
    answers = rated_table(TASK, 3)
    batches = pd.Series([place // 24 for place in range(len(answers))], index=answers.index)
    batches[answers["assignment_id"].isin(["s2.1", "s3.2"])] -= 1  # came late
    rated = with_ratings(answers.assign(batch=batches), TASK, ITEMS)
    known = BatchScores()
    for size in (20, 45, len(rated)):
        so_far = rated.iloc[:size]
        judged = assess(so_far, SETTINGS, seed=1)
        for _ in range(2):
            going_on = assess(so_far, SETTINGS, seed=1, batches=known)
            assert going_on == judged
        assert {finding.heuristic for finding in judged} >= {"capitals", "too_fast"}


def test_only_the_batch_that_changed_is_scored_again() -> None:
    """And again only when it has other answers."""
    rows = [row(str(place), batch=place // 4) for place in range(12)]
    known = BatchScores()
    scored: list[int] = []

    def score(part: pd.DataFrame) -> pd.DataFrame:
        scored.extend(part["batch"].unique())
        return capitals.score(part, capitals.Params())

    def score_all(number: int) -> pd.DataFrame:
        answers = table(*rows[:number])
        known.forget_changed(answers)
        return known.scored("capitals", answers, score, of_answers=True)

    for number in (9, 12, 12):
        assert score_all(number).index.tolist() == [str(n) for n in range(number)]
    assert scored == [0, 1, 2, 2]
    known.forget()
    score_all(12)
    assert scored[4:] == [0, 1, 2]


def test_a_campaign_without_answers_has_no_findings() -> None:
    """As `export` asks before anything came."""
    assert assess(table(), {}, seed=1, batches=BatchScores()) == []
