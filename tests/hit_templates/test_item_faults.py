"""Bad items are told in clear sentences before anything is posted."""

import pytest

from piecework.domain.errors import ConfigError
from piecework.domain.field import Field
from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.task import Part
from piecework.hit_templates.item_faults import faults_of_item, faults_of_items
from piecework.hit_templates.tasks import load_task
from tests.qc.rated import task_of

TEN = {f"sentence_{n}": f"Sentence {n}." for n in range(1, 11)}
PAIR = {
    "pair_id": "a",
    "image_id": "i",
    "url": "/pictures/a.svg",
    "correct": "A dog.",
    "generated_1": "A cat.",
    "generated_2": "A fox.",
}
PHOTO = {"image_id": "a", "url": "/pictures/a.svg", **TEN}

SAME_TEXTS = "no answer could tell them apart, so change the row or leave it out"


LEAVE_OUT, WRITE = "leave the row out", 'write what workers shall read, such as "(no text)"'


def faults_in(task: str, **columns: str) -> list[str]:
    """What is wrong with one item of a task."""
    item = Item(item_id=ItemId("a"), columns=columns)
    return faults_of_item(load_task(task), item)


def test_an_item_without_faults_is_silent() -> None:
    """The photo of the crowd's task, as it should be."""
    assert faults_in("crowd_judgement", **PHOTO) == []


@pytest.mark.parametrize(
    ("task", "columns", "fault"),
    [
        (
            "crowd_judgement",
            {**PHOTO, "sentence_7": ""},
            f"the column sentence_7 is missing or empty; {LEAVE_OUT}, or {WRITE}",
        ),
        (
            "crowd_judgement",
            {**PHOTO, "sentence_7": " sentence  2. "},
            f"describing offers 'sentence 2.' 2 times; {SAME_TEXTS}",
        ),
        (
            "congruency",
            {"pair_id": "a", "description": "A dog."},
            f"the column url is missing or empty; {LEAVE_OUT}, or fill it in",
        ),
        (
            "correction",
            {"correction_id": "a", "url": "/a.svg", "description": "A", "error": "hue"},
            (
                "error is 'hue'; allowed is age, gender, type_of_clothing, "
                "color_of_clothing, wrong_subject, similar_subject, "
                "inexistent_subject, extra_subject, wrong_object, "
                "similar_object, inexistent_object, extra_object, stance, activity, "
                "position, number, scene, color, other"
            ),
        ),
        (
            "pairwise",
            {**PAIR, "url": ""},
            f"the column url is missing or empty; {LEAVE_OUT}, or fill it in",
        ),
        (
            "pairwise",
            {**PAIR, "generated_2": " a  cat. "},
            f"generated_1 and generated_2 hold the same text; {SAME_TEXTS}",
        ),
        (
            "pairwise",
            {**PAIR, "gold.mistakes": "6"},
            "gold.mistakes is '6'; allowed is 1, 2, 3, 4, 5",
        ),
        (
            "expert_rating",
            {"pair_id": "a", "url": "/a.svg", "sentence": "A", "gold.score": "7"},
            "gold.score is '7'; allowed is 1, 2, 3, 4",
        ),
        (
            "expert_rating",
            {"pair_id": "a", "url": "/a.svg", "sentence": "A", "truth.grade": "3"},
            "the column truth.grade is about a field that expert_rating does not have",
        ),
    ],
)
def test_each_fault_is_a_sentence(task: str, columns: dict[str, str], fault: str) -> None:
    """Missing columns, twice the same sentence, a value beyond the scale."""
    assert faults_in(task, **columns) == [fault]


def test_a_twin_must_be_another_item() -> None:
    """An id that does not exist, and an item that is its own twin."""
    columns = {"pair_id": "a", "url": "/a.svg", "description": "A dog."}
    items = [
        Item(item_id=ItemId("a"), columns={**columns, "twin": "a"}),
        Item(item_id=ItemId("b"), columns={**columns, "twin": "c"}),
        Item(item_id=ItemId("d"), columns={**columns, "twin": "b"}),
    ]
    assert [fault.split(":")[0] for fault in faults_of_items(load_task("congruency"), items)] == [
        "item 'a'",
        "item 'b'",
    ]


def test_a_language_without_messages_is_answered_with_those_there_are() -> None:
    """The next step names the file to add."""
    with pytest.raises(ConfigError, match=r"no messages in 'fr'; it has en") as refused:
        load_task("congruency", "fr")
    assert "messages.fr.toml" in refused.value.next_step


def severity(**columns: str) -> list[str]:
    """What is wrong with an item of a task that compares conditions."""
    whole = {
        "item_id": "a",
        "url": "/pictures/a.svg",
        "reference": "A man.",
        "description": "A boy.",
        "error": "age",
    }
    item = Item(item_id=ItemId("a"), columns={**whole, **columns})
    other = Item(item_id=ItemId("b"), columns={**whole, "item_id": "b"})
    return faults_of_items(load_task("severity"), [item, other])


def test_an_item_of_no_condition_is_refused_where_conditions_are_compared() -> None:
    """Trials need none, since nobody counts them."""
    assert severity() == []
    assert severity(error=" ") == [
        "item 'a': the column error is empty; it names the condition of the item"
    ]
    assert severity(error="", practice="yes") == []


def test_a_truth_beyond_the_scale_is_refused_with_the_scale() -> None:
    """101 of 100, a word, and a place between two steps."""
    for text in ("101", "-1", "good", "50.5"):
        assert severity(**{"truth.quality": text}) == [
            f"item 'a': truth.quality is '{text}'; allowed is 0 to 100 in steps of 1"
        ]


def test_an_item_without_anything_to_transcribe_names_all_its_empty_columns() -> None:
    """One of them would do."""
    heard = Field(name="said", kind="text", label="Said?", is_transcript=True)
    parts = (Part(column="sound", kind="audio"), Part(column="film", kind="video"))
    item = Item(item_id=ItemId("a"), columns={"id": "a"})
    assert faults_of_item(task_of(heard, parts=parts), item) == [
        f"nothing to transcribe: sound, film are all empty; {LEAVE_OUT}, or fill it in"
    ]
    assert faults_of_item(task_of(heard, parts=parts[:1]), item) == [
        f"nothing to transcribe: sound is empty; {LEAVE_OUT}, or fill it in"
    ]


def test_an_item_that_shows_a_worker_nothing_is_refused_wherever_it_comes_from() -> None:
    """A row whose column was renamed, and one of blanks; one cell that is filled is enough."""
    about = Field(name="about", kind="text", label="About?")
    parts = (Part(column="subject", kind="text"), Part(column="body", kind="text"))
    task = task_of(about, parts=parts)
    cells: list[dict[str, str]] = [
        {"message": "Hi."},
        {"subject": " ", "body": ""},
        {"body": "Hi."},
    ]
    items = [
        Item(item_id=ItemId(f"{n}"), columns={"id": f"{n}", **of_row})
        for n, of_row in enumerate(cells)
    ]
    fault = f"nothing to show: subject, body are all empty; {LEAVE_OUT}, or {WRITE}"
    assert [faults_of_item(task, item) for item in items] == [[fault], [fault], []]
    assert faults_of_items(task, items) == [f"item '0': {fault}", f"item '1': {fault}"]
