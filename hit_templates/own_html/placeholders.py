"""Placeholders for item values: `${column}` and `{{ task.input.column | filter: "x" }}`.

The first is MTurk's and Turkle's, the second SageMaker's (a part of Liquid, with its
usual filters). Values are escaped for their place, so that an item cannot break out of
its text or run a script. A column of markup must be declared as such. `${...}` inside a
JavaScript template literal is JavaScript's own, unless the items have a column of that
name.

The items of a CSV are texts, so a list or an object is its JSON, which `to_json`
returns. Filters that let Amazon's servers read a bucket return the value unchanged.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import quote

from piecework.domain.task import HtmlPage
from piecework.hit_templates.own_html.escaping import Place, places, written

_PATH = re.compile(r"task\.(?:input\.)?([\w$-]+(?:\.[\w$-]+|\[['\"][^'\"]+['\"]\])*)")
_ARGUMENT = re.compile(r'"([^"]*)"|\'([^\']*)\'|([^\s,]+)')
_STRIPPED = re.compile(r"<[^>]*>")


class Filter(NamedTuple):
    """A filter's name and the arguments after its colon."""

    name: str
    arguments: tuple[str, ...]


def read_liquid(source: str) -> tuple[str, tuple[Filter, ...], tuple[str, ...]] | None:
    """Return the column, filters and unknown filters of text between double braces.

    `None` if the text does not refer to an item.

    >>> read_liquid(" task.input.url | grant_read_access ")
    ('url', (Filter(name='grant_read_access', arguments=()),), ())
    """
    first, *rest = _split(source)
    path = _PATH.fullmatch(first.strip())
    if path is None:
        return None
    column = re.sub(r"\[['\"]([^'\"]+)['\"]\]", r".\1", path[1])
    filters = []
    for part in rest:
        name, _, arguments = part.strip().partition(":")
        texts = [
            next(group for group in match.groups() if group is not None)
            for match in _ARGUMENT.finditer(arguments)
        ]
        filters.append(Filter(name.strip(), tuple(texts)))
    unknown = tuple(filter_.name for filter_ in filters if filter_.name not in _KNOWN)
    return column, tuple(filters), unknown


AS_MARKUP = "skip_autoescape"
"""The filter of a value that is markup."""


def applied(text: str, filters: tuple[Filter, ...]) -> tuple[str, bool]:
    """Return the filtered value, and whether it is now markup."""
    is_markup = False
    for name, arguments in filters:
        if name == AS_MARKUP:
            is_markup = True
        elif name in _FILTERS:
            text = _FILTERS[name](text, arguments)
    return text, is_markup


def part_of(cell: str, path: str) -> str:
    """Return a part of an object written as JSON; "" if the part is missing."""
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return ""
    for name in path.split("."):
        if isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        elif isinstance(value, dict) and name in value:
            value = value[name]
        else:
            return ""
    return value if isinstance(value, str) else json.dumps(value)


