"""AnswerKey: the schema, the three mappings, and an independent grader beside ours."""

from collections.abc import Mapping
from decimal import ROUND_FLOOR, Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from piecework.marketplace.exceptions import Refusal
from piecework.marketplace.forms.answer_key import check_against, read_answer_key
from piecework.marketplace.forms.schema import read_form
from tests.for_each import for_each
from tests.marketplace.documents import choice, form, key, percentage, question, ranges, scale

ONE_QUESTION = {"q": [(["a"], 1)]}


def value(document: str, **chosen: list[str]) -> int:
    """The value that a test with these answers gets."""
    return read_answer_key(document).grade(chosen)


def test_a_set_scores_only_if_it_is_exactly_the_one_of_an_option() -> None:
    """Too few, too many and others get the default, which is nothing unless said."""
    scores = {"q": [(["a", "b"], 10), (["a"], 4), (["c"], -3)]}
    plain = key(scores)
    assert value(plain, q=["b", "a"]) == 10
    assert value(plain, q=["a"]) == 4
    assert value(plain, q=["c"]) == -3
    assert value(plain, q=["b"]) == 0
    assert value(plain, q=["a", "b", "c"]) == 0
    assert value(plain, q=[]) == 0
    assert value(plain) == 0
    assert value(key(scores, defaults={"q": -1}), q=["b"]) == -1


def test_the_examples_of_the_manual() -> None:
    """Fruit and tic-tac-toe: 5 and 10 of 15; ranges of 5 to 7 and 8 to 10."""
    scores = {"nextmove": [(["D"], 5)], "favoritefruit": [(["apples"], 10)]}
    graded = key(scores, mapping=percentage(15))
    assert value(graded, nextmove=["D"], favoritefruit=["apples"]) == 100
    assert value(graded, nextmove=["D"]) == 33  # 5 / 15 = 33.3 %
    assert value(graded, favoritefruit=["apples"]) == 67  # 66.7 %
    ranged = key(scores, mapping=ranges((5, 7, 5), (8, 10, 10), outside=0))
    assert value(ranged, nextmove=["D"]) == 5
    assert value(ranged, favoritefruit=["apples"]) == 10
    assert value(ranged, nextmove=["D"], favoritefruit=["apples"]) == 0  # 15
    assert value(key(scores, mapping=scale("3")), nextmove=["D"]) == 15


@for_each(
    ("score", "mapping", "expected"),
    [
        (1, percentage(8), 13),  # 12.5
        (-1, percentage(8), -12),  # -12.5: up is towards the larger
        (1, percentage(200), 1),  # 0.5
        (3, percentage(2), 150),  # nothing keeps it under 100
        (5, scale("0.5"), 3),  # 2.5
        (-5, scale("0.5"), -2),  # -2.5
        (7, scale("-1.5"), -10),  # -10.5
        (7, scale("0.1"), 1),  # 0.7
        (7, scale(".2"), 1),  # 1.4
        (5, ranges((5, 5, 1), outside=0), 1),
        (6, ranges((5, 5, 1), outside=-2), -2),
    ],
)
def test_halves_are_rounded_up(score: int, mapping: str, expected: int) -> None:
    """By hand, each with the number before rounding."""
    document = key({"q": [(["a"], score)]}, mapping=mapping)
    assert value(document, q=["a"]) == expected


@for_each(
    ("document", "words"),
    [
        ("<AnswerKey/>", "in the namespace of 2005-10-01"),
        (key({}), "AnswerKey must hold Question"),
        (key({"q": []}), "Question must hold AnswerOption"),
        (key({"q": [([], 1)]}), "SelectionIdentifier was expected"),
        (key({"q": [(["a"], 1), (["a"], 2)]}), "the same selections"),
        (key(ONE_QUESTION).replace(">1<", ">1.5<"), "AnswerScore must be a whole number"),
        (key(ONE_QUESTION).replace(">1<", "><"), "AnswerScore must be a whole number"),
        (key(ONE_QUESTION, mapping="<OtherMapping/>"), "PercentageMapping or ScaleMapping"),
        (key(ONE_QUESTION, mapping=percentage(0)), "must be at least 1"),
        (key(ONE_QUESTION, mapping=scale("1/2")), "must be a decimal"),
        (key(ONE_QUESTION, mapping=scale("1e9")), "must be a decimal"),
        (key(ONE_QUESTION, mapping=scale("+-1")), "must be a decimal"),
        (key(ONE_QUESTION, mapping=scale("9" * 31)), "must be a decimal"),
        (key(ONE_QUESTION, mapping=ranges(outside=0)), "SummedScoreRange"),
        (key(ONE_QUESTION, mapping=ranges((2, 1, 0), outside=0)), "above"),
        (key(ONE_QUESTION, mapping=ranges((1, 5, 0), (5, 6, 1), outside=0)), "overlap"),
        (key({"q": [(["a"], 2**31)]}), "exceed 2147483647"),
        (key(ONE_QUESTION, mapping=scale("9999999999")), "exceed 2147483647"),
        (key(ONE_QUESTION, mapping=ranges((1, 1, 2**40), outside=0)), "exceed 2147483647"),
    ],
)
def test_other_keys_are_refused(document: str, words: str) -> None:
    """Each in words; no value can be one that a qualification cannot have."""
    with pytest.raises(Refusal) as caught:
        read_answer_key(document)
    assert caught.value.kind == "ParameterValidationError"
    assert words in caught.value.message


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (question("q", choice("a")) + question("t"), "'t' has a text field"),
        (question("q", choice("a", other="<OtherSelection/>")), "'q' has a text field"),
        (question("p", choice("a")), "the test has no question 'q'"),
        (question("q", choice("b")), "'q' has no selection 'a'"),
    ],
)
def test_a_key_must_fit_its_test(asked: str, words: str) -> None:
    """It grades selections that are there, and nobody's prose."""
    with pytest.raises(Refusal) as caught:
        check_against(key(ONE_QUESTION), read_form(form(asked)))
    assert words in caught.value.message


