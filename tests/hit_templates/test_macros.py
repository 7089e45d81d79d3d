"""docs/reference/macros.md lists every macro, and its examples render."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from jinja2 import nodes

from piecework.domain.hit import Item
from piecework.domain.ids import ItemId
from piecework.domain.task import OwnFiles, Task
from piecework.hit_templates.messages import FOLDER
from piecework.hit_templates.render import render_hit
from piecework.hit_templates.tasks import read_task
from piecework.hit_templates.templates import QUESTION, environment
from tests.for_each import for_each

PAGE = (Path(__file__).resolve().parents[2] / "docs/reference/macros.md").read_text("utf-8")
EXAMPLES = re.findall(
    r"^## (\w+)\(([^\n]*)\)\n[^`]*(?:`[^`\n]+`[^`]*)*?```jinja\n(.*?)```",
    PAGE,
    re.MULTILINE | re.DOTALL,
)
TASK = """
version = 1
title = "t"
description = "d"
keywords = ["k"]
columns = ["item_id", "url"]
items_per_hit = 2
reward_cents = 1
assignment_duration_seconds = 60
fields = [
  { name = "sentence", kind = "text", label = "Say it" },
  { name = "other", kind = "text", label = "What else?", optional = true },
  { name = "sound", kind = "choice", label = "How?", options = [
    { value = "good", label = "Good" }, { value = "bad", label = "Bad" } ] },
  { name = "topics", kind = "choices", label = "What?", options = [
    { value = "other", label = "Other" }, { value = "none", label = "None" } ] },
  { name = "grade", kind = "number", label = "How much?", minimum = 1, maximum = 5 },
]
"""
ITEM = Item(item_id=ItemId("a"), columns={"item_id": "a", "url": "/a.jpg"})


def signatures() -> dict[str, str]:
    """The macros of the file, each with its arguments as they are written."""
    source = (FOLDER / "_macros.html.j2").read_text("utf-8")
    signature_of = {}
    for macro in environment().parse(source).find_all(nodes.Macro):
        names = [argument.name for argument in macro.args]
        plain = len(names) - len(macro.defaults)
        words = [
            f"{name}={_written(value)}"
            for name, value in zip(names[plain:], macro.defaults, strict=True)
        ]
        signature_of[macro.name] = ", ".join([*names[:plain], *words])
    return signature_of


def _written(value: nodes.Expr) -> str:
    constant = value.as_const()
    if isinstance(constant, str):
        return f'"{constant}"'
    return str(constant).lower()  # Jinja writes true, false and none


def test_every_macro_is_documented_with_its_arguments() -> None:
    """No macro is missing and none has other arguments than the page says."""
    assert {name: arguments for name, arguments, _ in EXAMPLES} == signatures()


def task_of(source: str) -> Task:
    """A task whose page is this, with the fields that it asks."""
    task = read_task("shown", TASK)
    asked = tuple(field for field in task.fields if f"fields.{field.name}" in source)
    body, _, scripts = source.partition("{% block scripts %}")
    scripts = f"{{% block scripts %}}{scripts}" if scripts else ""
    names = ", ".join(signatures())
    page = (
        '{% extends "_base.html.j2" %}\n'
        f'{{% from "_macros.html.j2" import {names} with context %}}\n'
        f"{{% block item %}}{body}{{% endblock %}}{scripts}"
    )
    own = OwnFiles(path="shown", digest="", templates={QUESTION: page})
    return replace(task, fields=asked or task.fields[:1], own=own)


@for_each(("name", "source"), [(example[0], example[2]) for example in EXAMPLES])
def test_every_example_is_a_page_that_can_be_answered(name: str, source: str) -> None:
    """It renders, and every field in it has its control and its place for messages."""
    if "fields." not in source:
        source = "{{ text_line(fields.sentence, n) }}" + source
    page = render_hit(task_of(source), [ITEM])
    if name == "picture":
        assert 'src="/a.jpg"' in page
    assert f"{name}(" in source


@pytest.mark.parametrize(
    "name", ["wire", "minified", "grouped", "steps_of", "rich", "filled", "plain_number"]
)
def test_every_function_and_filter_is_documented(name: str) -> None:
    """Those that the environment has beside Jinja's own."""
    made = environment()
    assert name in {*made.globals, *made.filters}
    assert f"`{name}" in PAGE


def test_no_function_or_filter_is_left_out() -> None:
    """What is added to the environment is added to the page."""
    made = environment()
    plain = type(made)()
    added = {*made.globals, *made.filters} - {*plain.globals, *plain.filters}
    assert {name for name in added if f"`{name}" not in PAGE} == set()
