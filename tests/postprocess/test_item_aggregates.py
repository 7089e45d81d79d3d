"""What answers about an item say together, by whatever a task asks."""

import math
import statistics
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.task import Aggregate, Field, Option
from postprocess.item_aggregates import item_aggregates

GRADES = tuple(Option(value=str(grade), label=str(grade)) for grade in (1, 2, 3))
FIELDS = (
    Field(name="grade", kind="choice", label="How good?", options=GRADES),
    Field(name="ticks", kind="choices", label="Which?", options=GRADES),
    Field(name="size", kind="number", label="How many?", maximum=9),
)
AGGREGATES = (
    Aggregate(field="grade", kind="majority"),
    Aggregate(field="grade", kind="mean"),
    Aggregate(field="ticks", kind="shares"),
    Aggregate(field="size", kind="mean"),
)

Answer = tuple[str, str, str, tuple[str, ...], str]


def answered(*rows: Answer) -> pd.DataFrame:
    """A dataset frame of (item, worker, grade, ticks, size)."""
    names = ["item_id", "worker", "value.grade", "value.ticks", "value.size"]
    frame = pd.DataFrame(list(rows), columns=names)
    return frame.assign(is_rejected=False, is_surplus=False)


def test_an_item_counted_by_hand() -> None:
    """Grades 3, 3, 1: two thirds say 3; mean 7/3, sd root(4/3); t is 4.303 for two."""
    table = item_aggregates(
        answered(
            ("i", "ann", "3", ("1", "2"), "4"),
            ("i", "bob", "3", ("2",), "6"),
            ("i", "cid", "1", (), ""),
            ("j", "ann", "1", ("1",), ""),
            ("j", "bob", "2", (), ""),
        ),
        ["j", "i", "never answered"],
        FIELDS,
        AGGREGATES,
    )
    assert table.index.tolist() == ["j", "i", "never answered"]
    assert table["answers"].tolist() == [2, 3, 0]
    assert table["grade"].tolist() == ["", "3", ""]
    assert table["grade_share"].tolist()[:2] == [0.5, pytest.approx(2 / 3)]
    assert table["grade_votes_3"].tolist() == [0, 2, 0]
    sd = math.sqrt(4 / 3)
    reach = 4.30265 * sd / math.sqrt(3)
    assert table["grade_mean"].iloc[1] == pytest.approx(7 / 3)
    assert table["grade_sd"].iloc[1] == pytest.approx(sd)
    assert table["grade_high"].iloc[1] == pytest.approx(7 / 3 + reach, abs=1e-4)
    assert table["ticks_share_2"].tolist()[:2] == [0, pytest.approx(2 / 3)]
    assert table["ticks_majority"].tolist() == [[], ["2"], []]
    assert table["size_votes"].tolist() == [0, 2, 0]
    assert table["size_mean"].iloc[1] == 5
    assert (
        table.iloc[2].drop(["answers", "grade", "ticks_majority"]).isin([0]).sum() == 5
    )


def test_rejected_surplus_second_and_unknown_answers_have_no_voice() -> None:
    """Only bob's first grade is left: others are out, a repetition, or no option."""
    frame = answered(
        ("i", "ann", "1", (), ""),
        ("i", "eve", "1", (), ""),
        ("i", "bob", "2", (), ""),
        ("i", "bob", "1", (), ""),
        ("i", "cid", "9", (), ""),
    ).assign(
        is_rejected=[True, False, False, False, False],
        is_surplus=[False, True, False, False, False],
    )
    table = item_aggregates(frame, ["i"], FIELDS, AGGREGATES[:1])
    assert table["answers"].tolist() == [3]
    assert table["grade"].tolist() == ["2"]
    assert table["grade_share"].tolist() == [1.0]


answers = st.lists(
    st.tuples(
        st.sampled_from("ij"),
        st.sampled_from(["1", "2", "3", ""]),
        st.sets(st.sampled_from("123")).map(lambda ticked: tuple(sorted(ticked))),
    ),
    max_size=12,
)


@settings(max_examples=25)
@given(answers)
def test_tables_are_what_counting_in_loops_gives(
    said: list[tuple[str, str, tuple[str, ...]]],
) -> None:
    """Majority, mean and shares of every item, against the standard library."""
    frame = answered(
        *(
            (item, f"w{n}", grade, ticks, "")
            for n, (item, grade, ticks) in enumerate(said)
        )
    )
    table = item_aggregates(frame, "ij", FIELDS, AGGREGATES)
    for item in "ij":
        row = table.loc[item]
        grades = [grade for of, grade, _ in said if of == item and grade]
        ticked = [ticks for of, _, ticks in said if of == item]
        counts = Counter(grades).most_common(2)
        is_clear = len(counts) == 1 or (len(counts) > 1 and counts[0][1] > counts[1][1])
        assert row["grade"] == (counts[0][0] if is_clear else "")
        if grades:
            mean = statistics.mean(map(int, grades))
            assert row["grade_mean"] == pytest.approx(mean)
        if len(grades) > 1:
            sd = statistics.stdev(map(int, grades))
            assert row["grade_sd"] == pytest.approx(sd)
        for name in "123":
            share = sum(name in ticks for ticks in ticked) / max(len(ticked), 1)
            assert (row[f"ticks_share_{name}"] == pytest.approx(share)) or not ticked
            assert (name in row["ticks_majority"]) == (share > 0.5)


def test_no_answers_and_no_items_keep_columns_and_types() -> None:
    """An empty campaign has a table with the same columns."""
    full = item_aggregates(
        answered(("i", "a", "1", (), "1")), ["i"], FIELDS, AGGREGATES
    )
    empty = item_aggregates(answered(), [], FIELDS, AGGREGATES)
    assert len(empty) == 0
    assert empty.columns.tolist() == full.columns.tolist()
    assert empty.dtypes.tolist() == full.dtypes.tolist()
