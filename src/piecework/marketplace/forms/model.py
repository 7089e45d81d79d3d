"""The contents of a checked QuestionForm."""

from dataclasses import dataclass
from typing import Literal

from piecework.marketplace.forms.patterns import Format

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
