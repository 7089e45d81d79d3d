"""Laws of the table made from answers and assignments in memory."""

from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from domain.assignment import Answer, Assignment, FieldValue
from domain.ids import AnswerId, AssignmentId, HitId, ItemId, WorkerId
from domain.tables import faults
from domain.task import Field, Task
from qc.answers_table import COLUMNS, of_answers

ACCEPTED = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

TASK = Task(
    name="caption",
    version=1,
    title="",
    description="",
    keywords=(),
    columns=("image_id",),
    items_per_hit=2,
    reward_cents=10,
    assignment_duration_seconds=60,
    fields=(
        Field(name="caption", kind="text", label=""),
        Field(name="has_text", kind="choice", label=""),
        Field(name="flaws", kind="choices", label=""),
    ),
    rules=(),
    main_text="caption",
    canned_text="Cannot be seen.",
    text_present_field="has_text",
)


def assignment(name: str, *, seconds: float = 30.0) -> Assignment:
    """An assignment that was submitted so many seconds after it was accepted."""
    return Assignment(
        assignment_id=AssignmentId(name),
        hit_id=HitId("H1"),
        worker_id=WorkerId("W1"),
        status="Submitted",
        accepted_at=ACCEPTED,
        submitted_at=ACCEPTED + timedelta(seconds=seconds),
        raw="",
        fields={},
    )


def answer(
    name: str,
    position: int,
    *,
    shown_ms: int | None = None,
    **values: FieldValue,
) -> Answer:
    """An answer at a position of an assignment."""
    return Answer(
        answer_id=AnswerId(f"{name}.{position}"),
        assignment_id=AssignmentId(name),
        item_id=ItemId(f"i{position}"),
        position=position,
        values=values,
        shown_ms=shown_ms,
    )


def built(*answers: Answer, seconds: float = 30.0) -> pd.DataFrame:
    """The table of answers of assignments that took so many seconds."""
    known = {
        a.assignment_id: assignment(a.assignment_id, seconds=seconds) for a in answers
    }
    return of_answers(answers, known, batches={HitId("H1"): 7}, task=TASK)


def test_a_built_table_has_no_fault() -> None:
    """What is built can be used: columns, dtypes and index are as written."""
    found = built(answer("A", 1, caption="a bird", flaws=("blur",)), answer("A", 2))
    assert faults(found, COLUMNS) == []
    assert found.loc["A.1", "value.flaws"] == ("blur",)
    assert found.loc["A.2", "value.flaws"] == ()
    assert found.loc["A.2", "value.has_text"] == ""
    assert found.loc["A.2", "text"] == ""
    assert found["batch"].tolist() == [7, 7]


def test_an_empty_table_has_no_fault() -> None:
    """No answers still make a table with every column and dtype."""
    assert faults(built(), COLUMNS) == []
    assert "value.has_text" in built().columns


def test_rows_come_in_the_order_of_their_ids() -> None:
    """The order in which answers were collected does not show."""
    found = built(answer("B", 1), answer("A", 2), answer("A", 1))
    assert found.index.tolist() == ["A.1", "A.2", "B.1"]


def test_times_are_divided_by_the_items_of_the_hit() -> None:
    """Shown 4 s and 8 s: a page of (4 + 8)/2 = 6 s an item; 30 s taken: 30/2 = 15 s."""
    found = built(answer("A", 1, shown_ms=4000), answer("A", 2, shown_ms=8000))
    assert found["shown_seconds"].tolist() == [4.0, 8.0]
    assert found["page_seconds"].tolist() == [6.0, 6.0]
    assert found["market_seconds"].tolist() == [15.0, 15.0]


def test_one_missing_time_makes_the_page_unknown() -> None:
    """A sum without one of its parts would look like haste."""
    found = built(answer("A", 1, shown_ms=4000), answer("A", 2))
    assert found["page_seconds"].isna().all()
    assert found["shown_seconds"].isna().tolist() == [False, True]


def test_wrong_clocks_stay_visible() -> None:
    """Submitted before accepted is a negative time, not a missing one."""
    found = built(answer("A", 1), seconds=-10.0)
    assert found["market_seconds"].tolist() == [-10.0]


@pytest.mark.parametrize(
    ("text", "canned"),
    [
        ("Cannot be seen.", True),
        ("  cannot BE seen. ", True),
        ("Cannot be seen", False),
    ],
)
def test_canned_text_is_known_by_its_words(text: str, canned: bool) -> None:  # noqa: FBT001 - a case
    """Outer spaces and case aside, the text must be the canned one."""
    assert built(answer("A", 1, caption=text))["is_canned"].tolist() == [canned]
