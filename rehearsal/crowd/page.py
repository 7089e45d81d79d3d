"""Reads the page of a HIT as a browser would: which fields its form sends.

The crowd fills in the form that the page holds, not the form that this code believes
in; so a page that forgets a field shows in the answers.
"""

import re
from dataclasses import dataclass, field
from functools import cached_property
from html.parser import HTMLParser

from domain.ids import ItemId
from hit_templates.page_compression import decompress

_UNREAD = re.compile(r"(?is)<!--.*?-->|<(script|style)\b.*?</\1\s*>")
_FORM_TAGS = re.compile(
    r"""(?i)</?(?:form|input|textarea)\b(?:[^>"']|"[^"]*"|'[^']*')*>"""
)


@dataclass(kw_only=True)
class Page:
    """The form of a HIT's page.

    Attributes:
        fixed: hidden fields with the values that the page gave them.
        texts: names of boxes to type in, empty on the page.
        options: for radio buttons and checkboxes, the values by name, in order.
        names: all names in the order of the document, which is the order sent; the
            values mean nothing.
    """

    fixed: dict[str, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    options: dict[str, list[str]] = field(default_factory=dict)
    names: dict[str, None] = field(default_factory=dict)

    @cached_property
    def item_ids(self) -> tuple[ItemId, ...]:
        """The items in the order shown."""
        numbered = {
            int(position): value
            for name, value in self.fixed.items()
            for prefix, _, position in [name.partition(".")]
            if prefix == "item" and position.isdigit()
        }
        return tuple(ItemId(numbered[n]) for n in sorted(numbered))

    def has(self, name: str) -> bool:
        """Whether the form has a field of this name."""
        return name in self.names


def read_page(html: str) -> Page:
    """The form of an HTML document; empty if it has none."""
    reader = _Reader()
    # The parser is slow, and nine tags in ten are none of a form.
    reader.feed("".join(_FORM_TAGS.findall(_UNREAD.sub("", decompress(html)))))
    reader.close()
    return reader.page


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self._is_in_form = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "form":
            self._is_in_form = True
        if not self._is_in_form:
            return
        attributes = {name: value or "" for name, value in attrs}
        name = attributes.get("name", "")
        if not name or "disabled" in attributes:
            return
        if tag in {"textarea", "input"}:
            self.page.names[name] = None
        if tag == "textarea":
            self.page.texts.append(name)
        elif tag == "input":
            self._input(name, attributes)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._is_in_form = False

    def _input(self, name: str, attributes: dict[str, str]) -> None:
        kind = attributes.get("type", "text").lower()
        if kind == "hidden":
            self.page.fixed[name] = attributes.get("value", "")
        elif kind in {"radio", "checkbox"}:
            self.page.options.setdefault(name, []).append(attributes.get("value", "on"))
        elif kind == "text":
            self.page.texts.append(name)
        # A range is named and no more: until it is touched it has no value.
