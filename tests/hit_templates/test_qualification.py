"""A task as a qualification test: the marketplace reads it and grades each section."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from piecework.config.items_file import read_items
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.qualifications import QualificationTest
from piecework.hit_templates.qualification import (
    answer_key,
    faults_of_test,
    question_form,
    task_of_questions,
)
from piecework.hit_templates.tasks import load_task
from piecework.marketplace.forms.answer_key import check_against
from piecework.marketplace.forms.form import Medium, Question
from piecework.marketplace.forms.schema import read_form

ITEMS = Path(__file__).resolve().parents[2] / "config/campaigns/hodosh_qualification.csv"
NEEDED = {"spelling": 12, "grammar": 12, "judging": 8}


@pytest.fixture(scope="module")
def exam() -> QualificationTest:
    """The test of forty questions, with the thresholds of the example campaign."""
    task = load_task("hodosh_qualification")
    items = read_items(ITEMS, task.columns, pictures=None, drawn=120)
    return QualificationTest(
        name="English", task=task, items=items, correct_at_least=NEEDED, duration_seconds=1800
    )


def other(value: str) -> str:
    """The answer that is wrong."""
    return "second" if value == "first" else "first"


def taken(exam: QualificationTest, right: Mapping[str, int]) -> dict[str, list[str]]:
    """Answers with so many right ones in each section, the first of it."""
    return {
        str(item.item_id): [
            exam.right_answer(item) if n < right[name] else other(exam.right_answer(item))
        ]
        for name, items in exam.sections.items()
        for n, item in enumerate(items)
    }


def test_it_has_the_sections_of_the_appendix(exam: QualificationTest) -> None:
    """Fifteen, fifteen and ten questions; each image has a picture, no sentence has."""
    sizes = {name: len(items) for name, items in exam.sections.items()}
    assert sizes == {"spelling": 15, "grammar": 15, "judging": 10}
    form = read_form(question_form(exam, site="http://127.0.0.1:1"))
    questions = [part for part in form.parts if isinstance(part, Question)]
    assert [question.key for question in questions] == [str(item.item_id) for item in exam.items]
    pictures = [
        [part.url for part in question.content if isinstance(part, Medium)]
        for question in questions
    ]
    assert pictures[:30] == [[]] * 30
    assert pictures[30] == ["http://127.0.0.1:1/pictures/scene_0033.svg"]
    assert faults_of_test(exam) == []


@pytest.mark.parametrize(
    ("spelling", "grammar", "judging", "score"),
    [
        (15, 15, 10, 40),
        (12, 12, 8, 32),  # just enough of each
        (15, 13, 9, 37),
        (11, 15, 10, 0),  # 36 right, more than 32, but one section is short
        (15, 11, 10, 0),
        (15, 15, 7, 0),
        (0, 0, 0, 0),
    ],
)
def test_every_section_has_to_be_passed(
    exam: QualificationTest, spelling: int, grammar: int, judging: int, score: int
) -> None:
    """The marketplace's own grading gives the number of right answers, or nothing."""
    form = read_form(question_form(exam, site="http://127.0.0.1:1"))
    key = check_against(answer_key(exam), form)
    right = {"spelling": spelling, "grammar": grammar, "judging": judging}
    assert key.grade(taken(exam, right)) == score
    assert (score >= exam.least_passing) == (score > 0)


def test_who_always_says_incorrect_does_not_pass(exam: QualificationTest) -> None:
    """Eleven of fifteen sentences are incorrect in each section; twelve are needed."""
    answers = {str(item.item_id): ["second"] for item in exam.items}
    right = {
        name: sum(exam.right_answer(item) == "second" for item in items)
        for name, items in exam.sections.items()
    }
    assert (right["spelling"], right["grammar"]) == (11, 11)
    form = read_form(question_form(exam, site="http://127.0.0.1:1"))
    assert check_against(answer_key(exam), form).grade(answers) == 0


@pytest.mark.parametrize(
    ("needed", "message"),
    [
        (
            {"spelling": 12, "grammar": 12},
            "qualification.correct_at_least: the section 'judging' is missing",
        ),
        (
            NEEDED | {"maths": 3},
            (
                "qualification.correct_at_least: there is no section 'maths'; there "
                "are spelling, grammar, judging"
            ),
        ),
        (
            NEEDED | {"judging": 11},
            "qualification.correct_at_least: judging is 11, but has 10 questions",
        ),
        (  # 15 x 15 x 3 results pass
            {"spelling": 1, "grammar": 1, "judging": 8},
            (
                "qualification.correct_at_least: 675 results pass, and a key can "
                "list 400; ask for more right answers"
            ),
        ),
    ],
)
def test_thresholds_that_cannot_be_are_told(
    exam: QualificationTest, needed: dict[str, int], message: str
) -> None:
    """Each in a sentence with its key."""
    assert faults_of_test(replace(exam, correct_at_least=needed)) == [message]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold.answer": ""}, "the column gold.answer does not say the right answer"),
        ({"gold.answer": "third"}, "gold.answer is 'third'; allowed is first, second"),
        ({"first": "Same", "second": "same"}, "answer offers 'same' 2 times"),
        ({"url": "ftp://x"}, "neither http(s)"),
        ({"text": "bell \x07"}, "the column text holds the control character"),
    ],
)
def test_a_question_that_cannot_be_asked_is_told(
    exam: QualificationTest, change: dict[str, str], message: str
) -> None:
    """With the id of the item."""
    first, *rest = exam.items
    changed = Item(item_id=first.item_id, columns={**first.columns, **change})
    (fault,) = faults_of_test(replace(exam, items=(changed, *rest)))
    assert fault.startswith("qualification: item 'spelling_01': ")
    assert message in fault


def test_a_section_without_words_and_an_id_that_is_none_are_told(exam: QualificationTest) -> None:
    """Nobody could read what to do, and no key could name the question."""
    first, *rest = exam.items
    columns = {**first.columns, "section": "maths"}
    changed = Item(item_id=ItemId("a b"), columns=columns)
    faults = faults_of_test(replace(exam, items=(changed, *rest)))
    assert "qualification: item 'a b': a test's ids are letters, digits, - and _ only" in (faults)
    assert "qualification: item 'a b': hodosh_qualification has no section 'maths'" in faults


@pytest.mark.parametrize("name", ["caption", "congruency"])
def test_a_task_without_a_form_is_no_test(exam: QualificationTest, name: str) -> None:
    """The sentence names the file that is missing."""
    assert faults_of_test(replace(exam, task=load_task(name))) == [
        f"qualification.task: {name} cannot be a test; it has no question_form.xml.j2"
    ]


@pytest.mark.parametrize("language", ["en", "he", "zh-Hant", "xx"])
def test_what_a_test_does_not_state_is_in_the_language_of_the_campaign(language: str) -> None:
    """Its heading, instructions and description; in English if nobody translated them."""
    questions = [("Is red a colour?", ("yes", "no"), "yes")]
    task, _ = task_of_questions(
        questions, title=None, instructions=None, path="t.toml", language=language
    )
    shown = (task.title, task.texts["instructions"], task.description)
    english = (
        "A short test",
        "Choose one answer to each question.",
        "A test of 1 question before the work.",
    )
    assert all(
        (text == known) == (language in {"en", "xx"})
        for text, known in zip(shown, english, strict=True)
    )
    stated, _ = task_of_questions(
        questions, title="T", instructions="I", path="t.toml", language=language
    )
    assert (stated.title, stated.texts["instructions"]) == ("T", "I")
