"""Which items are asked again, because nobody can be sure of their labels."""

import json

import pandas as pd

from piecework.analyses.answers_needed import certainty_of_merged, weighed
from piecework.domain.campaign import AsNeeded
from piecework.domain.field import Field
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


def test_merged_answers_are_as_sure_as_what_as_many_others_would_merge() -> None:
    """Two spans of three agree by 2/3; an item with one worker is not sure at all."""
    field = Field(name="marks", label="Marks", kind="text", regions="entities")

    def spans(*starts: int) -> str:
        marks = [{"label": "A", "startOffset": n, "endOffset": n + 2} for n in starts]
        return json.dumps({"entities": marks})

    rows = [
        ("same", "ann", spans(0, 5)),
        ("same", "bob", spans(0, 5)),
        ("apart", "ann", spans(0, 5)),
        ("apart", "bob", spans(0)),
        ("alone", "ann", spans(0)),
    ]
    votes = pd.DataFrame(rows, columns=["item_id", "worker", "value"])
    sure = certainty_of_merged(votes, field)
    assert sure.drop("alone").round(6).to_dict() == {"apart": 0.8, "same": 1.0}
    answers = pd.Series({"same": 2, "apart": 2, "alone": 1, "nobody": 1})
    needs = weighed([], answers, AsNeeded(most=2, until=0.9), merged=[sure])
    assert needs["probability"].round(6).tolist() == [1.0, 0.8, 0.0, 0.0]
    assert needs["wanted"].tolist() == [2, 2, 2, 2]
    needs = weighed([], answers, AsNeeded(most=3, until=0.9), merged=[sure])
    assert needs["wanted"].tolist() == [2, 3, 2, 2]


def test_transcripts_are_weighed_like_marks() -> None:
    """Workers who write the same words are sure; others are asked for."""
    field = Field(name="words", label="Words", kind="text", is_transcript=True)
    rows = [("a", "ann", "one two"), ("a", "bob", "one two"), ("b", "ann", "x"), ("b", "bob", "y")]
    votes = pd.DataFrame(rows, columns=["item_id", "worker", "value"])
    assert certainty_of_merged(votes, field).to_dict() == {"a": 1.0, "b": 0.0}
