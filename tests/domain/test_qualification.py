"""What a qualification test is made of, and who passes."""

from dataclasses import replace

from piecework.domain import qualifications
from piecework.domain.field import Field, Option
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.qualifications import QualificationTest
from piecework.domain.task import Task

ANSWER = Field(
    name="answer",
    kind="choice",
    label="Which?",
    options=(Option(value="first", label="1"), Option(value="second", label="2")),
)
TASK = Task(
    name="exam",
    version=1,
    title="Exam",
    description="An exam.",
    keywords=("exam",),
    columns=("question_id",),
    items_per_hit=9,
    reward_cents=1,
    assignment_duration_seconds=60,
    fields=(ANSWER,),
    rules=(),
)


def question(name: str, **columns: str) -> Item:
    """A question of the test."""
    return Item(item_id=ItemId(name), columns={"question_id": name, **columns})


EXAM = QualificationTest(
    name="English",
    task=TASK,
    items=(
        question("a", section="words", **{"gold.answer": "first"}),
        question("b", section="images"),
        question("c", section="words", **{"gold.answer": "second"}),
        question("d"),
    ),
    correct_at_least={"words": 2, "images": 1},
    duration_seconds=600,
)


def test_sections_keep_the_order_of_the_file() -> None:
    """A section stands where its first question does; no section is one of its own."""
    item_ids_of = {name: [item.item_id for item in of] for name, of in EXAM.sections.items()}
    assert list(item_ids_of.items()) == [("words", ["a", "c"]), ("images", ["b"]), ("", ["d"])]


def test_the_least_score_is_the_sum_of_what_the_sections_need() -> None:
    """Two of the words and one image: nobody passes with less than three."""
    assert EXAM.least_passing == 3


def test_a_score_that_passed_stays_one_after_the_pass_marks_were_raised() -> None:
    """A key made of the questions gives 0 to all who fail; another key gives any value."""
    harder = replace(EXAM, correct_at_least={"words": 3, "images": 1})
    assert [harder.is_passed(score) for score in (0, 3, 4)] == [False, True, True]
    documents = qualifications.TestDocuments(form="", key="", form_path="", key_path="")
    assert [replace(harder, documents=documents).is_passed(score) for score in (3, 4)] == [
        False,
        True,
    ]


def test_the_right_answer_is_the_gold_column_of_the_only_field() -> None:
    """Empty where the file does not say."""
    assert EXAM.field is ANSWER
    assert [EXAM.right_answer(item) for item in EXAM.items] == ["first", "", "second", ""]
