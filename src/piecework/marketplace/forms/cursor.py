"""Reads an element's children in the order of its schema.

A schema sequence is read by taking children in order. Any other child is a fault with
its position.
"""

import re
from collections.abc import Collection

from piecework.marketplace.forms.reading import Node, fault

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
    """Return text that is not empty, without white space around it."""
    word = text_of(node).strip()
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


def empty(node: Node, *, attributes: Collection[str]) -> dict[str, str]:
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
