r"""Placeholders for item values: `${column}` and `{{ task.input.column }}`.

The first is MTurk's and Turkle's, the second SageMaker's (a part of Liquid, with its
usual filters). Values are escaped for their place, so that an item cannot break out of
its text or run a script. A column of markup must be declared as such. `${...}` inside a
JavaScript template literal is JavaScript's own, unless the items have a column of that
name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

from piecework.hit_templates.own_html import liquid
from piecework.hit_templates.own_html.contexts import Place, places
from piecework.hit_templates.own_html.escaping import written

_FIRST = 0xF0000
MARKS = re.compile("[\U000f0000-\U000ffffd]")
"""Private-use characters; each stands for a placeholder while a page is read."""

_MOST = 0xFFFE

_NAME = r"[^\s{}$`'\"()]+(?: [^\s{}$`'\"()]+)*"
_GAP = re.compile(rf"\$\{{\s*({_NAME})\s*\}}|\{{\{{(.+?)\}}\}}", re.DOTALL)
_TAG = re.compile(r"\{%.*?%\}", re.DOTALL)


_FOR_MARKUP = frozenset(
    {"skip_autoescape", "strip_html", "escape", "escape_once", "to_json", "json"}
)
"""Filters of an author who thought of markup."""

_Placeholder = tuple[str, tuple[liquid.Filter, ...], int, str]
"""Column, filters, line, and the text that `${...}` leaves without the column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A place for a value.

    Attributes:
        column: the item's column.
        filters: the filters to apply to the value, in order.
        place: where the placeholder is.
        line: of the file, from 1.
        otherwise: the text for an item without the column; "": the item needs it.
    """

    column: str
    filters: tuple[liquid.Filter, ...]
    place: Place
    line: int
    otherwise: str = ""

    @property
    def shows_markup(self) -> bool:
        """Whether markup in the value would be shown as text."""
        names = {filter_.name for filter_ in self.filters}
        return self.place.context == "text" and not names & _FOR_MARKUP


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A page cut at its placeholders.

    Attributes:
        texts: the texts between the gaps; one more than the gaps.
        faults: clauses about what cannot be used, with its line.
    """

    texts: tuple[str, ...]
    gaps: tuple[Gap, ...]
    faults: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the page needs, in the page's order."""
        needed = (gap.column for gap in self.gaps if not gap.otherwise)
        return tuple(dict.fromkeys(needed))

    @property
    def possible_columns(self) -> tuple[str, ...]:
        """Names in template literals, which are columns if the items have them."""
        names = (gap.column for gap in self.gaps if gap.otherwise)
        return tuple(name for name in dict.fromkeys(names) if name not in self.columns)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The columns that hold an address, mostly of a picture."""
        columns = (gap.column for gap in self.gaps if gap.place.context in {"address", "url"})
        return tuple(dict.fromkeys(columns))

    @property
    def possible_addresses(self) -> tuple[str, ...]:
        """Columns in scripts that are addresses if the items have pictures there."""
        columns = (gap.column for gap in self.gaps if gap.place.begins_value)
        return tuple(column for column in dict.fromkeys(columns) if column not in self.addresses)

    @property
    def marked(self) -> str:
        """The page with a mark for each gap, for code that reads its tags."""
        return joined(self.texts, [chr(_FIRST + n) for n in range(len(self.gaps))])

    def filled(self, columns: Mapping[str, str], *, html_columns: Sequence[str] = ()) -> str:
        """Return the page of an item."""
        return joined(self.texts, self.values(columns, html_columns=html_columns))

    def values(self, columns: Mapping[str, str], *, html_columns: Sequence[str] = ()) -> list[str]:
        """Return an item's values for the gaps, escaped for their places."""
        return [self._value(gap, columns, html_columns) for gap in self.gaps]

    def _value(self, gap: Gap, columns: Mapping[str, str], html_columns: Sequence[str]) -> str:
        if gap.otherwise and gap.column not in columns:
            return gap.otherwise
        text, is_markup = liquid.applied(value_of(columns, gap.column), gap.filters)
        is_markup |= gap.column in html_columns
        return written(text, gap.place, is_markup=is_markup)


