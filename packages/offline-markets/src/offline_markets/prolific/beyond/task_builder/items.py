"""What participants are shown and asked: instructions, pictures, texts, fields of data.

Each item is checked alone, so that a refusal can say where in the layout it stands.
"""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import Field, TypeAdapter, ValidationError, model_validator

from offline_markets.prolific.body import Closed, Text
from offline_markets.prolific.state import State

QUESTIONS = (
    "multiple_choice",
    "free_text",
    "free_text_with_unit",
    "multiple_choice_with_free_text",
    "file_upload",
)
"""The types of items that participants answer."""

_TYPES = (*QUESTIONS, "image", "rich_text")
Value = bool | int | float | str


class _Validation(Closed):
    type: Literal["number", "string"]
    min: float | None = None
    max: float | None = None

    @model_validator(mode="after")
    def _is_a_range(self) -> Self:
        ends = [end for end in (self.min, self.max) if end is not None]
        if ends != sorted(ends):
            raise ValueError("min is at most max")
        if self.type == "string" and any(end < 0 or not end.is_integer() for end in ends):
            raise ValueError("a number of characters is whole and not negative")
        return self


class _Item(Closed):
    id: str | None = None
    order: int | None = None


class _Question(_Item):
    description: Text
    helper_text: str | None = None
    placeholder_text_input: str | None = None


class _FreeText(_Question):
    type: Literal["free_text"]
    validation: _Validation | None = None


class _Unit(Closed):
    label: Text
    value: Value
    validation: _Validation | None = None


class _FreeTextWithUnit(_Question):
    type: Literal["free_text_with_unit"]
    unit_options: list[_Unit] = Field(min_length=1)
    default_unit: str | None = None
    unit_position: Literal["prefix", "suffix"]

    @model_validator(mode="after")
    def _has_its_unit(self) -> Self:
        units = {unit.value for unit in self.unit_options}
        if self.default_unit is not None and self.default_unit not in units:
            raise ValueError("default_unit is not among the unit_options")
        return self


class _Option(Closed):
    label: Text
    value: Value
    exclusive: bool | None = None


class _HeadedOption(_Option):
    heading: Text


class _Choice(_Question):
    answer_limit: int
    disable_dropdown: bool | None = None

    @model_validator(mode="after")
    def _limit_fits(self) -> Self:
        options: Sequence[_Option] = self.options  # type: ignore[attr-defined] # of both kinds
        if self.answer_limit != -1 and not 1 <= self.answer_limit <= len(options):
            raise ValueError("answer_limit is -1, or from 1 to the number of options")
        exclusive = [option for option in options if option.exclusive]
        if exclusive and (self.answer_limit == 1 or len(exclusive) == len(options)):
            raise ValueError("an exclusive option needs others, and a limit above 1")
        return self


class _MultipleChoice(_Choice):
    type: Literal["multiple_choice"]
    options: list[_Option] = Field(min_length=1)


class _MultipleChoiceWithFreeText(_Choice):
    type: Literal["multiple_choice_with_free_text"]
    options: list[_HeadedOption] = Field(min_length=1)


class _FileUpload(_Question):
    type: Literal["file_upload"]
    accepted_file_types: list[Annotated[str, Field(pattern=r"^\.\w+$")]] | None = None
    max_file_size_mb: float | None = Field(None, gt=0)
    min_file_count: int | None = Field(None, ge=1)
    max_file_count: int | None = Field(None, ge=1)

    @model_validator(mode="after")
    def _counts_fit(self) -> Self:
        if (self.min_file_count or 1) > (self.max_file_count or 10):
            raise ValueError("min_file_count is at most max_file_count")
        return self


class _Image(_Item):
    type: Literal["image"]
    url: Annotated[str, Field(pattern=r"^https://[^\s]+$")]
    alt_text: Text
    caption: str | None = None


class _RichText(_Item):
    type: Literal["rich_text"]
    content: Text
    content_format: Literal["html", "markdown"] = "html"


class _DatasetField(_Item):
    type: Literal["dataset_field"]
    field: Text


_STATIC: TypeAdapter[_Item] = TypeAdapter(
    Annotated[
        _FreeText
        | _FreeTextWithUnit
        | _MultipleChoice
        | _MultipleChoiceWithFreeText
        | _FileUpload
        | _Image
        | _RichText,
        Field(discriminator="type"),
    ]
)
_OF_DATA: TypeAdapter[_DatasetField] = TypeAdapter(_DatasetField)


