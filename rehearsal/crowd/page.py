"""Reads the page of a HIT as a browser would: which fields its form sends.

The crowd fills in the form that the page holds, not the form that this code believes
in; so a page that forgets a field shows in the answers.
"""

from dataclasses import dataclass, field
from html.parser import HTMLParser

from domain.ids import ItemId
from hit_templates.page_compression import decompress


@dataclass(slots=True, kw_only=True)
class Page:
    """The form of a HIT's page.

    Attributes:
        fixed: hidden fields with the values that the page gave them.
        texts: names of boxes to type in, empty on the page.
        options: for radio buttons and checkboxes, the values by name, in order.
        names: all names in the order of the document, which is the order sent.
    """

    fixed: dict[str, str] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    options: dict[str, list[str]] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)

    @property
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
    """The first form of an HTML document; empty if it has none."""
    reader = _Reader()
    reader.feed(decompress(html))
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
        given = {name: value or "" for name, value in attrs}
        name = given.get("name", "")
        if not name or "disabled" in given:
            return
        if tag in {"textarea", "input"} and name not in self.page.names:
            self.page.names.append(name)
        if tag == "textarea":
            self.page.texts.append(name)
        elif tag == "input":
            self._input(name, given)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._is_in_form = False

    def _input(self, name: str, given: dict[str, str]) -> None:
        kind = given.get("type", "text").lower()
        if kind == "hidden":
            self.page.fixed[name] = given.get("value", "")
        elif kind in {"radio", "checkbox"}:
            self.page.options.setdefault(name, []).append(given.get("value", "on"))
        elif kind == "text":
            self.page.texts.append(name)
        # A range is named and no more: until it is touched it has no value.
