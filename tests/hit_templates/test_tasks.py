"""Task folders are read completely, and their faults are told all at once."""

from pathlib import Path

import pytest

from piecework.domain.errors import ConfigError
from piecework.domain.task import Task
from piecework.hit_templates.starters import write_starter
from piecework.hit_templates.tasks import FOLDER, load_task, read_task, task_names
from tests.for_each import for_each

SMALL = """
version = 1
title = "Rate a sentence"
description = "Say how good a sentence is."
keywords = ["sentence"]
columns = ["sentence_id", "sentence"]
items_per_hit = 3
reward_cents = 20
assignment_duration_seconds = 600

[[fields]]
name = "grade"
kind = "choice"
label = "How good is it?"
options = [{ value = "1", label = "Bad" }, { value = "2", label = "Good" }]

[[fields]]
name = "why"
kind = "text"
label = "Why?"
optional = true

[[rules]]
name = "grade_required"
kind = "required"
field = "grade"
message = "Please choose."
"""


def faults_of(text: str) -> list[str]:
    """What is wrong with a task file."""
    with pytest.raises(ConfigError) as raised:
        read_task("small", text)
    return raised.value.faults


def test_the_caption_task_is_the_published_one(caption_task: Task) -> None:
    """Names and values that other packages rely on are these."""
    assert "caption" in task_names()
    assert [field.name for field in caption_task.fields] == [
        "caption", "has_text", "flaws", "flaw_other",
    ]  # fmt: skip
    flaws = caption_task.fields[2]
    assert [option.value for option in flaws.options] == [
        "blur", "bright", "dark", "obscured", "framing", "rotation", "other", "none",
    ]  # fmt: skip
    assert caption_task.columns == ("image_id", "url")
    assert caption_task.main_text == "caption"
    assert caption_task.text_present_field == "has_text"
    assert caption_task.canned_text == "Quality issues are too severe to recognize visual content."


def test_every_folder_with_a_task_file_is_a_task() -> None:
    """Adding a task is adding a folder; each can be read and has its page."""
    for name in task_names():
        assert load_task(name).name == name
        assert (FOLDER / name / "question.html.j2").exists()
        assert (FOLDER / name / "NOTES.md").exists()
        assert (FOLDER / name / "example.jsonl").exists()


def test_another_task_needs_only_its_file() -> None:
    """Nothing in the reader is about captions."""
    task = read_task("small", SMALL)
    assert task.fields[0].options[1].label == "Good"
    assert task.rules[0].field == "grade"
    assert task.main_text == ""


def test_an_unknown_task_is_answered_with_the_known_ones() -> None:
    """The message says what there is."""
    with pytest.raises(ConfigError, match=r"mean .caption.\? There are: .*caption"):
        load_task("captoin")


def test_all_faults_of_a_file_are_told_at_once() -> None:
    """Shape, rules and references are all looked at before anything is raised."""
    text = (
        SMALL.replace("version = 1", 'version = "one"\ncolour = "red"')
        .replace('kind = "required"', 'kind = "min_words"')
        .replace('kind = "text"', 'kind = "txt"')
        .replace('field = "grade"', 'field = "grad"')
    )
    faults = faults_of(text)
    assert all(fault.startswith("hit_templates/small/task.toml:") for fault in faults)
    for part in (
        "version: Input should be a valid integer",
        "colour: no such key",
        "fields[why].kind: Input should be 'text'",
        "rules[grade_required]: kind min_words needs the parameter minimum.",
        "rules[grade_required]: there is no field 'grad'.",
    ):
        (message,) = [fault for fault in faults if part in fault]
        line = int(message.split(":")[1])
        key = part.split(":")[0].split(".")[-1].replace("rules[grade_required]", "[[rules]]")
        assert key in text.splitlines()[line - 1], message
    assert len(faults) == 5