LETTERS = "abc"
SETS = st.frozensets(st.sampled_from(LETTERS), min_size=1)
SCORES = st.integers(-50, 50)
QUESTIONS = st.dictionaries(
    st.sampled_from(["p", "q", "r"]),
    st.tuples(st.dictionaries(SETS, SCORES, min_size=1), st.none() | SCORES),
    min_size=1,
)
MAPPINGS = st.one_of(
    st.just(("sum", None)),
    st.tuples(st.just("percentage"), st.integers(1, 60)),
    st.tuples(st.just("scale"), st.decimals(-9, 9, places=2, allow_nan=False).map(str)),
    st.tuples(
        st.just("ranges"), st.lists(st.integers(-150, 150), min_size=2, max_size=8, unique=True)
    ),
)
CHOSEN = st.dictionaries(st.sampled_from(["p", "q", "r"]), st.frozensets(st.sampled_from(LETTERS)))

Scores = Mapping[str, tuple[Mapping[frozenset[str], int], int | None]]


def bounds_of(numbers: list[int]) -> list[tuple[int, int, int]]:
    """Ranges that do not overlap, each worth its number in the row."""
    ordered = sorted(numbers)
    pairs = zip(ordered[::2], ordered[1::2], strict=False)
    return [(low, high, place) for place, (low, high) in enumerate(pairs)]


def graded_otherwise(
    questions: Scores, how: tuple[str, Any], chosen: Mapping[str, frozenset[str]]
) -> int:
    """A grader that shares nothing with ours: whole numbers and decimals."""
    total = 0
    for name, (options, default) in questions.items():
        for selections, score in options.items():
            if sorted(selections) == sorted(chosen.get(name, frozenset())):
                total += score
                break
        else:
            total += default if default is not None else 0
    return mapped_otherwise(total, *how)


def mapped_otherwise(total: int, kind: str, parameter: Any) -> int:  # noqa: ANN401 - as drawn
    """The value of a sum, reckoned in other numbers than ours."""
    if kind == "percentage":
        # floor(x + 1/2) with x = 100 total / maximum, doubled to stay whole.
        maximum = int(parameter)
        return (200 * total + maximum) // (2 * maximum)
    if kind == "scale":
        exact = Decimal(total) * Decimal(parameter) + Decimal("0.5")
        return int(exact.to_integral_value(rounding=ROUND_FLOOR))
    if kind == "ranges":
        for low, high, place in bounds_of(parameter):
            if total in range(low, high + 1):
                return place
        return -7
    return total


def written(how: tuple[str, Any]) -> str:
    """A mapping as XML."""
    kind, parameter = how
    if kind == "percentage":
        return percentage(parameter)
    if kind == "scale":
        return scale(parameter)
    if kind == "ranges":
        return ranges(*bounds_of(parameter), outside=-7)
    return ""


@given(questions=QUESTIONS, how=MAPPINGS, chosen=CHOSEN)
def test_any_key_grades_as_another_grader_does(
    questions: Scores, how: tuple[str, Any], chosen: Mapping[str, frozenset[str]]
) -> None:
    """Sums, percentages, scales and ranges, negative ones included."""
    document = key(
        {
            name: [(sorted(selections), score) for selections, score in scores.items()]
            for name, (scores, _) in questions.items()
        },
        defaults={name: default for name, (_, default) in questions.items() if default is not None},
        mapping=written(how),
    )
    graded = read_answer_key(document).grade(chosen)
    assert graded == graded_otherwise(questions, how, chosen)
