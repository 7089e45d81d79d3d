"""A QuestionForm for display: each question's control and its contents.

The form's suggestions are followed if browsers and all workers can use them: a list of
pictures becomes radio buttons, and plain HTML checks limits.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from jinja2 import Environment
from markupsafe import Markup

from piecework.marketplace.forms.form import (
    Content,
    Form,
    Formatted,
    FreeText,
    Overview,
    Question,
    Text,
    Typed,
)
from piecework.marketplace.languages import say, sentence

_TALLEST_LIST = 8
_NUMBER = re.compile(r"\s*([+-]?(\d+(\.\d*)?|\.\d+))?\s*", re.ASCII)
_LISTS = ("list", "dropdown", "combobox", "multichooser")
_SHORT_LISTS = ("dropdown", "combobox")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A question on the page.

    Attributes:
        id: the prefix of its elements' ids.
        name: the name for people.
        values: the values typed; None when first shown.
        complaint: what is wrong with it, or "".
    """

    question: Question
    id: str
    name: str
    values: Typed | None
    complaint: str

    @property
    def control(self) -> str:
        """`text`, `select`, `radio` or `checkbox`."""
        answer = self.question.answer
        if isinstance(answer, FreeText):
            return "text"
        is_plain = all(isinstance(choice.content, Text) for choice in answer.selections)
        if is_plain and answer.style in _LISTS:
            return "select"
        is_single = answer.most == 1 and answer.style != "checkbox"
        return "radio" if is_single else "checkbox"

    @property
    def height(self) -> int:
        """The lines of a list; 0 for a drop-down list."""
        answer = self.question.answer
        if isinstance(answer, FreeText):
            return 0
        if answer.most == 1 and answer.style in _SHORT_LISTS:
            return 0
        return min(max(len(answer.selections), 2), _TALLEST_LIST)

    @property
    def must_choose(self) -> bool:
        """Whether the browser can require a choice here."""
        answer = self.question.answer
        if isinstance(answer, FreeText) or answer.other is not None:
            return False
        is_one = self.control != "checkbox" or len(answer.selections) == 1
        return self.question.is_required and is_one

    @property
    def rule(self) -> str:
        """How many options may be chosen, if not only one."""
        answer = self.question.answer
        if isinstance(answer, FreeText) or answer.most == 1:
            return ""
        if answer.least == answer.most:
            return say("Choose %(most)s.", most=answer.most)
        if answer.least > 1:
            return say("Choose %(least)s to %(most)s.", least=answer.least, most=answer.most)
        return say("Choose up to %(most)s.", most=answer.most)

    def typed(self, name: str, default: str) -> str:
        """Return what a field holds."""
        if self.values is None:
            return default
        return "|".join(self.values.get(name, ()))

    def is_chosen(self, key: str) -> bool:
        """Return whether a selection was chosen."""
        return self.values is not None and key in self.values.get(self.question.key, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A whole form on the page."""

    parts: tuple[Overview | View, ...]

    @property
    def wrong(self) -> tuple[View, ...]:
        """Questions with complaints."""
        return tuple(part for part in self.parts if isinstance(part, View) and part.complaint)


def shown(
    form: Form, typed: Typed | None = None, complaints: Mapping[str, str] | None = None
) -> Shown:
    """Return a form, empty or as it was sent."""
    parts: list[Overview | View] = []
    number = 0
    for part in form.parts:
        if isinstance(part, Overview):
            parts.append(part)
            continue
        number += 1
        parts.append(
            View(
                question=part,
                id=f"q{number}",
                name=part.name or say("Question %(number)s", number=number),
                values=typed,
                complaint=(complaints or {}).get(part.key, ""),
            )
        )
    return Shown(parts=tuple(parts))


def hint(field: FreeText) -> str:
    """Describe what a field accepts, for people."""
    parts = []
    if field.is_numeric:
        bounds = [
            say(text, bound=bound)
            for text, bound in (
                (sentence("from %(bound)s"), field.least),
                (sentence("to %(bound)s"), field.most),
            )
            if bound is not None
        ]
        parts.append(" ".join([say("a number"), *bounds]))
    if field.shortest > 1:
        parts.append(say("at least %(count)s characters", count=field.shortest))
    if field.longest is not None:
        parts.append(say("at most %(count)s characters", count=field.longest))
    return ", ".join(parts)


def pattern(field: FreeText) -> str:
    """Return the formats as an HTML `pattern`, which must match the complete text.

    `pattern` cannot ignore case, and a requester's slow pattern must not block the
    browser, so only the server checks such formats.
    """
    sources = [rule.source for rule in field.formats if rule.is_quick and not rule.ignores_case]
    if not sources:
        return ""
    return "".join(rf"(?=[\s\S]*(?:{source}))" for source in sources) + r"[\s\S]*"


def looks_numeric(text: str) -> bool:
    """Return whether a number field can show the text without losing it."""
    return _NUMBER.fullmatch(text) is not None


def markup(content: Formatted) -> Markup:
    """Return markup that `forms.formatted` wrote."""
    return Markup(content.markup)  # noqa: S704 - every tag and value in it is checked


def piece_kind(content: Content) -> str:
    """Return the name of a piece of content."""
    return type(content).__name__


def equip(environment: Environment) -> None:
    """Add the filters for forms to the templates."""
    for filter_ in (hint, pattern, looks_numeric, markup, piece_kind):
        environment.filters[filter_.__name__] = filter_
