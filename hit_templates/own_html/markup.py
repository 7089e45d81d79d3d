"""Markup as a browser reads it, and of an items file without what runs, loads or sends anything.

Stray quotes, unclosed tags and nested forms are read as every browser reads them. Lexbor
is loaded when the first page is read, so that commands without a page do not load it.

MTurk inserted cells into the page as they were, so requesters put tables, emphasis and
inputs into them. A cell may also be text that somebody else wrote. So what a cell may hold
is listed here, pictures and sounds among it, and everything is written again: all text and
every value is escaped.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape, unescape
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_COMMON = frozenset(
    {
        *("a", "abbr", "audio", "b", "blockquote", "br", "button", "center", "code"),
        *("dd", "del", "div", "dl", "dt", "em", "font", "h1", "h2", "h3", "h4", "h5"),
        *("h6", "hr", "i", "iframe", "img", "input", "ins", "label", "li", "mark"),
        *("ol", "option", "p", "pre", "q", "s", "select", "small", "source", "span"),
        *("strike", "strong", "sub", "sup", "svg", "table", "td", "textarea", "th"),
        *("tr", "u", "ul", "video"),
    }
)
"""Elements that a cell of an items file may hold; a name such as <John> is a text."""

_MAY_BE_MARKUP = re.compile(r"</?[a-zA-Z]|&(?:[a-zA-Z]{2,31}|#[0-9]+|#x[0-9a-f]+);")
_TAG_BEGINS = re.compile(r"<(?=[A-Za-z])")
_LINE = "piecework-line-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step through the tree, in the order of the document.

    Attributes:
        name: the element's name in small letters; for a text, its element's.
        text: the text of a text or a comment, with references resolved.
        attributes: of an element's start, by name in small letters; an attribute
            without a value has "".
        number: how many elements began before this element's start.
    """

    kind: Literal["start", "end", "text", "comment"]
    name: str = ""
    text: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    number: int = 0


def steps(html: str) -> Iterator[Step]:
    """Yield the page's elements, texts and comments; templates' contents too."""
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415 - see above

    tree = LexborHTMLParser(html)
    number, parents = 0, [""]
    first = tree.root
    while first is not None and first.prev is not None:  # comments before <html>
        first = first.prev
    todo: list[tuple[LexborNode, bool]] = [] if first is None else [(first, False)]
    while todo:
        node, is_left = todo.pop()
        if is_left:
            yield Step(kind="end", name=parents.pop())
            continue
        if node.next is not None:
            todo.append((node.next, False))
        if not node.is_element_node:
            yield from _of_characters(node, parents[-1])
            continue
        parents.append((node.tag or "").lower())
        attributes = {key: value or "" for key, value in node.attributes.items()}
        yield Step(kind="start", name=parents[-1], attributes=attributes, number=number)
        number += 1
        todo.append((node, True))
        todo += ((child, False) for child in _first_child(node))


def _of_characters(node: "LexborNode", name: str) -> Iterator[Step]:
    if node.is_text_node:
        yield Step(kind="text", name=name, text=node.text_content or "")
    elif node.is_comment_node:
        yield Step(kind="comment", text=node.comment_content or "")


def _first_child(node: "LexborNode") -> "list[LexborNode]":
    child = node.child
    if node.tag == "template":
        child = next((part.child for part in node.template_fragments()), None)
    return [] if child is None else [child]


def is_markup(text: str) -> bool:
    """Return whether a browser shows the text differently from its characters.

    >>> is_markup("a<br>b"), is_markup("&eacute;"), is_markup("a < b"), is_markup("<3")
    (True, True, False, False)
    """
    if not _MAY_BE_MARKUP.search(text):
        return False
    return any(step.name in _COMMON for step in steps(f"<template>{text}")) or (
        unescape(text) != text and "<" not in text
    )


def lines_of(html: str) -> list[int]:
    """Return the line of each element's start, in the order of `Step.number`.

    The tree has no lines, so the page is read a second time with a comment before each
    tag. A message may name a neighbouring line where tags are not closed.
    """
    lines: list[int] = []
    marked, at, line = [], 0, 1
    for match in _TAG_BEGINS.finditer(html):
        line += html.count("\n", at, match.start())
        marked.append(f"{html[at : match.start()]}<!{_LINE}{line}>")
        at = match.start()
    marked.append(html[at:])
    current = 1
    for step in steps("".join(marked)):
        if step.kind == "comment" and step.text.startswith(_LINE):
            current = int(step.text.removeprefix(_LINE))
        elif step.kind == "start":
            lines.append(current)
    return lines


_VOID = frozenset({"area", "br", "col", "hr", "img", "input", "source", "track", "wbr"})

_CONTROLS = frozenset({"button", "input", "select", "textarea"})

_ELEMENTS = (
    _VOID
    | _CONTROLS
    | frozenset(
        {
            *("a", "abbr", "acronym", "address", "article", "aside", "audio", "b", "bdi", "bdo"),
            *("big", "blockquote", "caption", "center", "cite", "code", "colgroup", "datalist"),
            *("dd", "del", "details", "dfn", "div", "dl", "dt", "em", "fieldset", "figcaption"),
            *("figure", "font", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "i"),
            *("ins", "kbd", "label", "legend", "li", "main", "map", "mark", "meter", "nav"),
            *("ol", "optgroup", "option", "output", "p", "picture", "pre", "progress", "q", "rp"),
            *("rt", "ruby", "s", "samp", "section", "small", "span", "strike", "strong", "sub"),
            *("summary", "sup", "table", "tbody", "td", "tfoot", "th", "thead", "time", "tr"),
            *("tt", "u", "ul", "var", "video"),
        }
    )
)
"""Elements that stay; of others, only what they hold."""