def _split(source: str) -> list[str]:
    """Split at bars outside quotes."""
    parts = [""]
    for piece in re.findall(r"""\||[^|"']+|"[^"]*"|'[^']*'|["']""", source):
        if piece == "|":
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _json(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    return json.dumps(value if isinstance(value, list | dict) else text)


def _argument(arguments: tuple[str, ...], at: int = 0, default: str = "") -> str:
    return arguments[at] if len(arguments) > at else default


def _whole(text: str, default: int) -> int:
    return int(text) if text.isdecimal() else default


def _truncated(text: str, arguments: tuple[str, ...]) -> str:
    most, tail = _whole(_argument(arguments), 50), _argument(arguments, 1, "...")
    return text if len(text) <= most else text[: max(most - len(tail), 0)] + tail


_FILTERS: Mapping[str, Callable[[str, tuple[str, ...]], str]] = {
    "to_json": lambda text, _: _json(text),
    "json": lambda text, _: _json(text),
    "upcase": lambda text, _: text.upper(),
    "downcase": lambda text, _: text.lower(),
    "capitalize": lambda text, _: text[:1].upper() + text[1:],
    "strip": lambda text, _: text.strip(),
    "lstrip": lambda text, _: text.lstrip(),
    "rstrip": lambda text, _: text.rstrip(),
    "strip_html": lambda text, _: _STRIPPED.sub("", text),
    "strip_newlines": lambda text, _: re.sub(r"\r?\n", "", text),
    "url_encode": lambda text, _: quote(text, safe=""),
    "size": lambda text, _: str(len(text)),
    "default": lambda text, arguments: text or _argument(arguments),
    "append": lambda text, arguments: text + _argument(arguments),
    "prepend": lambda text, arguments: _argument(arguments) + text,
    "remove": lambda text, arguments: text.replace(_argument(arguments), ""),
    "replace": lambda text, arguments: text.replace(_argument(arguments), _argument(arguments, 1)),
    "truncate": _truncated,
}

_KNOWN = frozenset(
    {
        *_FILTERS,
        # Values are escaped anyway, and no bucket needs access.
        *("escape", "escape_once", AS_MARKUP),
        *("grant_read_access", "s3_presign"),
    }
)


_FIRST = 0xF0000
MARKS = re.compile("[\U000f0000-\U000ffffd]")
"""Private-use characters; each stands for a placeholder while a page is read."""

_MOST = 0xFFFE

_NAME = r"[^\s{}$`'\"()]+(?: [^\s{}$`'\"()]+)*"
_GAP = re.compile(rf"\$\{{\s*({_NAME})\s*\}}|\{{\{{(.+?)\}}\}}", re.DOTALL)
_TAG = re.compile(r"\{%(?:(?!\{%).)*?%\}", re.DOTALL)


_FOR = re.compile(r"\{%-?\s*for\s+(\w+)\s+in\s+task\.(?:input\.)?(\w+)\s*-?%\}")
_END_FOR = re.compile(r"\{%-?\s*endfor\s*-?%\}")
_ON_LINES = re.compile(r"<(?:script|pre|textarea)\b", re.IGNORECASE)


def unrolled(html: str, times: int, *, columns: Collection[str] = ()) -> str:
    """Return a page with its loops over the items of a HIT written out, as numbered parts.

    `{{ item.url }}` becomes `{{ task.input.1_url }}`, and `{{ forloop.index }}` a number.

    Args:
        html: the page.
        times: how many items a HIT shows at most.
        columns: of the items; a loop over what one of them holds stays as it is.

    >>> page = "{% for it in task.items %}{{ it.a | upcase }}{{ forloop.index }} {% endfor %}"
    >>> unrolled(page, 2)
    '{{ task.input.1_a | upcase }}1 {{ task.input.2_a | upcase }}2 '
    """
    pieces, at = list[str](), 0
    for begins, ends in _loops(html, columns):
        name, body = str(begins[1]), html[begins.end() : ends.start()]
        parts = [
            _of_item(body, name, number, prefix=f"{number}_" if times > 1 else "")
            for number in range(1, times + 1)
        ]
        if not _ON_LINES.search(body):  # so that later lines keep their numbers
            parts[1:] = [part.replace("\n", " ") for part in parts[1:]]
        pieces += [html[at : begins.start()], *parts]
        at = ends.end()
    return "".join((*pieces, html[at:]))


def loop_in(html: str, columns: Collection[str]) -> tuple[int, str] | None:
    """Return the line and the tag of the first loop over the items of a HIT, if any."""
    begins, _ = next(_loops(html, columns), (None, None))
    return None if begins is None else (_line(html, begins.start()), begins[0])


def _loops(html: str, columns: Collection[str]) -> Iterator[tuple[re.Match[str], re.Match[str]]]:
    """Yield both tags of each loop that has no other tag inside."""
    for tag, after in pairwise(_TAG.finditer(html)):
        begins = _FOR.fullmatch(html, tag.start(), tag.end())
        if begins and begins[2] not in columns and _END_FOR.fullmatch(after[0]):
            yield begins, after


def _of_item(body: str, name: str, number: int, *, prefix: str) -> str:
    def named(match: re.Match[str]) -> str:
        path = re.sub(r"\[['\"]([^'\"]+)['\"]\]", r".\1", match[1]).strip(".") or name
        return f"{{{{ task.input.{prefix}{path}{match[2]}}}}}"

    for index, value in (("index0", number - 1), ("index", number)):
        body = re.sub(rf"\{{\{{\s*forloop\.{index}\s*\}}\}}", str(value), body)
    own = (
        rf"\{{\{{\s*{name}((?:\.[\w$-]+|\[['\"][^'\"]+['\"]\])*)(\s*(?:\|(?:(?!\{{\{{).)*?)?)\}}\}}"
    )
    return re.sub(own, named, body, flags=re.DOTALL)


_FOR_MARKUP = frozenset(
    {"skip_autoescape", "strip_html", "escape", "escape_once", "to_json", "json"}
)
"""Filters of an author who thought of markup."""

_Placeholder = tuple[str, tuple[Filter, ...], int, str]
"""Column, filters, line, and the text as the page has it."""

_INPUT = re.compile(r"\{\{\s*task\.input\b")
_LIQUID = re.compile(r"\{[{%][^{}]*\btask\.|<crowd-", re.IGNORECASE)
"""What a page has whose braces are Liquid's; other libraries write `{% ... %}`, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A place for a value.

    Attributes:
        column: the item's column.
        filters: the filters to apply to the value, in order.
        place: where the placeholder is.
        line: of the file, from 1.
        is_raw: whether MTurk would have inserted the value as it is.
        otherwise: the text for an item without the column; "": the item needs it.
        position: of the item on a page that shows several; 0: of any.
    """

    column: str
    filters: tuple[Filter, ...]
    place: Place
    line: int
    is_raw: bool = False
    otherwise: str = ""
    position: int = 0

    @property
    def inserts_markup(self) -> bool:
        """Whether markup in the value becomes a part of the page."""
        is_trusted = any(filter_.name == AS_MARKUP for filter_ in self.filters)
        return is_trusted or self.makes_markup_safe

    @property
    def makes_markup_safe(self) -> bool:
        """Whether markup in the value becomes a part of the page, but no script does."""
        return self.is_raw and self.place.context == "text"

    @property
    def shows_markup(self) -> bool:
        """Whether markup in the value would be shown as text."""
        names = {filter_.name for filter_ in self.filters}
        is_text = self.place.context == "text" and not self.is_raw
        return is_text and not names & _FOR_MARKUP


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
    def links(self) -> tuple[str, ...]:
        """The columns to which the page links."""
        columns = (gap.column for gap in self.gaps if gap.place.context == "link")
        return tuple(dict.fromkeys(columns))

    @property
    def possible_addresses(self) -> tuple[str, ...]:
        """Columns in scripts and links that are addresses if the items have pictures there."""
        columns = (
            gap.column for gap in self.gaps if gap.place.begins_value or gap.place.context == "link"
        )
        return tuple(column for column in dict.fromkeys(columns) if column not in self.addresses)

    @property
    def shows_cells(self) -> bool:
        """Whether the inputs of a cell become a part of the page."""
        return any(gap.inserts_markup for gap in self.gaps)

    @property
    def marked(self) -> str:
        """The page with a mark for each gap, for code that reads its tags."""
        return joined(self.texts, [chr(_FIRST + n) for n in range(len(self.gaps))])

    def filled(self, *items: Mapping[str, str]) -> str:
        """Return the page of items, each with its columns."""
        return joined(self.texts, self.values(*items))

    def values(self, *items: Mapping[str, str]) -> list[str]:
        """Return the items' values for the gaps, escaped for their places."""
        return [self._value(gap, items) for gap in self.gaps]

    def numbered(self, columns: Mapping[str, tuple[str, int]]) -> "Template":
        """Return the page with the column and position of each numbered placeholder."""
        named = (columns.get(gap.column, (gap.column, 0)) for gap in self.gaps)
        gaps = (
            replace(gap, column=column, position=position)
            for gap, (column, position) in zip(self.gaps, named, strict=True)
        )
        return replace(self, gaps=tuple(gaps))

    def _value(self, gap: Gap, items: Sequence[Mapping[str, str]]) -> str:
        if gap.position > len(items):  # in a script, which is the same for any number
            return written("", gap.place, is_raw=gap.is_raw)
        columns = items[max(gap.position - 1, 0)]
        if gap.otherwise and gap.column not in columns:
            return gap.otherwise
        text, is_markup = applied(value_of(columns, gap.column), gap.filters)
        return written(text, gap.place, is_trusted_markup=is_markup, is_raw=gap.is_raw)


def number_of_mark(mark: str) -> int:
    """Return the index of the gap that a mark stands for."""
    return ord(mark) - _FIRST


def is_mark(text: str) -> bool:
    """Return whether a text of a marked page holds a placeholder."""
    return MARKS.search(text) is not None


def template_of(page: HtmlPage) -> Template:
    """Return a task's page, cut at its placeholders."""
    return _template(page.html, page.numbered)


@lru_cache(maxsize=32)
def _template(html: str, numbered: tuple[tuple[str, str, int], ...]) -> Template:
    places = {name: (column, position) for name, column, position in numbered}
    return cut(html).numbered(places) if numbered else cut(html)


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
            is_raw=literal.startswith("$"),
            otherwise=literal if _may_be_other(literal, place) else "",
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


def _may_be_other(literal: str, place: Place) -> bool:
    """Return whether nothing is lost where items lack a placeholder's column.

    A comment is not shown; a template literal, a pattern or `{{ task.name }}` without
    `input` may be another program's.
    """
    if place.context == "comment" or place.in_script in {"comment", "pattern"}:
        return True
    if literal.startswith("$"):
        return place.in_script == "template literal"
    return not _INPUT.match(literal)


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
        elif (read := read_liquid(match[2])) is not None:
            column, filters, unknown = read
            if unknown and not _INPUT.match(match[0]):
                return match[0]
            self.placeholders.append((column, filters, line, match[0]))
            self.faults += [f"line {line}: there is no filter {name!r}" for name in unknown]
        else:  # another library's placeholder
            return match[0]
        return chr(_FIRST + min(len(self.placeholders) - 1, _MOST - 1))


def _faults_of_tags(html: str) -> Iterator[str]:
    for match in _TAG.finditer(html) if _LIQUID.search(html) else ():
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
    return part_of(columns.get(first, ""), rest) if rest else ""


def has_column(columns: Mapping[str, str], column: str) -> bool:
    """Return whether an item has a column, or an object that may have the part."""
    return column in columns or column.partition(".")[0] in columns


def joined(texts: Sequence[str], values: Sequence[str]) -> str:
    """Return the texts with the values between them."""
    parts = [texts[0]]
    for value, text in zip(values, texts[1:], strict=True):
        parts += [value, text]
    return "".join(parts)
