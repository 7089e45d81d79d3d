"""A QuestionForm as a page sees it: which control each question gets, what it shows.

What the form suggests is followed where a browser and everybody who uses one can: a
list of pictures becomes radio buttons, and limits are held by plain HTML.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from jinja2 import Environment
from markupsafe import Markup

from piecework.marketplace.forms.model import (
    Content,
    Form,
    Formatted,
    FreeText,
    Overview,
    Question,
    Text,
)
from piecework.marketplace.forms.taking import Typed

_TALLEST_LIST = 8
_NUMBER = re.compile(r"\s*([+-]?(\d+(\.\d*)?|\.\d+))?\s*", re.ASCII)
_LISTS = ("list", "dropdown", "combobox", "multichooser")
_SHORT_LISTS = ("dropdown", "combobox")


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A question on the page.

    Attributes:
        id: of its elements, as a prefix.
        name: for people.
        values: what was typed; None when it is shown for the first time.
        complaint: what is wrong with it; "" if nothing is.
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
        """Lines of a list; 0 for one that drops down."""
        answer = self.question.answer
        if isinstance(answer, FreeText):
            return 0
        if answer.most == 1 and answer.style in _SHORT_LISTS:
            return 0
        return min(max(len(answer.selections), 2), _TALLEST_LIST)

    @property
    def must_choose(self) -> bool:
        """Whether the browser can hold that something is chosen here."""
        answer = self.question.answer
        if isinstance(answer, FreeText) or answer.other is not None:
            return False
        is_one = self.control != "checkbox" or len(answer.selections) == 1
        return self.question.is_required and is_one

    @property
    def rule(self) -> str:
        """How many may be chosen, where it is not just one."""
        answer = self.question.answer
        if isinstance(answer, FreeText) or answer.most == 1:
            return ""
        if answer.least == answer.most:
            return f"Choose {answer.most}."
        if answer.least > 1:
            return f"Choose {answer.least} to {answer.most}."
        return f"Choose up to {answer.most}."

    def typed(self, name: str, default: str) -> str:
        """What a field holds."""
        if self.values is None:
            return default
        return "|".join(self.values.get(name, ()))

    def is_chosen(self, key: str) -> bool:
        """Whether a selection was chosen."""
        return self.values is not None and key in self.values.get(self.question.key, ())


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A whole form on the page."""

    parts: tuple[Overview | View, ...]

    @property
    def wrong(self) -> tuple[View, ...]:
        """Questions with complaints."""
        return tuple(
            part for part in self.parts if isinstance(part, View) and part.complaint
        )


def shown(
    form: Form, typed: Typed | None = None, complaints: Mapping[str, str] | None = None
) -> Shown:
    """A form, empty or as it was sent."""
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
                name=part.name or f"Question {number}",
                values=typed,
                complaint=(complaints or {}).get(part.key, ""),
            )
        )
    return Shown(parts=tuple(parts))


def hint(field: FreeText) -> str:
    """What a field takes, for people."""
    parts = []
    if field.is_numeric:
        bounds = [
            f"{word} {bound}"
            for word, bound in (("from", field.least), ("to", field.most))
            if bound is not None
        ]
        parts.append(" ".join(["a number", *bounds]))
    if field.shortest > 1:
        parts.append(f"at least {field.shortest} characters")
    if field.longest is not None:
        parts.append(f"at most {field.longest} characters")
    return ", ".join(parts)


def pattern(field: FreeText) -> str:
    """The formats as HTML's `pattern`, which must fit the whole of the text.

    Formats that ignore case cannot be said so, and the browser's engine must not stand
    still over a requester's pattern; the server alone holds those.
    """
    sources = [
        rule.source for rule in field.formats if rule.is_quick and not rule.ignores_case
    ]
    if not sources:
        return ""
    return "".join(rf"(?=[\s\S]*(?:{source}))" for source in sources) + r"[\s\S]*"


def looks_numeric(text: str) -> bool:
    """Whether a number field could show it; others would lose it."""
    return _NUMBER.fullmatch(text) is not None


def markup(content: Formatted) -> Markup:
    """Markup that `forms.formatted` wrote."""
    return Markup(content.markup)  # noqa: S704 - every tag and value in it is checked


def piece_kind(content: Content) -> str:
    """The name of a piece of content."""
    return type(content).__name__


def equip(environment: Environment) -> None:
    """Give the templates what forms need."""
    for filter_ in (hint, pattern, looks_numeric, markup, piece_kind):
        environment.filters[filter_.__name__] = filter_
