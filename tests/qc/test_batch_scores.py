"""Judging on from what was judged before says the same as judging all anew."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from piecework.domain.verdicts import JOINED
from piecework.qc import registry, text_fit
from piecework.qc.batches import BatchScores
from piecework.qc.heuristics import capitals
from piecework.qc.ratings import with_ratings
from piecework.qc.registry import assess
from tests.qc.tables import row, table
from tests.qc.test_laws import ITEMS, TASK, rated_table
from tests.qc.test_two_phases import EAGER

if TYPE_CHECKING:
    from piecework.qc.joined import Judged

SETTINGS: registry.Settings = {name: {} for name in registry.OFF_BY_DEFAULT}


def test_a_batch_has_the_findings_of_the_whole_table() -> None:
    """To the bit, with and without decisions of people and what is kept of other batches."""
    rated = with_ratings(rated_table(TASK, 3), TASK, ITEMS)
    some = rated.index[::5]
    judged: Judged = {
        "answer": {str(name): place % 2 == 0 for place, name in enumerate(some)},
        "worker": {str(name): place == 0 for place, name in enumerate(rated["worker_id"].unique())},
    }
    known, names = BatchScores(), set[str]()
    for by_people in ({}, judged):
        whole = assess(rated, EAGER, seed=1, judged=by_people)
        for batch, rows in rated.groupby("batch"):
            of_batch = {*rows.index, *rows["assignment_id"], *rows["worker_id"]}
            expected = [finding for finding in whole if finding.subject_id in of_batch]
            names |= {finding.heuristic for finding in expected}
            for kept in (None, known):
                about = assess(
                    rated, EAGER, seed=1, judged=by_people, batches=kept, about=int(str(batch))
                )
                assert about == expected, (batch, kept)
    assert {"low_agreement", "rushed", "text_off_item", JOINED} <= names


def test_texts_of_some_batches_at_a_time_have_the_same_findings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As in a table that is too large to compare all texts at once."""
    rated = with_ratings(rated_table(TASK, 3), TASK, ITEMS)
    whole = assess(rated, EAGER, seed=1)
    monkeypatch.setattr(text_fit, "_ROWS_AT_ONCE", 1)
    compared: list[int] = []

    class Recorded(text_fit.Worded):
        def __init__(self, table: pd.DataFrame) -> None:
            compared.append(len(table))
            super().__init__(table)

    monkeypatch.setattr(text_fit, "Worded", Recorded)
    assert assess(rated, EAGER, seed=1) == whole
    assert len(compared) == rated["batch"].nunique()
    assert sum(compared) == len(rated)


def test_texts_about_an_item_of_several_batches_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As imports and known answers have it; a larger table finds what a smaller one does."""
    rated = with_ratings(rated_table(TASK, 3), TASK, ITEMS)
    rated = rated.assign(batch=[place % 2 for place in range(len(rated))])
    whole = text_fit.with_text_fit(rated)
    monkeypatch.setattr(text_fit, "_ROWS_AT_ONCE", 1)
    pd.testing.assert_frame_equal(text_fit.with_text_fit(rated), whole)


def test_a_batch_is_judged_without_scoring_the_others_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whatever looks at an answer, its item or its batch gets no other answers."""
    rated = with_ratings(rated_table(TASK, 3), TASK, ITEMS)
    known, seen, last = BatchScores(), dict[str, set[int]](), int(rated["batch"].max())
    assess(rated[rated["batch"] < last], {}, seed=1, batches=known)
    for heuristic in registry.HEURISTICS:
        score = heuristic.score

        def recording(
            part: pd.DataFrame,
            *more: Any,  # noqa: ANN401 - parameters and what is usual
            score: Callable[..., pd.DataFrame] = score,
            name: str = heuristic.NAME,
        ) -> pd.DataFrame:
            seen.setdefault(name, set()).update(part["batch"])
            return score(part, *more)

        monkeypatch.setattr(heuristic, "score", recording)
    assess(rated, {}, seed=1, batches=known, about=last)
    alone = {
        heuristic.NAME
        for heuristic in registry.HEURISTICS
        if heuristic.SCOPE in {"row", "batch", "item"} and heuristic.NAME in seen
    }
    assert {"capitals", "rushed", "minority_canned", "same_sentence_in_hit"} <= alone
    assert {name: seen[name] for name in alone} == {name: {last} for name in alone}


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
    score_all(4)  # as if the others were archived: nothing of them is kept
    score_all(12)
    assert scored[7:] == [1, 2]


def test_a_campaign_without_answers_has_no_findings() -> None:
    """As `export` asks before anything came."""
    assert assess(table(), {}, seed=1, batches=BatchScores()) == []
