"""A checked QuestionForm: its contents, and what is right or wrong with answers to it.

The browser checks most answers first. The server checks all of them, with polite
messages, and the page keeps what the worker typed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from piecework.marketplace.forms.patterns import NO_VERDICTS, Format, Match, Unmatched, Verdicts
from piecework.marketplace.languages import say

MediumKind = Literal["image", "audio", "video"]
Style = Literal["radiobutton", "checkbox", "list", "dropdown", "combobox", "multichooser"]


@dataclass(frozen=True, slots=True)
class Title:
    """A heading."""

    text: str


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Medium:
    """A picture, sound or video, by its address.

    Attributes:
        width: the box's width in pixels; "" if not stated or not in pixels.
    """

    kind: MediumKind
    url: str
    alt: str
    width: str = ""
    height: str = ""


@dataclass(frozen=True, slots=True)
class Formatted:
    """Checked and rewritten XHTML that is safe to put into a page."""

    markup: str


Content = Title | Text | Bullets | Medium | Formatted


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeText:
    """A text field.

    Attributes:
        least: the smallest number, if it must be a number.
        shortest: the fewest characters; 0 allows an empty field.
        longest: the most characters, if there is a limit.
        lines: the height of the field.
    """

    is_numeric: bool = False
    least: int | None = None
    most: int | None = None
    shortest: int = 0
    longest: int | None = None
    formats: tuple[Format, ...] = ()
    default: str = ""
    lines: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """One option to choose."""

    key: str
    content: Text | Formatted | Medium


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """A choice among selections, perhaps with one of the worker's own."""

    least: int
    most: int
    style: Style | None
    selections: tuple[Selection, ...]
    other: FreeText | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Content between questions."""

    content: tuple[Content, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and the way to answer it."""

    key: str
    name: str
    is_required: bool
    content: tuple[Content, ...]
    answer: FreeText | Choice

    @property
    def other_field(self) -> str:
        """The form field of the worker's own selection."""
        return self.key + OTHER


OTHER = ".OtherSelectionText"


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A whole form."""

    parts: tuple[Overview | Question, ...]

    @property
    def questions(self) -> tuple[Question, ...]:
        """Its questions, in order."""
        return tuple(part for part in self.parts if isinstance(part, Question))


Typed = Mapping[str, Sequence[str]]
"""Values by field, as sent."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)", re.ASCII)
_LONGEST_NUMBER = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to one question.

    Attributes:
        text: the text written; None for a choice.
        chosen: identifiers of selections, in the form's order.
        other: the worker's own selection.
    """

    question: str
    text: str | None = None
    chosen: tuple[str, ...] = ()
    other: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A form as it was received.

    Attributes:
        complaints: complaints by question; empty if all answers are valid.
        strangers: fields that the form does not have.
    """

    answers: tuple[Answer, ...]
    complaints: Mapping[str, str]
    strangers: tuple[str, ...]

    @property
    def chosen(self) -> dict[str, tuple[str, ...]]:
        """Return selections by question, for a key to grade."""
        return {answer.question: answer.chosen for answer in self.answers}


def gathered(fields: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Collect values by field.

    Browsers send each line break of a name or a value as two characters, but count one.
    """
    values: dict[str, list[str]] = {}
    for name, value in fields:
        values.setdefault(_line_feeds(name), []).append(_line_feeds(value))
    return values


def take(form: Form, typed: Typed, verdicts: Verdicts = NO_VERDICTS) -> Taken:
    """Check what was sent against the form.

    Args:
        form: the form with the questions.
        typed: the values sent, as `gathered`.
        verdicts: results of the patterns matched so far.

    Raises:
        Unmatched: some patterns must be matched first.
    """
    return _Taking(verdicts).take(form, typed)


class _Taking:
    """A form being checked, with the texts not yet matched against their patterns."""

    def __init__(self, verdicts: Verdicts) -> None:
        self._verdicts = verdicts
        self._unmatched: dict[Match, None] = {}

    def take(self, form: Form, typed: Typed) -> Taken:
        answers, complaints = [], {}
        known: set[str] = set()
        for question in form.questions:
            known |= {question.key, question.other_field}
            answer, complaint = self._take(question, typed)
            answers.append(answer)
            if complaint:
                complaints[question.key] = complaint
        if self._unmatched:
            raise Unmatched(self._unmatched)
        return Taken(
            answers=tuple(answers),
            complaints=complaints,
            strangers=tuple(sorted(set(typed) - known)),
        )

    def _take(self, question: Question, typed: Typed) -> tuple[Answer, str]:
        if isinstance(question.answer, Choice):
            return self._choose(question, question.answer, typed)
        text = "|".join(typed.get(question.key, ()))
        complaint = ""
        if text:
            complaint = self._wrong_text(question.answer, text)
        elif question.is_required:
            complaint = say("Please answer this question.")
        return Answer(question=question.key, text=text), complaint

    def _choose(self, question: Question, answer: Choice, typed: Typed) -> tuple[Answer, str]:
        values = [value for value in typed.get(question.key, ()) if value]
        chosen = tuple(selection.key for selection in answer.selections if selection.key in values)
        other = "|".join(typed.get(question.other_field, ())).strip()
        typed_answer = Answer(question=question.key, chosen=chosen, other=other)
        if set(values) - set(chosen):
            return typed_answer, say("Please choose from the list.")
        if other and answer.other is None:
            return typed_answer, say("There is no field for your own answer here.")
        if other and answer.other is not None:
            complaint = self._wrong_text(answer.other, other)
            if complaint:
                return typed_answer, complaint
        count = len(chosen) + bool(other)
        if count == 0 and not question.is_required:
            return typed_answer, ""
        return typed_answer, _wrong_count(answer, count, is_required=question.is_required)

    def _wrong_text(self, field: FreeText, text: str) -> str:
        if complaint := _wrong_size(field, text):
            return complaint
        for rule in field.formats:
            fits = self._verdicts.get((rule, text))
            if fits is None:
                self._unmatched[rule, text] = None
            elif not fits:
                return rule.complaint or say("Invalid input supplied.")
        return ""


def _wrong_count(answer: Choice, count: int, *, is_required: bool) -> str:
    least = max(answer.least, 1) if is_required else answer.least
    if count > answer.most:
        return say(
            "Please choose at most %(most)s (you chose %(count)s).", most=answer.most, count=count
        )
    if count >= least:
        return ""
    if least == 1:
        return say("Please choose an answer.")
    return say("Please choose at least %(least)s (you chose %(count)s).", least=least, count=count)


def _wrong_size(field: FreeText, text: str) -> str:
    if field.is_numeric and (complaint := _wrong_number(field, text.strip())):
        return complaint
    if len(text) < field.shortest:
        return say("Please write at least %(least)s characters.", least=field.shortest)
    if field.longest is not None and len(text) > field.longest:
        return say(
            "Please write at most %(most)s characters (you wrote %(count)s).",
            most=field.longest,
            count=len(text),
        )
    return ""


def _wrong_number(field: FreeText, word: str) -> str:
    if len(word) > _LONGEST_NUMBER or not _NUMBER.fullmatch(word):
        return say("Please write a number.")
    number = Decimal(word)
    if field.least is not None and number < field.least:
        return say("Please write a number that is %(least)s or more.", least=field.least)
    if field.most is not None and number > field.most:
        return say("Please write a number that is %(most)s or less.", most=field.most)
    return ""


def _line_feeds(text: str) -> str:
    return text.replace("\r\n", "\n")
