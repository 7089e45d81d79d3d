"""Scores answers against known answers and against each other, as pure functions.

Scores are whole per cents, rounded down. For whole thresholds this makes no difference,
except for agreement, which must be *above* its threshold and is therefore compared
exactly.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from piecework.marketplace.forms.reading import parse
from piecework.marketplace.reviewing.policies import values_of

Values = Mapping[str, frozenset[str]]
"""The values of an answer, by question; omitted questions have no values."""

LONGEST_COMPARED = 256
"""Longer answers are left out when answers are compared with each other."""

_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """The agreement of several answers to one question.

    Attributes:
        answer: the agreed values; None without agreement.
        score: the share of the most common answer, in per cent.
    """

    answer: frozenset[str] | None
    score: int


def read_values(answer: str) -> Values:
    """Return the values in a QuestionFormAnswers document."""
    root = parse(answer, what="An answer")
    key: dict[str, frozenset[str]] = {}
    for node in root.children:
        named = [part.text for part in node.children]
        if named:
            key[named[0]] = values_of(named[1:])
    return key


def known_score(key: Values, answers: Values) -> tuple[dict[str, bool], int]:
    """Return which known questions were answered correctly, and their percentage."""
    right = {
        question: answers.get(question, _NOTHING) == values for question, values in key.items()
    }
    return right, sum(right.values()) * 100 // len(right)


def agreement(answers: Sequence[Values], question: str, *, threshold: int) -> Agreement:
    """Return the agreement on a question.

    The agreement must be above the threshold, except that 100 means that all must
    agree. Two equally common answers are not an agreement.
    """
    votes = [answer.get(question, _NOTHING) for answer in answers]
    counted = Counter(values for values in votes if _length(values) <= LONGEST_COMPARED)
    total = counted.total()
    if not total:
        return Agreement(answer=None, score=0)
    (answer, times), *others = counted.most_common(2)
    is_tied = bool(others) and others[0][1] == times
    is_above = times * 100 > threshold * total or times == total
    return Agreement(
        answer=answer if is_above and not is_tied else None, score=times * 100 // total
    )


def agreeing(answers: Values, agreed: Mapping[str, Agreement]) -> tuple[int, int]:
    """Count a worker's answers that match the agreed ones, and the others."""
    settled = {
        question: agreement.answer
        for question, agreement in agreed.items()
        if agreement.answer is not None
    }
    right = sum(answers.get(q, _NOTHING) == answer for q, answer in settled.items())
    return right, len(settled) - right


def shown(values: frozenset[str]) -> str:
    """Return values as one text."""
    return "|".join(sorted(values))


def _length(values: frozenset[str]) -> int:
    return len(shown(values))