def is_mark(text: str) -> bool:
    """Return whether a text of a marked page holds a placeholder."""
    return MARKS.search(text) is not None


@lru_cache(maxsize=32)
def cut(html: str) -> Template:
    """Cut the page at its placeholders."""
    if MARKS.search(html):
        fault = "the page holds private-use characters, which are not allowed"
        return Template(texts=(html,), gaps=(), faults=(fault,))
    named, faults = _Named(html), list(_faults_of_tags(html))
    marked = _GAP.sub(named.mark, html)
    texts = tuple(MARKS.split(marked))
    if len(named.placeholders) > _MOST:
        faults.append(f"the page has more than {_MOST:,} placeholders")
        return Template(texts=(html,), gaps=(), faults=tuple(faults))
    gaps = [
        Gap(
            otherwise=literal if place.in_script == "template literal" else "",
            column=column,
            filters=filters,
            place=place,
            line=line,
        )
        for place, (column, filters, line, literal) in zip(
            places(texts), named.placeholders, strict=True
        )
    ]
    faults += named.faults
    faults += [
        f"line {gap.line}: {gap.column!r} is inside a tag, where a value cannot go; "
        "put it between quotes, or into the text"
        for gap in gaps
        if gap.place.context == "tag"
    ]
    return Template(texts=texts, gaps=tuple(gaps), faults=tuple(faults))


class _Named:
    """The placeholders of a page in their order."""

    def __init__(self, html: str) -> None:
        self._html = html
        self.placeholders: list[_Placeholder] = []
        self.faults: list[str] = []

    def mark(self, match: re.Match[str]) -> str:
        """Return the mark for a placeholder; other libraries' placeholders stay."""
        line = _line(self._html, match.start())
        if match[1] is not None:
            self.placeholders.append((match[1], (), line, match[0]))
        elif (read := liquid.read(match[2])) is not None:
            column, filters, unknown = read
            self.placeholders.append((column, filters, line, ""))
            self.faults += [f"line {line}: there is no filter {name!r}" for name in unknown]
        else:  # another library's placeholder
            return match[0]
        return chr(_FIRST + min(len(self.placeholders) - 1, _MOST - 1))


def _faults_of_tags(html: str) -> Iterator[str]:
    for match in _TAG.finditer(html):
        yield (
            f"line {_line(html, match.start())}: Liquid's {match[0][:40]!r} is not "
            "supported; write out its result"
        )


def _line(html: str, at: int) -> int:
    return html.count("\n", 0, at) + 1


def value_of(columns: Mapping[str, str], column: str) -> str:
    """Return an item's value in a column; `a.b` is also part b of the object in a."""
    if column in columns:
        return columns[column]
    first, _, rest = column.partition(".")
    return liquid.part_of(columns.get(first, ""), rest) if rest else ""


def has_column(columns: Mapping[str, str], column: str) -> bool:
    """Return whether an item has a column, or an object that may have the part."""
    return column in columns or column.partition(".")[0] in columns


def is_address(text: str) -> bool:
    """Return whether a page may load or link to the text as an address.

    Browsers ignore spaces around it.

    >>> is_address("https://a.org/b.jpg"), is_address("javascript:alert(1)")
    (True, False)
    """
    text = text.strip()
    if re.search(r"[\s\\]", text):
        return False
    if text.startswith("/") and not text.startswith("//"):
        return True
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    if parts.scheme == "data":
        return re.match(r"data:(?:image|audio|video)/", text) is not None
    return parts.scheme in {"http", "https"} and bool(parts.hostname)


def joined(texts: Sequence[str], values: Sequence[str]) -> str:
    """Return the texts with the values between them."""
    parts = [texts[0]]
    for value, text in zip(values, texts[1:], strict=True):
        parts += [value, text]
    return "".join(parts)
