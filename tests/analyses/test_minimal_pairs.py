"""What metrics see of texts with one error, and what people's ratings add to it."""

import numpy as np
import pandas as pd
import pytest

from piecework.analyses.condition_scores import held_out_correlation, severity_weights
from piecework.analyses.minimal_pairs import replacements, similarity
from piecework.analyses.within_subject import contrast


def texts(rows: list[tuple[str, str, str]]) -> pd.DataFrame:
    """Rows of condition, reference and text."""
    frame = pd.DataFrame(rows, columns=["condition", "reference", "text"])
    return frame.rename_axis("item_id").set_axis([f"i{n}" for n in frame.index])


PAIRS = texts(
    [
        ("gender", "一位男人穿著黃色上衣", "一位女人穿著黃色上衣"),
        ("gender", "一位男孩穿著藍色上衣", "一位女孩穿著藍色上衣"),
        ("color", "一位男人穿著黃色上衣", "一位男人穿著紫色上衣"),
        ("color", "一位男孩穿著藍色上衣", "一位男孩穿著紅色上衣"),
    ]
)


def test_one_character_is_the_same_to_metrics_in_every_condition() -> None:
    """Nine of ten characters stay: BLEU-1 is 0.9 whichever is replaced."""
    table = similarity(PAIRS)
    assert table["edits_least"].tolist() == table["edits_most"].tolist() == [1, 1]
    assert table["same"].tolist() == pytest.approx([0.9, 0.9])
    assert table["bleu_1"].tolist() == pytest.approx([0.9, 0.9])
    # The third character is in two sequences of four, the seventh in four.
    bleu = table["bleu_4"]
    assert bleu["gender"] > bleu["color"]


def test_words_are_compared_where_a_text_has_spaces() -> None:
    """One word of six, though many letters differ."""
    pair = ("kind", "A man in a red coat.", "A woman in a red coat.")
    table = similarity(texts([pair]))
    assert table.loc["kind", "edits_most"] == 1
    assert table.loc["kind", "same"] == pytest.approx(5 / 6)


def test_replacements_are_counted_by_condition() -> None:
    """The same replacement of two texts is one row."""
    table = replacements(PAIRS)
    gender = table[table["condition"] == "gender"].iloc[0]
    assert (gender["removed"], gender["inserted"]) == ("男", "女")
    assert gender["items"] == ("i0", "i1")
    assert (table["condition"] == "color").sum() == 2


def scores(means: dict[str, list[float]]) -> pd.DataFrame:
    """One value for each person and condition."""
    return pd.DataFrame(
        [
            (f"p{n}", condition, value)
            for condition, values in means.items()
            for n, value in enumerate(values)
        ],
        columns=["subject", "condition", "value"],
    )


FOUR = scores(
    {"age": [60, 70, 65], "gender": [40, 44, 42], "type": [50, 55, 51], "color": [40, 41, 48]}
)


def test_a_contrast_is_a_paired_test_of_means_of_means() -> None:
    """(age + gender) / 2 - (type + color) / 2 by person: 5, 9, 4; mean 6, sd 2.65."""
    test = contrast(FOUR, ["age", "gender"], ["type", "color"])
    assert test["difference"] == pytest.approx(6)
    assert test["sd"] == pytest.approx(np.std([5, 9, 4], ddof=1))
    assert test["t"] == pytest.approx(6 / (np.std([5, 9, 4], ddof=1) / 3**0.5))
    assert test["df"] == 2
    with pytest.raises(ValueError, match="shoes"):
        contrast(FOUR, ["age"], ["shoes"])


def test_weights_are_costs_against_the_best_rating() -> None:
    """Costs of 35, 58, 48 and 57 have a mean of 49.5."""
    table = severity_weights(FOUR, best=100)
    assert table["weight"].mean() == pytest.approx(1)
    assert table["weight"]["gender"] == pytest.approx(58 / 49.5)
    assert list(table.index)[-1] == "age"
    assert (table["low"] <= table["weight"]).all()
    assert (table["weight"] <= table["high"]).all()


def test_weights_predict_only_texts_of_other_references() -> None:
    """Two pictures with the same order of kinds; with opposite orders they do not."""
    same = PAIRS.assign(mean=[40.0, 42.0, 60.0, 62.0])
    assert held_out_correlation(same)[0] == pytest.approx(1)
    opposite = PAIRS.assign(mean=[40.0, 60.0, 60.0, 40.0])
    assert held_out_correlation(opposite)[0] == pytest.approx(-1)
    flat = PAIRS.assign(mean=[50.0] * 4)
    assert np.isnan(held_out_correlation(flat)[0])
