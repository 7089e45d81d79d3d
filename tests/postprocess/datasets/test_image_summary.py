"""What answers about an item say together, against hand-made and published counts."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd
import pytest

from piecework.analyses.votes import difficulties, difficulty
from piecework.postprocess.datasets.layouts import image_summary
from tests.for_each import for_each
from tests.postprocess.made_tables import caption_task, captions_table

DATA = Path(__file__).resolve().parents[3] / "../shared/data"
MakeRow = Callable[..., Mapping[str, object]]


def _summary(rows: list[Mapping[str, object]], item_ids: list[str]) -> pd.DataFrame:
    return image_summary(captions_table(rows), item_ids, caption_task())


@for_each(
    ("canned", "answers", "expected"),
    [
        (0, 5, "easy"),
        (1, 5, "medium"),
        (2, 5, "medium"),
        (3, 5, "difficult"),
        (4, 5, "difficult"),
        (5, 5, "unrecognizable"),
        (0, 0, "unknown"),
        (0, 1, "easy"),
        (1, 1, "unrecognizable"),
        (1, 2, "medium"),
        (2, 4, "medium"),
        (3, 4, "difficult"),
    ],
)
def test_difficulty_is_the_papers_and_goes_on(canned: int, answers: int, expected: str) -> None:
    """Five answers as in the paper; for others a half is no majority."""
    assert difficulty(canned=canned, answers=answers) == expected
    many = difficulties(pd.Series([canned], index=["i"]), pd.Series([answers], ["i"]))
    assert many.to_dict() == {"i": expected}


def test_more_canned_answers_than_answers_are_refused() -> None:
    """Such counts come from a mistake."""
    with pytest.raises(ValueError, match="3 canned answers of 2"):
        difficulty(canned=3, answers=2)


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ([], ""),
        (["yes"], "yes"),
        (["no"], "no"),
        (["yes", "no"], ""),
        (["yes", "no", "no"], "no"),
        (["", "", "yes"], "yes"),
        (["", ""], ""),
    ],
)
def test_text_is_what_most_people_see(row: MakeRow, votes: list[str], expected: str) -> None:
    """A tie is no answer, and neither is silence."""
    rows = [row(f"{n}", text_detected=vote) for n, vote in enumerate(votes)]
    summary = _summary(rows, ["img-1"])
    assert summary["text_detected"].tolist() == [expected]


def test_only_accepted_answers_within_the_number_count(row: MakeRow) -> None:
    """Rejected and surplus answers have no vote; canned ones have."""
    summary = _summary(
        [
            row("a", text_detected="yes", flaws=("blur", "dark")),
            row("b", text_detected="yes", flaws=("blur",), is_canned=True),
            row("c", text_detected="no", flaws=("none",)),
            row("d", text_detected="no", flaws=("bright",), is_rejected=True),
            row("e", text_detected="no", flaws=("bright",), is_surplus=True),
            row("f", "img-2", text_detected="", flaws=()),
        ],
        ["img-2", "img-1", "img-3"],
    )
    assert summary.index.tolist() == ["img-2", "img-1", "img-3"]
    counts = summary.loc["img-1"]
    assert (counts["answers"], counts["canned"], counts["captions"]) == (3, 1, 2)
    assert (counts["difficulty"], counts["text_detected"]) == ("medium", "yes")
    assert (counts["text_yes"], counts["text_no"]) == (2, 1)
    votes = {name: n for name, n in counts.items() if str(name).startswith("votes_") and n}
    assert votes == {"votes_blur": 2, "votes_dark": 1, "votes_none": 1}
    assert summary.loc["img-2", "text_detected"] == ""
    assert summary.loc["img-3", "difficulty"] == "unknown"


def test_no_answers_and_no_items_keep_columns_and_types() -> None:
    """An empty campaign has a table with the same columns."""
    empty = _summary([], [])
    assert len(empty) == 0
    assert empty["answers"].dtype == "int64"
    assert empty["difficulty"].dtype == "str"
    assert empty.index.name == "item_id"


@pytest.mark.shared
def test_vizwiz_difficulties_come_out() -> None:
    """The quality file: 15,751 images without a canned caption, ..., 531 with five.

    So 15,751 easy, 4,122 + 1,424 medium, 878 + 725 difficult, 531 unrecognizable.
    """
    path = DATA / "vizwiz_quality_train.json"
    if not path.exists():
        pytest.skip("vizwiz_quality_train.json is not beside this repository")
    counts = Counter(
        difficulty(canned=image["unrecognizable"], answers=5)
        for image in json.loads(path.read_text(encoding="utf-8"))
    )
    assert counts == {
        "easy": 15_751,
        "medium": 4_122 + 1_424,
        "difficult": 878 + 725,
        "unrecognizable": 531,
    }


@pytest.mark.shared
def test_canned_captions_of_vizwiz_are_counted_by_image(row: MakeRow) -> None:
    """Five answers about each image, and as many canned as its file flags."""
    path = DATA / "vizwiz_val_captions_half.csv"
    if not path.exists():
        pytest.skip("vizwiz_val_captions_half.csv is not beside this repository")
    with path.open(encoding="utf-8", newline="") as file:
        captions = list(csv.DictReader(file))[:2_000]
    rows = [
        row(f"{n}", each["image_id"], is_canned=each["is_precanned"] == "1")
        for n, each in enumerate(captions)
    ]
    summary = _summary(rows, [*dict.fromkeys(each["image_id"] for each in captions)])
    assert set(summary["answers"]) == {5}
    flagged = sum(each["is_precanned"] == "1" for each in captions)
    assert summary["canned"].sum() == flagged > 0
