"""Which items are asked again, because nobody can be sure of their labels."""

import pandas as pd

from piecework.analyses.machine_labels_replay import weighed
from piecework.domain.campaign import AsNeeded
from tests.analyses.ballots import votes_on

YES_OR_NO = ("y", "n")
UNTIL = AsNeeded(most=4, until=0.8)


def asked(votes: pd.DataFrame, rule: AsNeeded = UNTIL) -> pd.DataFrame:
    """What is found of all items that have votes."""
    answers = votes.groupby("item_id").size()
    return weighed([(votes, YES_OR_NO)], answers, rule)


def test_an_item_that_is_sure_wants_no_more_and_another_wants_one() -> None:
    """All agree on the first; the second is a tie, the third has all it may have."""
    needs = asked(votes_on("yyy", "yn", "ynyn"))
    assert needs["wanted"].tolist() == [3, 3, 4]
    assert needs["probability"].iloc[0] >= 0.8
    assert needs["probability"].iloc[1:].max() < 0.8


def test_without_a_vote_it_is_a_guess() -> None:
    """Kept answers that chose nothing, or something that was not offered."""
    votes = votes_on("yyy").replace({"y": "other"})
    needs = weighed([(votes, ("a", "b", "c", "d"))], pd.Series({"item-0": 3}), UNTIL)
    assert needs["probability"].tolist() == [0.25]
    assert needs["wanted"].tolist() == [4]


def test_the_least_sure_of_several_fields_decides() -> None:
    """One field is plain, the other a tie."""
    answers = pd.Series({"item-0": 2})
    plain, tie = (votes_on("yy"), YES_OR_NO), (votes_on("yn"), YES_OR_NO)
    assert weighed([plain], answers, UNTIL)["wanted"].tolist() == [2]
    assert weighed([plain, tie], answers, UNTIL)["wanted"].tolist() == [3]


def test_votes_on_other_items_show_what_workers_are_worth() -> None:
    """Two who always agree with the rest are believed sooner than two strangers."""
    alone = asked(votes_on("yy"))["probability"].iloc[0]
    known = votes_on("yy", *["yyyy", "nnnn"] * 20)
    needs = weighed([(known, YES_OR_NO)], pd.Series({"item-0": 2}), UNTIL)
    assert needs.index.tolist() == ["item-0"]
    assert needs["probability"].iloc[0] > alone