@for_each(
    ("before", "after", "fault"),
    [
        ('name = "why"', 'name = "grade"', "fields[grade]: the name appears twice"),
        ('value = "2"', 'value = "1|2"', "fields[grade].options[1|2].value"),
        ('kind = "choice"', 'kind = "text"', "fields[grade]: takes no options"),
        ('kind = "text"', 'kind = "choices"', "fields[why]: needs options"),
        ("version = 1", 'version = 1\nmain_text = "grade"', "no text field 'grade'"),
        (
            "version = 1",
            "version = 1\nkeeps_order = true\nshuffles_items = true",
            "keeps_order: shuffles_items is true too",
        ),
        ("version = 1", 'version = 1\ntext_present_field = "why"', "no choice field"),
        ('"required"', '"one_of"', "'one_of' is not one of required"),
        ("items_per_hit = 3", "items_per_hit = 0", "items_per_hit"),
        ("items_per_hit = 3", 'items_per_hit = "3"', "valid integer (found '3')"),
        ("items_per_hit = 3", "items_per_hit = true", "valid integer (found True)"),
        ("version = 1\n", "", "task.toml: version: is missing."),
        ("version =", "verson =", "verson: no such key; did you mean 'version'?"),
        ('kind = "choice"', 'kind = "chioce"', "fields[grade].kind: Input should be"),
        ("version = 1", 'version = 1\nname = "other"', "name: no such key"),
        ("version = 1", "version = 1\nmade = 2026-01-05", "made: no such key"),
        ('name = "why"', 'name = "Why not"', "fields[Why not].name: 'Why not' has more"),
        ('label = "Why?"', 'label = ""', "fields[why].label: String should have"),
        ('label = "Why?"', 'label = " "', "fields[why].label: is blank"),
        ('{ value = "1",', '{ value = "1", size = 2,', "options[1].size: no such"),
        ('columns = ["sentence_id", "sentence"]', "columns = []", "columns: Tuple sho"),
        (
            "[[rules]]",
            '[[arrangements]]\nname = "a"\ncolumns = ["sentence"]\n[[rules]]',
            "arrangements[a].columns: Tuple should have at least 2 items",
        ),
        ("optional = true", "varies = true", "fields[why].varies: no such key"),
        ("version = 1", "version =", "Invalid value"),
        ("version = 1", "version = " + "1" * 5_000, "Exceeds the limit"),
    ],
)
def test_each_fault_is_named(before: str, after: str, fault: str) -> None:
    """One wrong thing is told as that thing."""
    assert any(fault in message for message in faults_of(SMALL.replace(before, after, 1)))


def test_a_rule_must_suit_the_field_and_the_option_it_names() -> None:
    """Kinds are for kinds of fields, and an option must exist."""
    rule = (
        SMALL
        + """
[[rules]]
name = "short"
kind = "max_length"
field = "grade"
message = "Shorter, please."
parameters = { maximum = 9 }

[[rules]]
name = "why_required"
kind = "text_with_option"
field = "why"
message = "Please say why."
parameters = { chosen_in = "grade", option = "3" }
"""
    )
    messages = "\n".join(faults_of(rule))
    assert "rules[short]: kind max_length is not for the field grade." in messages
    assert "rules[why_required]: grade has no option '3'." in messages


def test_a_canned_text_that_the_rules_refuse_is_a_fault() -> None:
    """A button must not fill in what cannot be submitted."""
    text = SMALL.replace("version = 1", 'version = 1\nmain_text = "why"\ncanned_text = "No idea."')
    text += """
[[rules]]
name = "why_words"
kind = "min_words"
field = "why"
message = "More, please."
parameters = { minimum = 3 }
"""
    assert faults_of(text) == [
        "hit_templates/small/task.toml:4: canned_text: this breaks the rule why_words."
    ]


def test_a_canned_text_in_the_messages_is_a_fault_of_that_file(tmp_path: Path) -> None:
    """The file to change is named, not the task's own."""
    write_starter(tmp_path / "dog", "text")
    messages = tmp_path / "dog" / "messages.en.toml"
    messages.write_text(f'canned_text = "No idea."\n{messages.read_text("utf-8")}')
    with pytest.raises(ConfigError) as caught:
        load_task("./dog", beside=tmp_path)
    (fault,) = caught.value.faults
    assert fault.startswith(f"{messages}: canned_text: this breaks the rule")
