"""What a page offers to mark: the text in which offsets of spans count, and the labels."""

from functools import lru_cache
from html import unescape

from piecework.domain.field import Field
from piecework.domain.hit import Item
from piecework.domain.task import HtmlPage, Task
from piecework.domain.text import with_newlines
from piecework.hit_templates.own_html.control_kinds import Control
from piecework.hit_templates.own_html.controls import controls_of
from piecework.hit_templates.own_html.page import is_shown
from piecework.hit_templates.own_html.placeholders import (
    MARKS,
    applied,
    number_of_mark,
    template_of,
    value_of,
)


def marked_text(task: Task, field: Field, item: Item) -> str | None:
    """Return the text that an item's workers mark, as their browsers read it.

    `None` if the field has no element with a text, or a script fills it in.
    """
    if task.html_page is None or field.regions != "entities":
        return None
    control = _controls(task.html_page).get(field.names_sent[0])
    if control is None or not control.text:
        return None
    gaps = template_of(task.html_page).gaps
    columns = {name: cell for name, cell in item.columns.items() if is_shown(name)}

    def value(mark: str) -> str:
        gap = gaps[number_of_mark(mark)]
        text, is_markup = applied(value_of(columns, gap.column), gap.filters)
        return unescape(text) if is_markup else text

    filled = MARKS.sub(lambda match: value(match[0]), control.text)
    # A browser reads these in the place of what a page has.
    return with_newlines(filled).replace("\0", "\N{REPLACEMENT CHARACTER}")


def labels_offered(task: Task, field: Field) -> tuple[str, ...]:
    """Return the labels of a field's marks in the page's order; () if the page states none."""
    control = None
    if task.html_page is not None and field.regions:
        control = _controls(task.html_page).get(field.names_sent[0])
    return () if control is None else tuple(control.options)


@lru_cache(maxsize=8)
def _controls(page: HtmlPage) -> dict[str, Control]:
    return dict(controls_of(template_of(page).marked).by_name)
