"""Parses untrusted XML into a tree that knows each element's position, and walks it.

Document types are refused unread, so there are no entities to expand and no addresses
to fetch. Depth is bounded, so code that walks the tree cannot overflow the stack. A schema
sequence is read by taking children in order; any other child is a fault with its position.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from xml.parsers import expat

from piecework.marketplace.exceptions import Refusal, invalid_parameters, invalid_xml

LARGEST_BYTES = 65_535
DEEPEST = 32
SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An element.

    Attributes:
        name: the name without its namespace.
        content: texts and elements, in order.
        line: the line where it begins, from 1.
        column: the column where it begins, from 0.
    """

    name: str
    namespace: str
    attributes: Mapping[str, str]
    content: tuple["Node | str", ...]
    line: int
    column: int

    @property
    def children(self) -> tuple["Node", ...]:
        """The elements in it."""
        return tuple(part for part in self.content if isinstance(part, Node))

    @property
    def text(self) -> str:
        """Its own text, without that of its elements."""
        return "".join(part for part in self.content if isinstance(part, str))


def parse(text: str, *, what: str, comments: bool = True) -> Node:
    """Parse a document and return its root.

    Args:
        text: the document.
        what: its name in complaints.
        comments: whether it may have comments and processing instructions.

    Raises:
        Refusal: `ParameterValidationError` with the position and the complaint.
    """
    encoded = text.encode(errors="replace")
    if len(encoded) > LARGEST_BYTES:
        raise invalid_parameters(f"{what} must have at most {LARGEST_BYTES} bytes.")
    return _Builder(comments=comments).read(encoded)


def fault(node: Node, complaint: str) -> Refusal:
    """Return a complaint about an element, with its position."""
    return _fault_at(node.line, node.column, complaint)


def _fault_at(line: int, column: int, complaint: str) -> Refusal:
    return invalid_xml(f"line {line}, column {column}: {complaint}")


@dataclass(slots=True)
class _Open:
    """An element that is still open."""

    tag: str
    attributes: dict[str, str]
    line: int
    column: int
    content: list[Node | str]

    def closed(self) -> Node:
        namespace, _, name = self.tag.rpartition(" ")
        return Node(
            name=name,
            namespace=namespace,
            attributes=self.attributes,
            content=tuple(self.content),
            line=self.line,
            column=self.column,
        )


