"""Laws of texts that are about another item, or about none."""

import math

import pandas as pd
import pytest

from piecework.qc.heuristics.text_off_item import Params, score
from piecework.qc.text_fit import text_fit, with_text_fit
from tests.qc.tables import CANNED, cells, flagged, row, table

SUBJECTS = (
    "brown dog grass",
    "white boat sea",
    "red kite sky",
    "old clock wall",
    "green train station",
)
MANNERS = ("a {} is here", "it is a {}", "a {} is seen")


def answers(*extra: dict[str, object]) -> pd.DataFrame:
    """Three people about each of five items, and what a test is about."""
    rows = [
        row(f"{subject}.{who}", item_id=subject, worker_id=f"w{who}", text=manner.format(subject))
        for subject in SUBJECTS
        for who, manner in enumerate(MANNERS)
    ]
    return table(*rows, *extra)


def test_a_text_about_another_item_is_flagged() -> None:
    """Neither *boat* nor *mast* is what the three others wrote about the dog."""
    off = row("off", item_id=SUBJECTS[0], worker_id="x", text="boat mast sails sea harbour")
    scores = score(answers(off), Params())
    assert flagged(scores) == {"off"}
    sentence = cells(scores, "off")[2]
    assert "0 of 5 different words with 3 other texts" in sentence
    true = row("off", item_id=SUBJECTS[0], worker_id="x", text="my dog is on green grass")
    assert flagged(score(answers(true), Params())) == set()


def test_the_count_of_shared_words_and_of_chance_is_by_hand() -> None:
    """*dog* is shared; *boat* would be in one of twelve texts elsewhere.

    Three of twelve texts about other items have *boat*: that one of three has it, has
    the chance 1 - (3/4)^3 = 0.578. No text about another item has *dog*.
    """
    own = row("own", item_id=SUBJECTS[0], worker_id="x", text="dog boat")
    fits = text_fit(answers(own)).loc["own"]
    assert fits["words"] == 2
    assert fits["shared"] == 1
    assert fits["others"] == 3
    assert fits["by_chance"] == pytest.approx(1 - 0.75**3)


def test_words_that_stand_everywhere_say_nothing() -> None:
    """*is* and *a* are shared by all; a text of such words fits as any other does."""
    empty = row("none", item_id=SUBJECTS[0], worker_id="x", text="is a")
    assert abs(text_fit(answers(empty))["log_odds"])["none"] < 1


@pytest.mark.parametrize("text", ["", CANNED])
def test_nothing_written_is_nothing_to_compare(text: str) -> None:
    """The canned text and an empty one are neither judged nor voices."""
    own = row("own", item_id=SUBJECTS[0], worker_id="x", text=text)
    fits = text_fit(answers(own))
    assert fits.loc["own"].isna().all()
    assert fits.loc["brown dog grass.0", "others"] == 2


def test_chinese_is_compared_by_pairs_of_characters() -> None:
    """A whole sentence would be one word that no one else uses."""
    own = row("own", item_id="1", worker_id="x", text="一隻黑色的狗在草地上")
    other = row("other", item_id="1", worker_id="y", text="草地上有黑色的狗")
    fits = text_fit(answers(own, other)).loc["own"]
    assert fits["words"] == 9
    assert fits["shared"] == 5  # 黑色 色的 的狗 草地 地上


def test_a_second_answer_is_judged_and_is_no_voice() -> None:
    """A worker cannot vouch for himself."""
    again = row("z", item_id=SUBJECTS[0], worker_id="w0", text="boat mast sails sea harbour")
    fits = text_fit(answers(again))
    assert fits.loc["brown dog grass.1", "others"] == 2
    assert fits.loc["z", "others"] == 2
    assert flagged(score(answers(again), Params())) == {"z"}


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [row("a")],
        [row(f"{n}", item_id="one", worker_id="") for n in range(30)],
        [row(f"{n}", text="the same") for n in range(30)],
        [row(f"{n}", text="") for n in range(30)],
        [row(f"{n}", worker_id="w", item_id=f"{n}") for n in range(30)],
    ],
)
def test_little_to_compare_with_is_no_suspicion(rows: list[dict[str, object]]) -> None:
    """One answer, one item, one worker, one text, or none: it is silent."""
    scores = score(table(*rows), Params())
    assert flagged(scores) == set()
    assert len(scores) == len(rows)


def test_what_is_there_already_is_not_computed_again() -> None:
    """Several heuristics read one computation."""
    whole = with_text_fit(answers())
    pd.testing.assert_frame_equal(text_fit(whole), text_fit(answers()))
    changed = whole.assign(**{"text_fit.log_odds": math.nan})
    assert text_fit(changed)["log_odds"].isna().all()
