"""Read the page of a HIT as a browser would, to find the fields of its form.

The crowd fills in the form that the page contains, not one that this code assumes. So a page
that lacks a field shows in the answers. The orders that a page's script would record are
computed without running scripts.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from html.parser import HTMLParser

from piecework.domain.hit import Item
from piecework.domain.ids import AssignmentId, ItemId
from piecework.domain.task import Task
from piecework.hit_templates.answers import in_order
from piecework.hit_templates.order import groups_of, item_order, option_order, shuffled
from piecework.hit_templates.own_html.controls import Controls, controls_of
from piecework.hit_templates.own_html.page import items_shown, measures_asked
from piecework.hit_templates.page_compression import decompress

_UNREAD = re.compile(r"(?is)<!--.*?-->|<(script|style)\b.*?</\1\s*>")
_FORM_TAGS = re.compile(r"""(?i)</?(?:form|input|textarea)\b(?:[^>"']|"[^"]*"|'[^']*')*>""")


@dataclass(kw_only=True)
class Page:
    """The form of a HIT's page.

    Attributes:
        fixed: hidden fields with the values that the page sets.
        texts: names of text boxes, which are empty on the page.
        options: for radio buttons and checkboxes, the values by name, in order.
        names: all names in document order, which is the order sent; the values are
            unused.
        pastes: whether texts can be pasted; an experiment's page may refuse them.
        controls: what can be filled in on a requester's own page; `None` for a page of
            piecework's.
    """

    fixed: dict[str, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    options: dict[str, list[str]] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)
    pastes: bool = True
    controls: Controls | None = None

    @cached_property
    def item_ids(self) -> tuple[ItemId, ...]:
        """Return the items in the order shown."""
        numbered = {
            int(position): value
            for name, value in self.fixed.items()
            for prefix, _, position in [name.partition(".")]
            if prefix == "item" and position.isdecimal()
        }
        return tuple(ItemId(numbered[n]) for n in sorted(numbered))

    def has(self, name: str) -> bool:
        """Return whether the form has a field of this name."""
        return name in self.names


def read_page(html: str) -> Page:
    """Return the form of an HTML document; empty if it has none."""
    if item_ids := items_shown(html):
        return _own_page(html, item_ids, measures_asked(html))
    page, is_in_form = Page(), False
    # The parser is slow, and nine tags in ten do not belong to a form.
    for text in _FORM_TAGS.findall(_UNREAD.sub("", decompress(html))):
        tag = _read_tag(text)
        if tag.name == "form":
            is_in_form = not tag.is_end
            page.pastes &= tag.attributes.get("data-paste") != "blocked"
        elif is_in_form and not tag.is_end:
            _add_field(page, tag)
    return page


def _own_page(html: str, item_ids: Sequence[str], measures: Sequence[str]) -> Page:
    controls = controls_of(html)
    ours: dict[str, str] = {}
    for n, item_id in enumerate(item_ids, start=1):
        ours |= {f"item.{n}": item_id} | {f"{name}.{n}": "0" for name in measures}
    fixed = controls.hidden_values | ours
    return Page(fixed=fixed, names=dict.fromkeys(fixed), controls=controls)


def played_in(shown_ms: int, task: Task) -> int:
    """Return how much of a sound is played, per mille, if it takes half of the time of an item."""
    return min(1000, round(2 * shown_ms / task.seconds_per_item))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tag:
    name: str
    is_end: bool
    attributes: Mapping[str, str]


@lru_cache(maxsize=4096)
def _read_tag(text: str) -> _Tag:
    """Read one tag; the HITs of a campaign share most of their tags."""
    reader = _TagReader()
    reader.feed(text)
    reader.close()
    return reader.tag


class _TagReader(HTMLParser):
    tag = _Tag(name="", is_end=False, attributes={})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tag = _Tag(name=tag, is_end=False, attributes=attributes)

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag: str) -> None:
        self.tag = _Tag(name=tag, is_end=True, attributes={})


def _add_field(page: Page, tag: _Tag) -> None:
    name = tag.attributes.get("name", "")
    if tag.name not in {"textarea", "input"} or not name or "disabled" in tag.attributes:
        return
    page.names[name] = None
    kind = tag.attributes.get("type", "text").lower()
    if tag.name == "textarea" or kind == "text":
        page.texts.append(name)
    elif kind == "hidden":
        page.fixed[name] = tag.attributes.get("value", "")
    elif kind in {"radio", "checkbox"}:
        page.options.setdefault(name, []).append(tag.attributes.get("value", "on"))
    # Only a range's name is stored: it has no value until it is touched.


def orders_sent(
    page: Page, task: Task, assignment_id: AssignmentId, items: Mapping[ItemId, Item]
) -> dict[str, list[str]]:
    """Return the values of the hidden fields `order....` when the page is sent."""
    sent: dict[str, list[str]] = {}
    shown = [items[item_id] for item_id in page.item_ids if item_id in items]
    if page.has("order.items"):
        positions = item_order(task, assignment_id, page.item_ids, groups_of(task, shown))
        sent["order.items"] = ["|".join(map(str, positions))]
    for n, item in enumerate(shown, start=1):
        for asked in task.item_fields:
            order = option_order(asked, assignment_id, item.item_id, in_order(asked, item.columns))
            sent[f"order.{asked.name}.{n}"] = ["|".join(order)]
        for arrangement in task.arrangements:
            name = arrangement.name
            columns = shuffled(assignment_id, f"{name}.{item.item_id}", arrangement.columns)
            sent[f"order.{name}.{n}"] = ["|".join(columns)]
    return {name: value for name, value in sent.items() if page.has(name)}
