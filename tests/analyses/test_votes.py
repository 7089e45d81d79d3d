"""Laws of what counts as a vote."""

import pandas as pd
import pytest

from piecework.analyses.votes import difficulties, difficulty, vote_table, votes_that_count
from tests.analyses.ballots import votes_of


def test_a_second_vote_and_silence_do_not_count() -> None:
    """Ann's first word about i holds; an empty or missing value, or no item, says nothing."""
    votes = votes_of(
        ("i", "ann", "yes"),
        ("i", "ann", "no"),
        ("i", "bob", ""),
        ("i", "cid", None),
        ("j", "ann", "no"),
        ("k", "ann", "no"),
    )
    votes["item_id"] = votes["item_id"].where(votes["item_id"] != "k")
    assert votes_that_count(votes).to_numpy().tolist() == [["i", "ann", "yes"], ["j", "ann", "no"]]


def test_unknown_workers_are_all_different() -> None:
    """Three votes without a name are three people's."""
    votes = votes_of(("i", "", "yes"), ("i", "", "no"), ("i", None, "no"))
    assert vote_table(votes).to_dict("index") == {"i": {"no": 2, "yes": 1}}


def test_an_empty_frame_has_no_items() -> None:
    """No votes: an empty table, and no error."""
    assert vote_table(votes_of()).empty


def test_a_frame_without_the_columns_is_refused_by_name() -> None:
    """The message says what is missing and what was found."""
    with pytest.raises(ValueError, match=r"no column worker, value.*found item_id, x"):
        votes_that_count(pd.DataFrame({"item_id": ["i"], "x": ["y"]}))


def test_an_item_is_difficult_if_more_than_half_say_so() -> None:
    """Two of four is medium; whole columns are rated as single items are."""
    assert [difficulty(canned=canned, answers=4) for canned in range(5)] == [
        *("easy", "medium", "medium", "difficult", "unrecognizable")
    ]
    pairs = [(canned, answers) for answers in range(7) for canned in range(answers + 1)]
    canned, answers = (pd.Series(cells) for cells in zip(*pairs, strict=True))
    assert difficulties(canned, answers).tolist() == [
        difficulty(canned=some, answers=of) for some, of in pairs
    ]
