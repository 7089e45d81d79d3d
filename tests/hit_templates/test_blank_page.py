"""A page that is filled in is the page that its template would give."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import DictLoader

from piecework.domain.hit import Item
from piecework.domain.task import Task
from piecework.hit_templates.page_compression import MARK, compress, decompress, is_packed
from piecework.hit_templates.render import (
    _as_shown,
    _blank_page,
    _Frame,
    _frozen,
    _page_data,
    _rendered,
    render_hit,
)
from piecework.hit_templates.tasks import load_task, task_names
from piecework.hit_templates.templates import NeedsValue, Slot, blank_page, environment
from tests.for_each import for_each
from tests.hit_templates.examples import example_of

PRINTS_ONLY = {
    *("caption", "congruency", "error_categories", "expert_rating", "hodosh_caption"),
    *("pairwise", "severity"),
}
"""Tasks whose templates ask nothing about an item's values."""

_hostile = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\ufffe\uffff").filter(lambda c: c >= " "),
    min_size=1,
).filter(lambda text: text.strip() != "")


def by_template(
    task: Task, items: list[Item], practice: list[Item], *, records_typing: bool = True
) -> str:
    """The page as its template gives it, without a blank one."""
    trials = tuple(_frozen(_as_shown(task, item)) for item in practice)
    shown = [_as_shown(task, item) for item in items]
    frame = _Frame(task, "", 0, trials, records_typing=records_typing)
    return _rendered(frame, shown, _page_data(frame, shown))


@for_each("name", task_names())
def test_every_example_is_the_page_of_its_template(name: str) -> None:
    """Whole, and compressed pages decompressed, to the last byte."""
    example = example_of(load_task(name))
    wanted = by_template(
        example.task,
        list(example.items),
        list(example.practice),
        records_typing=name != "error_categories",  # its page would not fit
    )
    assert decompress(example.page) == wanted


@for_each("name", task_names())
def test_templates_that_only_print_are_rendered_once(name: str) -> None:
    """All others are rendered for each HIT."""
    frame = _Frame(load_task(name), "", 0, ())
    assert (_blank_page(frame, 2) is not None) == (name in PRINTS_ONLY)


@given(st.sampled_from(sorted(PRINTS_ONLY)), st.lists(_hostile, min_size=8, max_size=8))
def test_hostile_values_are_escaped_as_the_template_escapes_them(
    name: str, texts: list[str]
) -> None:
    """In markup, in attributes, in a compressed script and in the page's data."""
    example = example_of(load_task(name))
    items = [
        replace(
            item,
            columns={
                column: text
                if column.endswith("url") or column in example.task.column_values
                else f"{texts[n % 8]} {n} {column}"
                for n, (column, text) in enumerate(item.columns.items(), start=number)
            },
        )
        for number, item in enumerate(example.items[:3])
    ]
    frame = _Frame(example.task, "", 0, ())
    shown = [_as_shown(example.task, item) for item in items]
    data = _page_data(frame, shown)
    values = [text for item in shown for text in (item.item_id, *item.columns.values())]
    blank = _blank_page(frame, len(items))
    assert blank is not None
    wanted = by_template(example.task, items, [])
    assert blank.filled([*values, data], more_than=10**6) == wanted
    assert decompress(blank.filled([*values, data], more_than=0)) == wanted
    # So long that it is compressed, and not compressed further.
    most = max(len(compress(wanted, more_than=0).encode()), 1) + 4000
    assert decompress(blank.filled([*values, data], more_than=most)) == wanted


def test_a_text_with_the_mark_of_compression_leaves_the_page_whole() -> None:
    """A compressed page would show a position in its place."""
    task = load_task("caption")
    items = [
        Item(item_id=item.item_id, columns={**item.columns, "url": f"/{MARK}/{n}.jpg"})
        for n, item in enumerate(example_of(task).items[:5])
    ]
    page = render_hit(task, items)
    assert page.count(MARK) == len(items)
    assert "data-compressed" not in page


@for_each(
    "source",
    [
        "{% if value %}yes{% endif %}",
        "{{ value | lower }}",
        "{{ value | rich }}",
        "{{ value ~ '!' }}",
        "{{ value or 'none' }}",
        "{{ value == 'a' }}",
        "{{ value in ['a'] }}",
        "{{ {'a': 1}[value] }}",
        "{{ value[0] }}",
        "{{ value.strip() }}",
        "{{ value | length }}",
        "{{ '%s' | format(value) }}",
        "{% for letter in value %}{{ letter }}{% endfor %}",
    ],
)
def test_a_template_that_looks_at_a_value_says_so(source: str) -> None:
    """It cannot be rendered over slots."""
    template = environment().overlay(loader=DictLoader({"t": source})).get_template("t")
    with pytest.raises((NeedsValue, TypeError)):
        template.render(value=Slot(0))


def test_a_slot_stands_where_its_value_will() -> None:
    """Escaped once; markup is left as it is."""
    source = "<b>{{ value }}</b>"
    template = environment().overlay(loader=DictLoader({"t": source})).get_template("t")
    blank = blank_page(template.render(value=Slot(0)))
    assert blank.filled(["<i>"], more_than=99) == "<b>&lt;i&gt;</b>"


def test_a_page_records_no_typing_rather_than_be_packed() -> None:
    """With the record's script, eight items of error_categories would not fit."""
    large = example_of(load_task("error_categories")).page
    assert not is_packed(large)
    assert "typing.1" not in decompress(large)
    small = example_of(load_task("correction")).page
    assert not is_packed(small)
    assert "typing.1" in decompress(small)
