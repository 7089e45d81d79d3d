"""Mutations that Cosmic Ray does not have, as operators of a provider of ours.

Each takes a node of the syntax tree and gives the texts that may stand in its place.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, ClassVar

from parso.python.tree import Name

from tests.mutants import sql

Node = Any
"""A node of parso's tree, which has no types."""

Variants = Callable[[Node], Iterator[str]]
_THREE = 3  # brackets, and what is between them

Position = tuple[tuple[int, int], tuple[int, int]]


def _changed_sql(node: Node) -> Iterator[str]:
    """A query with another condition."""
    if node.type in {"string", "fstring_string"}:
        for start, end, text in sql.changes(node.value):
            yield node.value[:start] + text + node.value[end:]


def _dropped_statement(node: Node) -> Iterator[str]:
    """Nothing in place of a call, a `raise` or an `x += y`."""
    if node.type != "simple_stmt":
        return
    statement = node.children[0]
    is_call = statement.type == "atom_expr" and _text(statement).endswith(")")
    is_sum = statement.type == "expr_stmt" and (_text(statement.children[1]) in {"+=", "-=", "|="})
    if statement.type == "raise_stmt" or is_call or is_sum:
        yield "pass\n"


def _dropped_element(node: Node) -> Iterator[str]:
    """An element less in a display, a named or starred argument less in a call."""
    for elements, brackets in _sequences(node):
        for left_out, element in enumerate(elements):
            is_plain = element[0].type != "argument"
            if is_plain and brackets == "()":
                continue
            rest = elements[:left_out] + elements[left_out + 1 :]
            yield _joined(rest, brackets)


def _swapped_elements(node: Node) -> Iterator[str]:
    """Two neighbours of a list or tuple, or starred arguments, in the other order.

    Other arguments mostly have types of their own, which the type checker holds.
    """
    for elements, brackets in _sequences(node):
        for place, (left, right) in enumerate(pairwise(elements)):
            is_display = node.type == "atom" and brackets != "{}"
            if is_display or (_is_starred(left) and _is_starred(right)):
                swapped = [*elements]
                swapped[place : place + 2] = right, left
                yield _joined(swapped, brackets)


def _sequences(node: Node) -> Iterator[tuple[list[list[Node]], str]]:
    """The elements of a display or a call, if the node is one, and its brackets."""
    if node.type not in {"atom", "trailer"} or len(node.children) != _THREE:
        return
    opening, inside, closing = node.children
    brackets = _text(opening) + _text(closing)
    is_list = inside.type in {"arglist", "testlist_comp", "dictorsetmaker"}
    nodes = inside.children if is_list else [inside]
    is_subscript = node.type == "trailer" and brackets != "()"
    is_expression = node.type == "atom" and brackets == "()" and not is_list
    if is_subscript or is_expression or any(map(_is_comprehension, nodes)):
        return
    elements: list[list[Node]] = [[]]
    for child in nodes:
        if child.type == "operator" and child.value == ",":
            elements.append([])
        else:
            elements[-1].append(child)
    yield [element for element in elements if element], brackets


def _is_comprehension(node: Node) -> bool:
    last = node.children[-1] if node.type == "argument" else node
    return str(last.type) in {"comp_for", "sync_comp_for"}


def _is_starred(element: list[Node]) -> bool:
    return element[0].type == "argument" and _text(element[0]).startswith("*")


def _joined(elements: list[list[Node]], brackets: str) -> str:
    texts = [" ".join(_text(child) for child in element) for element in elements]
    return f"{brackets[0]}{', '.join(texts)}{brackets[1]}"


def _text(node: Node) -> str:
    return str(node.get_code(include_prefix=False))


class _Operator:
    """What Cosmic Ray asks of an operator."""

    variants: ClassVar[Variants]

    def mutation_positions(self, node: Node) -> Iterator[Position]:
        """One position for each text that may stand in the node's place."""
        for _ in type(self).variants(node):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Node, index: int) -> Node:
        """A node that prints as the chosen text."""
        text = list(type(self).variants(node))[index]
        return Name(text, node.start_pos, prefix=node.get_first_leaf().prefix)

    @classmethod
    def arguments(cls) -> tuple[()]:
        """None are taken."""
        return ()


def _operator(variants: Variants) -> type[_Operator]:
    return type("Operator", (_Operator,), {"variants": staticmethod(variants)})


class Provider:
    """Operators by name, as Cosmic Ray asks a provider for them."""

    _operators: ClassVar = {
        "Sql": _operator(_changed_sql),
        "DroppedStatement": _operator(_dropped_statement),
        "DroppedElement": _operator(_dropped_element),
        "SwappedElements": _operator(_swapped_elements),
    }

    def __iter__(self) -> Iterator[str]:
        return iter(self._operators)

    def __getitem__(self, name: str) -> type[_Operator]:
        return self._operators[name]
