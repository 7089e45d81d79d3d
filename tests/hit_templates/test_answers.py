"""Whatever a form sends becomes answers, and what is wrong with it is named."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.assignment import Answer
from piecework.domain.column_names import MEASURES
from piecework.domain.field import Field
from piecework.domain.ids import AssignmentId, ItemId
from piecework.domain.task import Task
from piecework.hit_templates.answers import read_answers, value_problems
from piecework.hit_templates.tasks import load_task
from tests.typing_records import record

ASSIGNMENT = AssignmentId("A1")
ITEMS = [ItemId("img_1"), ItemId("img_2")]


def sent() -> dict[str, str]:
    """The fields of a good assignment about two items."""
    fields = {"comment": "nice pictures"}
    for n, item_id in enumerate(ITEMS, start=1):
        fields |= {
            f"item.{n}": item_id,
            f"caption.{n}": "A red mug with a chipped handle on a table",
            f"has_text.{n}": "no",
            f"flaws.{n}": "blur|dark",
            f"flaw_other.{n}": "",
            f"shown_ms.{n}": "41250",
            f"pastes.{n}": "0",
            f"keystrokes.{n}": "47",
            f"focus_losses.{n}": "1",
        }
    return fields


def read(task: Task, fields: dict[str, str]) -> tuple[Answer, ...]:
    """The answers that these fields make."""
    return read_answers(task, ASSIGNMENT, ITEMS, fields)


def test_fields_become_typed_answers_in_the_order_shown(caption_task: Task) -> None:
    """Each value has the type of its field, each measure is a number."""
    first, second = read(caption_task, sent())
    assert (first.answer_id, second.answer_id) == ("A1.1", "A1.2")
    assert (first.item_id, second.item_id) == ("img_1", "img_2")
    assert first.values == {
        "caption": "A red mug with a chipped handle on a table",
        "has_text": "no",
        "flaws": ("blur", "dark"),
        "flaw_other": "",
    }
    assert (first.shown_ms, first.pastes) == (41_250, 0)
    assert (first.keystrokes, first.focus_losses) == (47, 1)
    assert first.problems == second.problems == ()


@pytest.mark.parametrize(
    ("name", "value", "problems"),
    [
        ("caption.1", None, ("missing:caption", "caption_required")),
        ("caption.1", "A mug", ("caption_min_words",)),
        ("has_text.1", None, ("has_text_required",)),
        ("has_text.1", "maybe", ("unknown_option:has_text",)),
        ("flaws.1", None, ("flaws_required",)),
        ("flaws.1", "", ("flaws_required",)),
        ("flaws.1", "blur|noise", ("unknown_option:flaws",)),
        ("flaws.1", "blur||dark", ("unknown_option:flaws",)),
        ("flaws.1", "none|dark", ("flaws_none_alone",)),
        ("flaw_other.1", None, ()),  # optional
        ("shown_ms.1", None, ("missing:shown_ms",)),
        ("shown_ms.1", "-5", ("not_a_number:shown_ms",)),
        ("shown_ms.1", "12.5", ("not_a_number:shown_ms",)),
        ("pastes.1", "\N{ARABIC-INDIC DIGIT ONE}", ("not_a_number:pastes",)),
        ("item.1", None, ("wrong_item",)),
        ("item.1", "img_2", ("wrong_item",)),
        ("colour.1", "red", ()),
        ("typing.1", "fast", ("malformed:typing",)),
        ("typing.1", '{"has_text": {}}', ("malformed:typing",)),
        ("typing.1", "", ()),
    ],
)
def test_a_fault_is_named_and_the_other_answer_stays_clean(
    caption_task: Task, name: str, value: str | None, problems: tuple[str, ...]
) -> None:
    """Exactly the answer with the fault says so."""
    fields = sent()
    fields.pop(name, None)
    if value is not None:
        fields[name] = value
    first, second = read(caption_task, fields)
    assert first.problems == problems
    assert second.problems == ()


@pytest.mark.parametrize("part", ["keypoints", "lines", "labeledImage"])
def test_marks_that_no_measure_reads_are_a_fault(part: str) -> None:
    """Of marks that are merged: other JSON, and more marks than are compared."""
    field = Field(name="marks", kind="text", label="Mark", regions=part)

    def problems(count: int) -> list[str]:
        points = [{"label": "a", "x": n, "y": n} for n in range(count)]
        return value_problems(field, json.dumps({part: points}), {})

    assert value_problems(field, "", {}) == []
    fault = [] if part == "lines" else ["unreadable:marks"]
    assert value_problems(field, "[", {}) == problems(501) == fault
    if part == "keypoints":
        assert problems(500) == problems(0) == []


def test_how_a_text_was_entered_is_read_if_the_page_recorded_it(caption_task: Task) -> None:
    """By field; an answer without a record has none."""
    own = record()
    text = f'{{"caption": {own.as_json()}}}'
    first, second = read(caption_task, sent() | {"typing.1": text})
    assert first.typing == {"caption": own}
    assert second.typing == {}
    assert first.problems == second.problems == ()


def test_a_value_that_cannot_be_is_kept_as_it_came(caption_task: Task) -> None:
    """Unknown options stay in the answer for a reviewer to see."""
    fields = sent() | {"has_text.1": "maybe", "flaws.1": "blur|noise"}
    first, _ = read(caption_task, fields)
    assert first.values["has_text"] == "maybe"
    assert first.values["flaws"] == ("blur", "noise")


def test_answers_about_items_that_were_not_shown_flag_the_whole_hit(caption_task: Task) -> None:
    """Page and plan disagree about the items, so no answer is above doubt."""
    answers = read(caption_task, sent() | {"caption.3": "A third one"})
    assert [answer.problems for answer in answers] == [("extra_item",)] * 2


def test_nothing_at_all_is_still_one_answer_an_item(caption_task: Task) -> None:
    """An empty submission is kept with its faults."""
    answers = read(caption_task, {})
    assert [answer.position for answer in answers] == [1, 2]
    assert all(answer.values == {} for answer in answers)
    assert all("missing:caption" in answer.problems for answer in answers)


_names = st.sampled_from(
    [f"{name}.{n}" for name in ("item", "caption", "has_text", "flaws", "flaw_other",
                                *MEASURES, "x") for n in (1, 2, 3)]
)  # fmt: skip


@given(st.dictionaries(_names | st.text(), st.text()))
def test_no_form_is_too_strange_to_be_read(fields: dict[str, str]) -> None:
    """Any fields give one answer an item; every text that was sent is in it."""
    answers = read_answers(load_task("caption"), ASSIGNMENT, ITEMS, fields)
    assert [answer.item_id for answer in answers] == ITEMS
    for answer in answers:
        for name in ("caption", "has_text", "flaw_other"):
            assert answer.values.get(name) == fields.get(f"{name}.{answer.position}")
        flaws = answer.values.get("flaws")
        if isinstance(flaws, tuple):
            assert "|".join(flaws) == fields[f"flaws.{answer.position}"]
        assert len(set(answer.problems)) == len(answer.problems)