_LEFT_OUT = frozenset(
    {"embed", "iframe", "math", "noscript", "object", "script", "style", "svg", "title"}
)
"""Elements that go with all that they hold."""

_HARMLESS = frozenset(
    {
        *("alt", "checked", "class", "colspan", "controls", "disabled", "height", "hidden"),
        *("id", "loop", "max", "maxlength", "min", "multiple", "muted", "open", "placeholder"),
        *("readonly", "required", "rowspan", "selected", "size", "step", "title", "value"),
        "width",
    }
)
"""Attributes that any element of a page may get from a cell."""

_ATTRIBUTES = _HARMLESS | frozenset(
    {
        *("align", "bgcolor", "border", "cellpadding", "cellspacing", "color", "cols", "coords"),
        *("datetime", "dir", "face", "for", "label", "lang", "list", "nowrap", "pattern"),
        *("poster", "preload", "rel", "role", "rows", "scope", "shape", "span", "start"),
        *("style", "tabindex", "target", "type", "usemap", "valign", "wrap"),
    }
)

_LOADED = frozenset({"href", "poster", "src"})

_IS_LOADED = re.compile(
    r"(?:https?:|mailto:|data:(?:image|audio|video)/|[^:]*(?:[/?#]|\Z))", re.IGNORECASE
)
"""How an address begins that runs nothing; browsers leave out spaces in it."""

_REFERENCE = re.compile(r"&(?:[a-zA-Z][a-zA-Z0-9]*|#[0-9]+|#[xX][0-9a-fA-F]+);")


def decoded(value: str) -> str:
    """Return a text with its references to characters resolved.

    >>> decoded("R&amp;D &#39;a&#39; ?a=1&copy=2")
    "R&D 'a' ?a=1&copy=2"
    """
    return _REFERENCE.sub(lambda match: unescape(match[0]), value)


def safe_markup(value: str) -> str:
    """Return the markup of a cell that runs nothing.

    >>> safe_markup('<b onclick="f()">R&D</b><script>g()</script> <p>1 < 2')
    '<b>R&amp;D</b> <p>1 &lt; 2</p>'
    >>> safe_markup('<tr><td><input name=a type=radio value="<">')
    '<tr><td><input name="a" type="radio" value="&lt;"></td></tr>'
    """
    return "".join(_written(_cell(value)))


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


def may_be_linked(address: str) -> bool:
    r"""Return whether an address leads somewhere, and runs nothing.

    >>> may_be_linked("www.a.org/b c"), may_be_linked(" java\\nscript:f()")
    (True, False)
    """
    return _IS_LOADED.match(re.sub(r"[\x00-\x20]", "", address)) is not None


def loses_scripts(value: str) -> bool:
    """Return whether a cell holds what `safe_markup` leaves out."""
    return any(
        step.name in _LEFT_OUT
        or any(
            name.startswith("on") or (name in _LOADED and not _is_kept(step.name, name, text))
            for name, text in step.attributes.items()
        )
        for step in _cell(value)
        if step.kind == "start"
    )


def attributes_of(value: str) -> str:
    """Return the harmless attributes that a cell holds for a tag of the page.

    >>> attributes_of("checked onclick=f()"), attributes_of("")
    (' checked=""', '')
    """
    stated = next((step.attributes for step in steps(f"<p {value}>") if step.name == "p"), {})
    return _as_text({name: text for name, text in stated.items() if name in _HARMLESS})


def _cell(value: str) -> Iterator[Step]:
    """Yield the steps of a cell, which may begin with a row of a table."""
    is_inside = False
    for step in steps(f"<body><template>{value}</template>"):
        if is_inside and step.kind == "end" and step.name == "template":
            return
        if is_inside:
            yield step
        is_inside |= step.kind == "start" and step.name == "template"


def _written(cell: Iterator[Step]) -> Iterator[str]:
    left_out = 0
    for step in cell:
        if step.name in _LEFT_OUT and step.kind != "text":
            left_out += 1 if step.kind == "start" else -1
        elif left_out or step.kind == "comment":
            continue
        elif step.kind == "text":
            yield escape(step.text, quote=False)
        elif step.name in _ELEMENTS and step.kind == "start":
            yield f"<{step.name}{_as_text(_kept(step))}>"
        elif step.name in _ELEMENTS - _VOID:
            yield f"</{step.name}>"


def _kept(step: Step) -> Mapping[str, str]:
    return {name: text for name, text in step.attributes.items() if _is_kept(step.name, name, text)}


def _is_kept(tag: str, name: str, text: str) -> bool:
    if name in _LOADED:
        return may_be_linked(text)
    if name == "name":  # the name of a picture would hide a method of the document
        return tag in _CONTROLS
    return name in _ATTRIBUTES or name.startswith(("data-", "aria-"))


def _as_text(attributes: Mapping[str, str]) -> str:
    return "".join(f' {name}="{escape(text)}"' for name, text in attributes.items())
