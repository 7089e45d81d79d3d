"""Laws of what counts as a vote."""

import pandas as pd
import pytest

from piecework.analyses.votes import vote_table, votes_that_count
from tests.analyses.ballots import votes_of


def test_a_second_vote_and_silence_do_not_count() -> None:
    """Ann's first word about i holds; an empty and a missing value say nothing."""
    votes = votes_of(
        ("i", "ann", "yes"),
        ("i", "ann", "no"),
        ("i", "bob", ""),
        ("i", "cid", None),
        ("j", "ann", "no"),
    )
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
