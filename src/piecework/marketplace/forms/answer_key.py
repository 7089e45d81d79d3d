"""AnswerKey: reads how to grade a qualification test, and grades it.

A question scores an option only if exactly that set was chosen, else its default. One
of three mappings turns the sum into the value. Halves are rounded up, as in Java.
"""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise

from piecework.marketplace.forms import reading
from piecework.marketplace.forms.form import Choice, Form
from piecework.marketplace.forms.reading import SCHEMAS, Children, Node, fault, parse

NAMESPACE = f"{SCHEMAS}2005-10-01/AnswerKey.xsd"

LARGEST_VALUE = 2**31 - 1
_LONGEST_NUMBER = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """The scores of the answers to one question."""

    key: str
    options: Mapping[frozenset[str], int]
    default: int

    def score(self, chosen: Collection[str]) -> int:
        """Return the score of a set of selections."""
        return self.options.get(frozenset(chosen), self.default)

    def extremes(self) -> tuple[int, int]:
        """Return the lowest and the highest possible score."""
        scores = (self.default, *self.options.values())
        return min(scores), max(scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The sum times a factor; for a percentage, 100 divided by the maximum."""

    factor: Fraction = Fraction(1)

    def value(self, total: int) -> int:
        """Return the qualification's value, with halves rounded up."""
        return math.floor(total * self.factor + Fraction(1, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranges:
    """A value for each range of sums, and one for all others."""

    ranges: tuple[tuple[int, int, int], ...]
    outside: int

    def value(self, total: int) -> int:
        """Return the qualification's value."""
        for low, high, value in self.ranges:
            if low <= total <= high:
                return value
        return self.outside


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerKey:
    """A checked key."""

    questions: tuple[Scored, ...]
    mapping: Scale | Ranges

    def count_right(self, chosen: Mapping[str, Collection[str]]) -> tuple[int, int]:
        """Return how many questions have their best score, and how many can have one."""
        decisive = [each for each in self.questions if each.extremes()[1] > each.default]
        best = [each.score(chosen.get(each.key, ())) == each.extremes()[1] for each in decisive]
        return sum(best), len(decisive)

    def grade(self, chosen: Mapping[str, Collection[str]]) -> int:
        """Return the value of a test; omitted questions count as unanswered."""
        total = sum(question.score(chosen.get(question.key, ())) for question in self.questions)
        return self.mapping.value(total)

    def values(self) -> list[int]:
        """Return the values at the ends of the scale, or of each range and outside of them."""
        if isinstance(self.mapping, Ranges):
            return [*(value for _, _, value in self.mapping.ranges), self.mapping.outside]
        extremes = zip(*(question.extremes() for question in self.questions), strict=True)
        return [self.mapping.value(sum(total)) for total in extremes]


@lru_cache(maxsize=64)
def read_answer_key(text: str) -> AnswerKey:
    """Read an AnswerKey document.

    Raises:
        Refusal: `ParameterValidationError` with the position and the complaint.
    """
    root = parse(text, what="An AnswerKey")
    if root.name != "AnswerKey" or root.namespace != NAMESPACE:
        raise fault(
            root,
            "the root element must be AnswerKey in the namespace of 2005-10-01 "
            f"(found {root.name[:60]}).",
        )
    children = Children(root)
    questions = tuple(_question(node) for node in children.many("Question", least=1))
    mapping = children.optional("QualificationValueMapping")
    children.end()
    if len({question.key for question in questions}) < len(questions):
        raise fault(root, "two Questions have the same QuestionIdentifier.")
    key = AnswerKey(questions=questions, mapping=Scale() if mapping is None else _mapping(mapping))
    _check_size(root, key)
    return key


def check_against(key_text: str, form: Form) -> AnswerKey:
    """Read a key and check that it can grade this form.

    Raises:
        Refusal: the form has a text field, or lacks a question or selection of the key.
    """
    key = read_answer_key(key_text)
    root = parse(key_text, what="An AnswerKey")
    asked: dict[str, set[str]] = {}
    for question in form.questions:
        if not isinstance(question.answer, Choice) or question.answer.other:
            raise fault(
                root,
                f"the test's question {question.key[:60]!a} has a text field; a key "
                "can grade selections only.",
            )
        asked[question.key] = {selection.key for selection in question.answer.selections}
    for scored in key.questions:
        if scored.key not in asked:
            raise fault(root, f"the test has no question {scored.key[:60]!a}.")
        unknown = set().union(*scored.options) - asked[scored.key]
        if unknown:
            raise fault(
                root, f"the question {scored.key[:60]!a} has no selection {min(unknown)[:60]!a}."
            )
    return key


def _question(node: Node) -> Scored:
    children = Children(node)
    key = reading.word_of(children.required("QuestionIdentifier"))
    options: dict[frozenset[str], int] = {}
    for option in children.many("AnswerOption", least=1):
        inside = Children(option)
        selected = frozenset(
            reading.word_of(identifier)
            for identifier in inside.many("SelectionIdentifier", least=1)
        )
        score = reading.integer_of(inside.required("AnswerScore"))
        inside.end()
        if selected in options:
            raise fault(option, "another AnswerOption has the same selections.")
        options[selected] = score
    default = children.optional("DefaultScore")
    children.end()
    return Scored(
        key=key, options=options, default=0 if default is None else reading.integer_of(default)
    )


def _mapping(node: Node) -> Scale | Ranges:
    children = Children(node)
    mapping = children.required("PercentageMapping", "ScaleMapping", "RangeMapping")
    children.end()
    inside = Children(mapping)
    if mapping.name == "RangeMapping":
        return _ranges(mapping, inside)
    if mapping.name == "PercentageMapping":
        maximum = reading.integer_of(inside.required("MaximumSummedScore"), least=1)
        factor = Fraction(100, maximum)
    else:
        factor = _decimal(inside.required("SummedScoreMultiplier"))
    inside.end()
    return Scale(factor=factor)


def _decimal(node: Node) -> Fraction:
    word = reading.text_of(node).strip()
    digits = word.lstrip("+-").replace(".", "", 1)
    if not (digits.isascii() and digits.isdigit() and len(word) <= _LONGEST_NUMBER):
        raise fault(node, f"{node.name} must be a decimal (found {word[:20]!a}).")
    try:
        return Fraction(word)
    except ValueError as wrong:
        raise fault(node, f"{node.name} must be a decimal.") from wrong


def _ranges(node: Node, inside: Children) -> Ranges:
    ranges = []
    for range_node in inside.many("SummedScoreRange", least=1):
        bounds = Children(range_node)
        low = reading.integer_of(bounds.required("InclusiveLowerBound"))
        high = reading.integer_of(bounds.required("InclusiveUpperBound"))
        value = reading.integer_of(bounds.required("QualificationValue"))
        bounds.end()
        if low > high:
            raise fault(range_node, "InclusiveLowerBound is above InclusiveUpperBound.")
        ranges.append((low, high, value))
    outside = reading.integer_of(inside.required("OutOfRangeQualificationValue"))
    inside.end()
    ordered = sorted(ranges)
    for (_, high, _), (low, _, _) in pairwise(ordered):
        if low <= high:
            raise fault(node, "two ranges overlap.")
    return Ranges(ranges=tuple(ordered), outside=outside)


def _check_size(root: Node, key: AnswerKey) -> None:
    """Check that every possible value is allowed for a qualification."""
    if any(abs(value) > LARGEST_VALUE for value in key.values()):
        raise fault(root, f"a value could exceed {LARGEST_VALUE}.")
