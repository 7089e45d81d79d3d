"""What reaches the server beside the page of the severity task is kept and named."""

import pytest

from piecework.domain.errors import ConfigError
from piecework.domain.ids import AssignmentId, ItemId
from piecework.hit_templates.answers import read_answers
from piecework.hit_templates.order import item_order
from piecework.hit_templates.tasks import load_task
from tests.for_each import for_each

TASK = load_task("severity")
ASSIGNMENT = AssignmentId("3SEVERITY")
ITEMS = [ItemId("person_1_1"), ItemId("person_1_2")]

WHOLE = {
    "order.items": "|".join(map(str, item_order(TASK, ASSIGNMENT, ITEMS, ()))),
    "hit.consent": "agree",
    "hit.age": "not_said",
    "hit.gender": "not_said",
    "hit.education": "not_said",
    "hit.proficiency": "fluent",
    "hit.color_vision": "not_color_blind",
    "practice.quality.1": "50",
    **{f"item.{n}": item for n, item in enumerate(ITEMS, start=1)},
    **{f"quality.{n}": "40" for n in (1, 2)},
    **{
        f"{measure}.{n}": "9"
        for measure in ("shown_ms", "pastes", "keystrokes", "focus_losses")
        for n in (1, 2)
    },
}


def problems(**changed: str | None) -> tuple[str, ...]:
    """What is wrong with the first answer, after some fields changed or went."""
    sent = {**WHOLE, **{name.replace("__", "."): text for name, text in changed.items()}}
    fields = {name: text for name, text in sent.items() if text is not None}
    return read_answers(TASK, ASSIGNMENT, ITEMS, fields)[0].problems


def test_a_whole_answer_has_no_problem() -> None:
    """Trials are no answers and do no harm."""
    assert problems() == ()


@for_each(
    ("changed", "named"),
    [
        ({"quality__1": None}, "quality_required"),
        ({"quality__1": ""}, "quality_required"),
        ({"quality__1": "101"}, "out_of_range:quality"),
        ({"quality__1": "-1"}, "out_of_range:quality"),
        ({"quality__1": "50.5"}, "out_of_range:quality"),
        ({"quality__1": "very good"}, "not_a_number:quality"),
        ({"hit__consent": "decline"}, "consent_given"),
        ({"hit__consent": None}, "consent_given"),
        ({"hit__color_vision": None}, "color_vision_required"),
        ({"hit__age": "17"}, "unknown_option:age"),
        ({"order__items": "1|1"}, "wrong_order:items"),
    ],
)
def test_what_the_page_would_refuse_is_named(changed: dict[str, str | None], named: str) -> None:
    """An untouched slider, a place off the scale, no consent: all are flagged."""
    assert named in problems(**changed)


def test_the_answers_of_another_task_are_no_answers_to_this_one() -> None:
    """Their fields are kept aside and everything asked is missing."""
    foreign = {"item.1": "pair_1", "congruent.1": "congruent", "item.2": "pair_2"}
    first, _ = read_answers(TASK, ASSIGNMENT, ITEMS, foreign)
    assert {"wrong_item", "quality_required", "consent_given"} <= set(first.problems)
    assert first.values == {}
    assert first.also_sent == {"item": "pair_1", "congruent": "congruent"}


def test_a_language_that_the_task_does_not_speak_is_told_with_those_it_does() -> None:
    """The sentence says what there is and which file would be needed."""
    with pytest.raises(ConfigError) as caught:
        load_task("severity", "nl")
    assert caught.value.faults == [
        "hit_templates/severity has no messages in 'nl'; it has en, zh-Hant."
    ]
    assert "messages.nl.toml" in str(caught.value.next_step)
