"""The edit that counts."""

import pandas as pd

from piecework.postprocess.edits import best_edits

ITEMS = pd.Index(["i", "none"], dtype="str", name="item_id")


def best(*texts: str) -> tuple[str, float, int]:
    """The best of these edits of "a red cat": text, share, votes."""
    answers = pd.DataFrame(
        {"item_id": "i", "worker": [f"w{n}" for n in range(len(texts))], "value": list(texts)}
    )
    best = best_edits("fixed", answers, ITEMS, {"i": "a red cat"})
    return (str(best["fixed"]["i"]), float(best["fixed_share"]["i"]), int(best["fixed_votes"]["i"]))


def test_most_people_decide_and_of_equally_many_the_smallest_edit() -> None:
    """Two of three against one; then one changed word against two."""
    assert best("a blue cat", "a blue  cat ", "a red dog") == ("a blue cat", 2 / 3, 2)
    assert best("a big dog", "a blue cat") == ("a blue cat", 0.5, 1)


def test_leaving_it_is_the_smallest_edit_and_an_empty_text_is_none() -> None:
    """Zero words changed beat one; who wrote nothing has no say."""
    assert best("a red cat", "a blue cat", " ") == ("a red cat", 0.5, 1)


def test_an_item_that_nobody_edited_has_no_best_edit() -> None:
    """Empty text, no votes, no share."""
    answers = pd.DataFrame({"item_id": ["i"], "worker": ["w"], "value": ["a cat"]})
    row = best_edits("fixed", answers, ITEMS, {}).loc["none"]
    assert row["fixed"] == ""
    assert row["fixed_votes"] == 0
    assert pd.isna(row["fixed_share"])