class _Builder:
    """Builds the tree of one document from expat's events."""

    def __init__(self, *, comments: bool) -> None:
        # The text came as Unicode, so the encoding in its declaration no longer
        # applies.
        self._parser = expat.ParserCreate("utf-8", " ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.StartDoctypeDeclHandler = self._doctype
        if not comments:
            self._parser.CommentHandler = self._comment
            self._parser.ProcessingInstructionHandler = self._instruction
        self._open: list[_Open] = []
        self._root: Node | None = None

    def read(self, encoded: bytes) -> Node:
        try:
            self._parser.Parse(encoded, True)  # noqa: FBT003 - expat's own signature
        except expat.ExpatError as error:
            raise _fault_at(
                error.lineno, error.offset, f"{expat.ErrorString(error.code)}."
            ) from error
        if self._root is None:
            raise self._here("the document is empty.")
        return self._root

    def _here(self, complaint: str) -> Refusal:
        return _fault_at(
            self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber, complaint
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self._open) >= DEEPEST:
            raise self._here(f"elements are nested more than {DEEPEST} deep.")
        line = self._parser.CurrentLineNumber
        column = self._parser.CurrentColumnNumber
        self._open.append(_Open(tag, attributes, line, column, []))

    def _end(self, _tag: str) -> None:
        node = self._open.pop().closed()
        if self._open:
            self._open[-1].content.append(node)
        else:
            self._root = node

    def _characters(self, text: str) -> None:
        self._open[-1].content.append(text)

    def _doctype(self, *_declared: object) -> None:
        raise self._here("document types and entities are not allowed.")

    def _comment(self, _text: str) -> None:
        raise self._here("comments are not allowed here.")

    def _instruction(self, _target: str, _text: str) -> None:
        raise self._here("processing instructions are not allowed here.")


_INTEGER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class Children:
    """The children of an element that holds only elements."""

    def __init__(self, node: Node, *, attributes: Collection[str] = ()) -> None:
        check_attributes(node, attributes)
        if node.text.strip():
            raise fault(node, f"{node.name} holds elements, not text.")
        self._node = node
        self._rest = list(node.children)
        for child in self._rest:
            if child.namespace != node.namespace:
                raise fault(child, f"{_shown(child)} is in another namespace.")

    def optional(self, *names: str) -> Node | None:
        """Take the next child if it has one of these names."""
        if self._rest and self._rest[0].name in names:
            return self._rest.pop(0)
        return None

    def required(self, *names: str) -> Node:
        """Take the next child, which must have one of these names."""
        child = self.optional(*names)
        if child is not None:
            return child
        wanted = " or ".join(names)
        if not self._rest:
            raise fault(self._node, f"{self._node.name} must hold {wanted}.")
        raise fault(
            self._rest[0],
            f"{wanted} was expected in {self._node.name} (found {_shown(self._rest[0])}).",
        )

    def many(self, *names: str, least: int = 0) -> list[Node]:
        """Take all next children with these names."""
        children = [self.required(*names) for _ in range(least)]
        while (node := self.optional(*names)) is not None:
            children.append(node)
        return children

    def end(self) -> None:
        """Check that no child is left."""
        if self._rest:
            raise fault(
                self._rest[0], f"{_shown(self._rest[0])} is not expected in {self._node.name} here."
            )


def text_of(node: Node) -> str:
    """Return the text of an element that holds only text."""
    check_attributes(node, ())
    if node.children:
        raise fault(node, f"{node.name} may hold only text; wrap markup in CDATA.")
    return node.text


def word_of(node: Node, *, longest: int = 256) -> str:
    """Return text that is not empty, without white space around it.

    Its line breaks are line feeds, as browsers read them from a page.
    """
    word = text_of(node).strip().replace("\r\n", "\n").replace("\r", "\n")
    if not 0 < len(word) <= longest:
        raise fault(node, f"{node.name} must have 1 to {longest} characters.")
    return word


def integer_of(node: Node, *, least: int | None = None) -> int:
    """Return a whole number that is at least `least`."""
    return _integer(node, node.name, text_of(node).strip(), least)


def boolean_of(node: Node) -> bool:
    """Return a boolean, written as `true`, `false`, `1` or `0`."""
    word = text_of(node).strip()
    if word not in _BOOLEANS:
        raise fault(node, f"{node.name} must be true or false (found {word[:20]!a}).")
    return _BOOLEANS[word]


def choice_of(node: Node, allowed: Collection[str]) -> str:
    """Return the text, which must be one of the allowed words."""
    word = text_of(node).strip()
    if word not in allowed:
        raise fault(node, f"{node.name} must be one of {', '.join(allowed)} (found {word[:40]!a}).")
    return word


def check_empty(node: Node, *, attributes: Collection[str]) -> dict[str, str]:
    """Return the attributes of an empty element."""
    check_attributes(node, attributes)
    if node.children or node.text.strip():
        raise fault(node, f"{node.name} must be empty.")
    return dict(node.attributes)


def integer_attribute(node: Node, name: str, *, least: int | None = None) -> int | None:
    """Return a whole number from an attribute; None if it is missing."""
    value = node.attributes.get(name)
    return None if value is None else _integer(node, name, value.strip(), least)


def check_attributes(node: Node, allowed: Collection[str]) -> None:
    """Check that the element has no other attributes.

    Attributes of XML Schema itself (`xsi:schemaLocation`) may stand on any element.
    """
    for name in node.attributes:
        if name not in allowed and not name.startswith(_SCHEMA_INSTANCE):
            raise fault(node, f"{node.name} has no attribute {name[:40]!a}.")


_SCHEMA_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance "


def _integer(node: Node, name: str, word: str, least: int | None) -> int:
    if not _INTEGER.fullmatch(word):
        raise fault(node, f"{name} must be a whole number (found {word[:20]!a}).")
    value = int(word)
    if least is not None and value < least:
        raise fault(node, f"{name} must be at least {least} (found {value}).")
    return value


def _shown(node: Node) -> str:
    return node.name[:60]
