"""Review policies: rules of a HIT by which the marketplace judges answers.

A policy is read and checked before its HIT is created. Answers are scored against known
answers and against each other, as pure functions. Scores are whole per cents, rounded
down. For whole thresholds this makes no difference, except for agreement, which must be
*above* its threshold and is therefore compared exactly.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from piecework.marketplace.exceptions import Refusal, invalid_parameters
from piecework.marketplace.forms.reading import parse

KNOWN_ANSWERS = "ScoreMyKnownAnswers/2011-09-01"
PLURALITY = "SimplePlurality/2011-09-01"

_HOUR = 3600
_YEAR = 31_536_000
_MOST_QUESTIONS = 100
_LONGEST_REASON = 1024
_BOOLEANS = {"t": True, "true": True, "f": False, "false": False}

_SCORE = (0, 101)
_KNOWN_NUMBERS = {
    "ApproveIfKnownAnswerScoreIsAtLeast": _SCORE,
    "RejectIfKnownAnswerScoreIsLessThan": _SCORE,
    "ExtendIfKnownAnswerScoreIsLessThan": _SCORE,
    "ExtendMaximumAssignments": (2, 25),
    "ExtendMinimumTimeInSeconds": (60, _YEAR),
}
_PLURALITY_NUMBERS = {
    "QuestionAgreementThreshold": (0, 100),
    "DisregardAssignmentIfKnownAnswerScoreIsLessThan": _SCORE,
    "ExtendIfHITAgreementScoreIsLessThan": _SCORE,
    "ExtendMaximumAssignments": (2, 1_000_000_000),
    "ExtendMinimumTimeInSeconds": (_HOUR, _YEAR),
    "ApproveIfWorkerAgreementScoreIsAtLeast": _SCORE,
    "RejectIfWorkerAgreementScoreIsLessThan": _SCORE,
}
_OTHER_NAMES = {
    "ApproveIfWorkerAgreementScoreIsNotLessThan": ("ApproveIfWorkerAgreementScoreIsAtLeast")
}
_REASONS = ("ApproveReason", "RejectReason")
_DEFAULT_MAXIMUM = 5
_LONGEST_NUMBER = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """The actions for scores; None: no action.

    Attributes:
        approve_from: the lowest score that is approved.
        reject_below: lower scores are rejected.
        extend_below: lower scores add one assignment.
        maximum: the most assignments that the policy may give the HIT.
        seconds: the least time that an extended HIT stays open.
    """

    approve_from: int | None
    reject_below: int | None
    extend_below: int | None
    maximum: int
    seconds: int
    approve_reason: str
    reject_reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswers:
    """ScoreMyKnownAnswers.

    Attributes:
        key: the right values of each known question.
    """

    key: Mapping[str, frozenset[str]]
    actions: Actions


@dataclass(frozen=True, slots=True, kw_only=True)
class Plurality:
    """SimplePlurality.

    Attributes:
        questions: the questions to compare.
        threshold: an answer is agreed above this agreement in per cent.
        without_rejected: whether to leave out rejected assignments.
        without_known_below: assignments with a lower known-answer score are left out.
    """

    questions: tuple[str, ...]
    threshold: int
    without_rejected: bool
    without_known_below: int | None
    actions: Actions


def read_known_answers(policy: Mapping[str, Any]) -> KnownAnswers:
    """Read an AssignmentReviewPolicy.

    Raises:
        Refusal: `ParameterValidationError`.
    """
    read = _Reader(policy, KNOWN_ANSWERS, _KNOWN_NUMBERS, others=("AnswerKey",))
    key = {
        str(entry.get("Key", "")): values_of(entry.get("Values", ()))
        for entry in read.entries("AnswerKey")
    }
    if not key or "" in key or len(key) > _MOST_QUESTIONS:
        raise read.fault(
            f"needs an AnswerKey with 1 to {_MOST_QUESTIONS} MapEntries, each with a Key"
        )
    return KnownAnswers(key=key, actions=read.actions("KnownAnswerScore"))


def read_plurality(policy: Mapping[str, Any]) -> Plurality:
    """Read a HITReviewPolicy.

    Raises:
        Refusal: `ParameterValidationError`.
    """
    read = _Reader(
        policy,
        PLURALITY,
        _PLURALITY_NUMBERS,
        others=("QuestionIds", "DisregardAssignmentIfRejected"),
    )
    # The service's docs call it a comma-separated list, but show separate values.
    named = ",".join(read.values("QuestionIds")).split(",")
    questions = tuple(dict.fromkeys(name.strip() for name in named if name.strip()))
    threshold = read.number("QuestionAgreementThreshold")
    if not 0 < len(questions) <= _MOST_QUESTIONS or threshold is None:
        raise read.fault(
            f"needs 1 to {_MOST_QUESTIONS} QuestionIds and a QuestionAgreementThreshold"
        )
    extends = read.number("ExtendIfHITAgreementScoreIsLessThan") is not None
    needed = ("ExtendMaximumAssignments", "ExtendMinimumTimeInSeconds")
    if extends and None in map(read.number, needed):
        raise read.fault(f"cannot extend without {' and '.join(needed)}")
    return Plurality(
        questions=questions,
        threshold=threshold,
        without_rejected=read.flag("DisregardAssignmentIfRejected"),
        without_known_below=read.number("DisregardAssignmentIfKnownAnswerScoreIsLessThan"),
        actions=read.actions("WorkerAgreementScore", extend="HITAgreementScore"),
    )


def values_of(texts: object) -> frozenset[str]:
    """Return the set of values in these texts.

    White space around a value is ignored. Pages join repeated fields with `|`, so `|`
    also separates values.
    """
    text_list = texts if isinstance(texts, list | tuple) else ()
    parts = (part.strip() for text in text_list for part in str(text).split("|"))
    return frozenset(part for part in parts if part)


@dataclass(frozen=True, slots=True)
class _Reader:
    """The parameters of a policy, each known and given once."""

    policy: Mapping[str, Any]
    name: str
    numbers: Mapping[str, tuple[int, int]]
    others: tuple[str, ...] = ()
    _parameters: dict[str, Mapping[str, Any]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if self.policy["PolicyName"] != self.name:
            raise invalid_parameters(
                f"The policy here must be {self.name} (found {self.policy['PolicyName'][:60]!a})."
            )
        for parameter in self.policy.get("Parameters", ()):
            named = str(parameter.get("Key", "")).strip()
            key = _OTHER_NAMES.get(named, named)
            if key not in (*self.numbers, *self.others, *_REASONS):
                raise self.fault(f"has no parameter {named[:60]!a}")
            if key in self._parameters:
                raise self.fault(f"has {key} twice")
            self._parameters[key] = parameter

    def fault(self, complaint: str) -> Refusal:
        return invalid_parameters(f"The policy {self.name} {complaint}.")

    def entries(self, key: str) -> list[Mapping[str, Any]]:
        entries: list[Mapping[str, Any]] = self._parameters.get(key, {}).get("MapEntries", [])
        return entries

    def values(self, key: str) -> list[str]:
        values: list[str] = self._parameters.get(key, {}).get("Values", [])
        return values

    def word(self, key: str) -> str | None:
        if key not in self._parameters:
            return None
        values = self.values(key)
        if len(values) != 1 or len(values[0]) > _LONGEST_REASON:
            raise self.fault(f"takes one value for {key}")
        return values[0]

    def number(self, key: str) -> int | None:
        word = self.word(key)
        if word is None:
            return None
        low, high = self.numbers[key]
        digits = word.strip()
        is_number = digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST_NUMBER
        if not is_number or not low <= int(digits) <= high:
            raise self.fault(f"takes {low} to {high} for {key} (found {word[:20]!a})")
        return int(digits)

    def flag(self, key: str) -> bool:
        word = self.word(key)
        if word is None:
            return False
        if word.strip().lower() not in _BOOLEANS:
            raise self.fault(f"takes true or false for {key} (found {word[:20]!a})")
        return _BOOLEANS[word.strip().lower()]

    def actions(self, score: str, *, extend: str = "") -> Actions:
        return Actions(
            approve_from=self.number(f"ApproveIf{score}IsAtLeast"),
            reject_below=self.number(f"RejectIf{score}IsLessThan"),
            extend_below=self.number(f"ExtendIf{extend or score}IsLessThan"),
            maximum=self.number("ExtendMaximumAssignments") or _DEFAULT_MAXIMUM,
            seconds=self.number("ExtendMinimumTimeInSeconds") or 0,
            approve_reason=self.word("ApproveReason") or "",
            reject_reason=self.word("RejectReason") or "",
        )


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


def score_known_answers(key: Values, answers: Values) -> tuple[dict[str, bool], int]:
    """Return which known questions were answered correctly, and their percentage."""
    right = {
        question: answers.get(question, _NOTHING) == values for question, values in key.items()
    }
    return right, sum(right.values()) * 100 // len(right)


def score_agreement(answers: Sequence[Values], question: str, *, threshold: int) -> Agreement:
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


def show_values(values: frozenset[str]) -> str:
    """Return values as one text."""
    return "|".join(sorted(values))


def _length(values: frozenset[str]) -> int:
    return len(show_values(values))