class InvalidItemError(Exception):
    """An item is wrong; the message says in which way."""


def read_item(state: State, sent: object, *, with_data: bool = False) -> dict[str, Any]:
    """Return an item with its defaults, as it is stored.

    Args:
        state: the emulator's memory.
        sent: what the researcher wrote.
        with_data: whether it may show a field of a dataset.

    Raises:
        InvalidItemError: it is not a valid item.
    """
    is_field = with_data and isinstance(sent, dict) and sent.get("type") == "dataset_field"
    reader = _OF_DATA if is_field else _STATIC
    try:
        item = (
            reader.validate_python(sent)
            if state.is_strict
            else reader.validate_python(sent, strict=False, extra="ignore")
        )
    except ValidationError as fault:
        raise InvalidItemError("; ".join(map(_sentence, fault.errors()))) from fault
    kept = item.model_dump(exclude_none=True)
    if kept.pop("content_format", "html") == "markdown":
        kept["content"] = _as_html(kept["content"])
    return kept


def is_question(item: Mapping[str, Any]) -> bool:
    """Return whether participants answer an item."""
    return item["type"] in QUESTIONS


def fault_of(question: Mapping[str, Any], answer: Sequence[object]) -> str | None:
    """Return what is wrong with an answer to a question; None if nothing is.

    A text with a unit is two values, the text and then the unit. Texts beside a choice
    follow the chosen values. Both are guesses.
    """
    return _FAULTS[question["type"]](question, answer)


def _fault_of_text(question: Mapping[str, Any], answer: Sequence[object]) -> str | None:
    if len(answer) != 1:
        return "One value is wanted."
    return _fault_of_value(question.get("validation"), answer[0])


def _fault_with_unit(question: Mapping[str, Any], answer: Sequence[object]) -> str | None:
    units = {unit["value"]: unit for unit in question["unit_options"]}
    if len(answer) != 2 or answer[1] not in units:  # noqa: PLR2004 - a text and its unit
        return "A text and one of the units are wanted."
    return _fault_of_value(units[answer[1]].get("validation"), answer[0])


def _fault_of_choice(question: Mapping[str, Any], answer: Sequence[object]) -> str | None:
    known = {option["value"]: option for option in question["options"]}
    chosen = [value for value in answer if value in known]
    if not chosen or (question["type"] == "multiple_choice" and chosen != [*answer]):
        return "Not one of the options."
    limit = question["answer_limit"]
    if len(set(chosen)) < len(chosen) or -1 != limit < len(chosen):
        return f"At most {limit} different options."
    if len(chosen) > 1 and any(known[value].get("exclusive") for value in chosen):
        return "An exclusive option is chosen alone."
    return None


def _fault_of_files(question: Mapping[str, Any], answer: Sequence[object]) -> str | None:
    least, most = question.get("min_file_count", 1), question.get("max_file_count", 10)
    if not least <= len(answer) <= most:
        return f"From {least} to {most} files are wanted."
    return None


def _fault_of_value(limits: Mapping[str, Any] | None, value: object) -> str | None:
    if limits is None:
        return None
    size: float | None = len(str(value))
    if limits["type"] == "number":
        size = _as_number(value)
    if size is None:
        return "A number is wanted."
    if size < limits.get("min", size) or size > limits.get("max", size):
        return "It is outside of the limits."
    return None


def _as_number(value: object) -> float | None:
    try:
        return float(str(value))
    except ValueError:
        return None


_FAULTS = {
    "free_text": _fault_of_text,
    "free_text_with_unit": _fault_with_unit,
    "multiple_choice": _fault_of_choice,
    "multiple_choice_with_free_text": _fault_of_choice,
    "file_upload": _fault_of_files,
}


def _sentence(error: Mapping[str, Any]) -> str:
    """Return what is wrong with a part of an item, after the part's name."""
    complaint = error["msg"].removeprefix("Value error, ")
    where = ".".join(str(part) for part in error["loc"] if part not in _TYPES)
    return f"{where}: {complaint}" if where else complaint


def _as_html(markdown: str) -> str:
    """Convert paragraphs, bold and italics; more of Markdown stays as it is."""
    paragraphs = []
    for block in re.split(r"\n\s*\n", markdown.strip()):
        text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", html.escape(block))
        text = re.sub(r"\*(.+?)\*", r"<em>\1</em>", text)
        paragraphs.append(f"<p>{text}</p>")
    return "\n".join(paragraphs)
