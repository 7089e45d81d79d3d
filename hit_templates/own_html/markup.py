"""Finds where in a page a placeholder is, as a browser would read it.

A value must be escaped for its place: text, attribute, address, script or style. The
page is cut into its tags and the text between them. No value is put into a place of an
unknown kind.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

Context = Literal[
    "text", "attribute", "bare", "address", "event", "style", "url", "script", "tag"
]
"""Text between tags, a quoted attribute, one without quotes, the beginning of an
address, JavaScript in an attribute, CSS, an address in CSS, JavaScript, or the inside
of a tag itself."""

ADDRESSES = frozenset(
    {"src", "href", "action", "formaction", "poster", "data", "background"}
)
"""Attributes that hold an address."""

_TAG = r"""</?[a-zA-Z](?:[^>"']|"[^"]*"|'[^']*')*>"""
_PIECE = re.compile(rf"<!--.*?(?:-->|\Z)|{_TAG}|[^<]+|<", re.DOTALL)
_NAME = re.compile(r"</?([a-zA-Z][^\s/>]*)")
_ATTRIBUTE = re.compile(
    r"""([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?"""
)
_URL = re.compile(r"""\burl\(\s*["']?\Z""", re.IGNORECASE)
_RAW = {"script": "script", "style": "style"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a page.

    Attributes:
        kind: the kind of the part; `raw` is the inside of a script or a style.
        name: the tag's name in small letters; for raw text, the element's.
        start: where it begins.
    """

    kind: Literal["tag", "text", "comment", "script", "style"]
    text: str
    start: int
    name: str = ""


def pieces(html: str) -> Iterator[Piece]:
    """Cut the page into pieces, in order; joined they give the page again."""
    at = 0
    while at < len(html):
        match = _PIECE.match(html, at)
        text = match[0] if match else html[at]
        name = ""
        if text.startswith("<!--"):
            kind: Literal["tag", "text", "comment", "script", "style"] = "comment"
        elif len(text) > 1 and text.startswith("<"):
            kind, name = "tag", (_NAME.match(text) or "  ")[1].lower()
        else:
            kind = "text"
        yield Piece(kind=kind, text=text, start=at, name=name)
        at += len(text)
        if kind == "tag" and name in _RAW and not text.startswith("</"):
            end = re.compile(rf"</{name}\b", re.IGNORECASE).search(html, at)
            inside = html[at : end.start() if end else len(html)]
            if inside:
                raw: Literal["script", "style"] = (
                    "script" if name == "script" else "style"
                )
                yield Piece(kind=raw, text=inside, start=at, name=name)
            at += len(inside)


def context(piece: Piece, at: int) -> Context:
    """Return the context at a place in a piece.

    Args:
        piece: a piece of the page.
        at: the offset from the piece's beginning.
    """
    if piece.kind in {"text", "comment"}:
        return "text"
    if piece.kind != "tag":
        return "script" if piece.kind == "script" else _of_style(piece.text[:at])
    for match in _ATTRIBUTE.finditer(piece.text, len(piece.name) + 1):
        for group in (2, 3, 4):
            if match[group] is not None and match.start(group) <= at < match.end(group):
                is_first = at == match.start(group)
                name = match[1].lower()
                if name == "style":
                    return _of_style(piece.text[match.start(group) : at])
                return _of_attribute(name, group, is_first=is_first)
    return "tag"


def _of_style(before: str) -> Context:
    return "url" if _URL.search(before) else "style"


def _of_attribute(name: str, group: int, *, is_first: bool) -> Context:
    if name.startswith("on"):
        return "event"
    if name == "srcdoc":
        return "tag"
    if name in ADDRESSES and is_first:
        return "address"
    return "bare" if group == 4 else "attribute"  # noqa: PLR2004 - the group without quotes


def attributes(tag: str) -> dict[str, str]:
    """Return a start tag's attributes by name, in small letters; references stay."""
    name = _NAME.match(tag)
    start = name.end() if name else 1
    return {
        match[1].lower(): next((text for text in match.groups()[1:] if text), "")
        for match in _ATTRIBUTE.finditer(tag.rstrip("/>"), start)
    }
