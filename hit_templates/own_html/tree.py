"""Reads a page as a browser does: elements, texts and comments, with their lines.

Stray quotes, unclosed tags and nested forms are read as every browser reads them. Lexbor
is loaded when the first page is read, so that commands without a page do not load it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import TYPE_CHECKING, Literal

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
