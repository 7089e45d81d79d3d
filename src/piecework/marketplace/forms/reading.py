"""Parses untrusted XML into a tree that knows each element's position.

Document types are refused unread, so there are no entities to expand and no addresses
to fetch. Depth is bounded, so code that walks the tree cannot overflow the stack.
"""

from collections.abc import Mapping
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
