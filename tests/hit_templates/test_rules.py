"""The rules of the caption task and the kinds they are made of."""

import csv
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.domain.assignment import FieldValue
from piecework.domain.task import Task
from piecework.hit_templates.rules import RULE_KINDS, check, parameter_faults
from piecework.hit_templates.tasks import load_task, task_names

SHARED = Path(__file__).resolve().parents[2] / "../shared/data"

GOOD: dict[str, FieldValue] = {
    "caption": "A red mug with a chipped handle on a table",  # 9 words
    "has_text": "no",
    "flaws": ("none",),
    "flaw_other": "",
}


def broken(task: Task, **changes: FieldValue) -> list[str]:
    """Names of the rules that a good answer breaks after these changes."""
    return [rule.name for rule in check(task, GOOD | changes)]


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({}, []),
        ({"caption": ""}, ["caption_required"]),
        ({"caption": " \N{ZERO WIDTH SPACE}\n"}, ["caption_required"]),
        ({"caption": "A red mug on a table"}, ["caption_min_words"]),
        ({"caption": "A red mug on a very old table"}, []),  # 8 words
        ({"caption": "A red mug on a old table"}, ["caption_min_words"]),  # 7
        (
            {"caption": "This is a mug. A cat"},
            ["caption_min_words", "caption_one_sentence", "caption_banned_prefix"],
        ),
        (
            {"caption": "It\N{RIGHT SINGLE QUOTATION MARK}s a mug on a rather old bed"},
            ["caption_banned_prefix"],
        ),
        ({"caption": "This island has a red house and a mill"}, []),
        ({"caption": "a " * 499 + "bc"}, []),  # 998 + 2 = 1,000 characters
        ({"caption": "a " * 499 + "bcd"}, ["caption_max_length"]),
        # An emoji outside the basic plane is one character of the thousand.
        ({"caption": "a " * 499 + "b\N{DOG FACE}"}, []),
        ({"has_text": ""}, ["has_text_required"]),
        ({"flaws": ()}, ["flaws_required"]),
        ({"flaws": ("blur", "dark")}, []),
        ({"flaws": ("blur", "none")}, ["flaws_none_alone"]),
        ({"flaws": ("none", "none")}, []),  # sent twice, it is still alone
        ({"flaws": ("none", "blur", "none")}, ["flaws_none_alone"]),
        ({"flaws": ("other",)}, ["flaw_other_required"]),
        ({"flaws": ("other",), "flaw_other": " "}, ["flaw_other_required"]),
        ({"flaws": ("other",), "flaw_other": "a finger"}, []),
        ({"flaw_other": "x" * 200}, []),
        ({"flaw_other": "x" * 201}, ["flaw_other_max_length"]),
    ],
)  # fmt: skip
def test_each_rule_is_broken_by_what_it_forbids_alone(
    caption_task: Task, changes: dict[str, FieldValue], names: list[str]
) -> None:
    """Exactly the rules that speak about the change are broken, in their order."""
    assert broken(caption_task, **changes) == names


def test_the_ten_beginnings_of_the_original_are_refused(caption_task: Task) -> None:
    """The prefixes are those of the published collection (its appendix 0.A.1)."""
    published = [
        "There is", "There are", "This is", "These are", "The image", "The picture",
        "This image", "This picture", "It is", "It's",
    ]  # fmt: skip
    for prefix in published:
        caption = f"{prefix} a red mug with a chipped handle"
        assert broken(caption_task, caption=caption) == ["caption_banned_prefix"]


def test_an_empty_form_breaks_only_what_is_required(caption_task: Task) -> None:
    """Who wrote nothing reads one message for a field."""
    assert [rule.name for rule in check(caption_task, {})] == [
        "caption_required", "has_text_required", "flaws_required",
    ]  # fmt: skip


def test_the_canned_text_keeps_the_rules_of_its_field(caption_task: Task) -> None:
    """What the button fills in can be submitted."""
    assert broken(caption_task, caption=caption_task.canned_text) == []


_values = st.dictionaries(
    st.sampled_from(["caption", "has_text", "flaws", "flaw_other"]),
    st.text() | st.lists(st.sampled_from(["blur", "other", "none", ""])).map(tuple),
)


@given(_values)
def test_whatever_is_sent_the_rules_answer(values: dict[str, FieldValue]) -> None:
    """No value makes a rule fail, and broken rules keep the task's order."""
    task = load_task("caption")
    names = [rule.name for rule in check(task, values)]
    assert names == [rule.name for rule in task.rules if rule.name in names]


@given(st.text(min_size=1), st.text())
def test_more_words_never_break_the_least_number(text: str, more: str) -> None:
    """Once there are enough words, another one does no harm."""
    task = load_task("caption")
    if "caption_min_words" not in broken(task, caption=text + " x"):
        assert "caption_min_words" not in broken(task, caption=f"{text} x y {more}")


@pytest.mark.parametrize(
    ("kind", "parameters", "fault"),
    [
        ("min_wrods", {}, "is not one of"),
        ("min_words", {}, "needs the parameter minimum"),
        ("min_words", {"minimum": 8, "maximum": 9}, "has no parameter maximum"),
        ("min_words", {"minimum": "8"}, "must be a whole number"),
        ("min_words", {"minimum": True}, "must be a whole number"),
        ("banned_prefixes", {"prefixes": "It is"}, "must be a list of texts"),
        ("exclusive_option", {"option": ""}, "must be a text"),
    ],
)
def test_a_wrong_rule_is_told_in_a_sentence(
    kind: str, parameters: dict[str, object], fault: str
) -> None:
    """Kind, missing, superfluous and mistyped parameters are each named."""
    faults = parameter_faults(kind, parameters)
    assert len(faults) == 1
    assert fault in faults[0]


def test_every_kind_is_used_by_a_task() -> None:
    """The table holds no kind that nobody needs."""
    used = {rule.kind for name in task_names() for rule in load_task(name).rules}
    for_consent, stated = {"must_choose"}, {"max_words", "max_capitals"}
    assert used | for_consent | stated == set(RULE_KINDS)


@pytest.mark.shared
def test_captions_that_the_original_page_let_through_are_let_through(caption_task: Task) -> None:
    """Of 19,215 real captions fewer than 1 in 1,000 fail for a period or a beginning.

    The original page had accepted each of them, with stricter rules on periods. They
    were spell-corrected later, which joined words: so a few have seven.
    """
    path = SHARED / "vizwiz_val_captions_half.csv"
    if not path.exists():
        pytest.skip(f"{path.name} is not beside the repository")
    with path.open(encoding="utf-8", newline="") as lines:
        captions = [row["caption"] for row in csv.DictReader(lines)]
    counts = Counter(name for caption in captions for name in broken(caption_task, caption=caption))
    assert len(captions) == 19_215
    assert counts["caption_one_sentence"] + counts["caption_banned_prefix"] <= 19
    assert counts["caption_min_words"] <= 96  # half a per cent
    assert counts["caption_required"] == counts["caption_max_length"] == 0
